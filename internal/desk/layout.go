package desk

import (
	"embed"
	"encoding/json"

	"palmares/internal/account"
	"palmares/internal/forms"
)

//go:embed templates/*.html
var templateFiles embed.FS

var render = forms.Renderer(templateFiles)

// page is what surrounds the content of every page; the data of each page embeds it.
type page struct {
	forms.Page
	Token    string // of every form
	IsEditor bool
	IsLocal  bool // she writes alone: there is nobody to publish with
}

type entry struct {
	forms.Entry
	role     account.Role // that its page needs
	isShared bool         // its page is for people who publish together
}

// menu is the same on every page of a person.
var menu = []entry{
	{forms.Entry{Href: homePath, Text: "Rédaction"}, account.Author, false},
	{forms.Entry{Href: recordsPath, Text: "Fiches"}, account.Author, false},
	{forms.Entry{Href: newPath, Text: "Nouvelle fiche"}, account.Author, false},
	{forms.Entry{Href: sourcesPath, Text: "Sources"}, account.Author, false},
	{forms.Entry{Href: schedulePath, Text: "Programmées"}, account.Author, true},
	{forms.Entry{Href: versionsPath, Text: "Versions"}, account.Author, true},
	{forms.Entry{Href: reportsPath, Text: "Signalements"}, account.Author, true},
	{forms.Entry{Href: picturesPath, Text: "Images"}, account.Author, false},
	{forms.Entry{Href: readersPath, Text: "Audience"}, account.Editor, true},
	{forms.Entry{Href: settingsPath, Text: "Réglages"}, account.Editor, false},
	{forms.Entry{Href: helpPath, Text: "Aide"}, account.Author, false},
}

// page fills in what surrounds a page.
func (r *request) page(title string) page {
	var shown []forms.Entry
	for _, e := range menu {
		if r.Role.Includes(e.role) && !(e.isShared && r.isLocal) {
			shown = append(shown, e.Entry)
		}
	}
	return page{Page: r.Page(title, notices, shown), Token: r.Token, IsEditor: r.Role == account.Editor, IsLocal: r.isLocal}
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
	"mots-absents": "La citation est dans la fiche, avec le jour de sa lecture. Mais ces mots ne se lisent pas sur la page\u00a0: comparez-les avec elle.",
	"prix":         "Le prix relevé est dans votre copie de travail, avec sa citation, son jour et l’ancien prix dans l’historique. Relisez-la, puis publiez.",
	"prix-ecrit":   "Le prix est repris dans la fiche, avec sa citation, son jour et l’ancien prix dans l’historique.",
	"regle":        "Le signalement est réglé, et l’adresse de qui l’a écrit est effacée.",
	"sortie":       "C’est retiré du site et du dossier.",
	"deja":         "Cette copie n’existe plus\u00a0: elle a peut-être été publiée ou supprimée entre-temps.",
}

const jsonType = "application/json"

func writeJSON(status int, value any) *response {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // values are ours
	}
	return forms.File(status, jsonType, body)
}
