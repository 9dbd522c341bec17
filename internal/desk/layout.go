package desk

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/site"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = site.ParseTemplates(templateFiles)

// page is what surrounds the content of every page; the data of each page embeds it.
type page struct {
	Title    string
	Notice   string // what was just done; "" for nothing
	Menu     []entry
	Token    string // of every form
	IsEditor bool
	IsLocal  bool // she writes alone: there is nobody to publish with
}

func (p page) title() string { return p.Title }

type entry struct {
	Href, Text string
	Current    string // value of aria-current: "page", "true" for a page below it, or ""

	role     account.Role // that its page needs
	isShared bool         // its page is for people who publish together
}

// menu is the same on every page of a person.
var menu = []entry{
	{Href: homePath, Text: "Rédaction"},
	{Href: recordsPath, Text: "Fiches"},
	{Href: newPath, Text: "Nouvelle fiche"},
	{Href: sourcesPath, Text: "Sources"},
	{Href: schedulePath, Text: "Programmées", isShared: true},
	{Href: versionsPath, Text: "Versions", isShared: true},
	{Href: reportsPath, Text: "Signalements", isShared: true},
	{Href: picturesPath, Text: "Images"},
	{Href: readersPath, Text: "Audience", role: account.Editor, isShared: true},
	{Href: settingsPath, Text: "Réglages", role: account.Editor},
	{Href: helpPath, Text: "Aide"},
}

// page fills in what surrounds a page.
func (r *request) page(title string) page {
	p := page{
		Title: title, Notice: cmp.Or(r.notice, notices[r.URL.Query().Get("fait")]), Token: r.Token, IsEditor: r.Role == account.Editor, IsLocal: r.isLocal,
	}
	if r.Role == "" {
		return p
	}
	for _, e := range menu {
		switch {
		case e.isShared && r.isLocal || e.role != "" && !r.Role.Includes(e.role):
			continue
		case e.Href == r.URL.Path:
			e.Current = "page"
		case e.Href != homePath && strings.HasPrefix(r.URL.Path, e.Href+"/"):
			e.Current = "true"
		}
		p.Menu = append(p.Menu, e)
	}
	return p
}

// notices are what a page may say was done, by the word in its address.
var notices = map[string]string{
	"enregistre":   "Tout est enregistré.",
	"ouverte":      "Voici votre copie de travail\u00a0: le site ne change pas tant qu’elle n’est pas publiée.",
	"supprimee":    "La copie de travail est supprimée. Le site n’a pas changé.",
	"publie":       "C’est publié.",
	"image":        "L’image est ajoutée à la fin du texte.",
	"retiree":      "L’image est retirée de la copie, et du texte où elle se tenait seule.",
	"reuni":        "Les deux versions sont réunies dans votre copie de travail. Relisez-la, puis publiez.",
	"revoque":      "Le lien ne mène plus nulle part.",
	"demande":      "La relecture est demandée\u00a0: la rédaction en chef reçoit un message.",
	"accord":       "La fiche est prête. La personne qui l’a écrite reçoit un message.",
	"retour":       "La fiche est rendue, avec votre mot. La personne qui l’a écrite reçoit un message.",
	"programmee":   "C’est programmé\u00a0: la fiche paraîtra d’elle-même.",
	"deprogrammee": "La programmation est annulée. Voici le texte, dans votre copie de travail.",
	"annulee":      "La version est annulée, sur le site et dans le dossier.",
	"citation":     "La citation est dans la fiche, avec le jour de sa lecture. Relisez le prix.",
	"prix":         "Le prix relevé est dans votre copie de travail, avec sa citation, son jour et l’ancien prix dans l’historique. Relisez-la, puis publiez.",
	"prix-ecrit":   "Le prix est repris dans la fiche, avec sa citation, son jour et l’ancien prix dans l’historique.",
	"regle":        "Le signalement est réglé, et l’adresse de qui l’a écrit est effacée.",
	"sortie":       "C’est retiré du site et du dossier.",
	"deja":         "Cette copie n’existe plus\u00a0: elle a peut-être été publiée ou supprimée entre-temps.",
}

// render executes the template of a page. A template that does not fit its data panics; tests render
// every page.
func render(name string, data interface{ title() string }) *response {
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "page", data); err != nil {
		panic(err)
	}
	//nolint:gosec // a template made it
	return &response{status: http.StatusOK, title: data.title(), content: template.HTML(b.String())}
}

const jsonType = "application/json"

func writeJSON(status int, value any) *response {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // values are ours
	}
	return &response{write: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", jsonType)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body) // fails only when the client is gone
	}}
}
