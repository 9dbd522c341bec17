package accountsite

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"palmares/internal/account"
	"palmares/internal/readerdb"
)

// maxReport is how many characters a report has.
const maxReport = 2000

// reportPage is the form by which a reader says what is wrong.
type reportPage struct {
	page
	About   string // the path of a page; "" for the whole site
	Text    string // as typed
	Email   string // as typed
	Most    int
	Problem string // "" for none
}

func (r *request) reportPage(about, problem string) *response {
	return render("report", reportPage{
		page: r.page("Signaler une erreur"), About: about, Text: r.PostForm.Get("texte"), Email: r.PostForm.Get("email"),
		Most: maxReport, Problem: problem,
	})
}

// about returns the path of the page that a report is about; "" for the whole site, also if there is no such page.
func (p *readers) about(r *request) string {
	if path := r.FormValue("page"); p.Site.HasRecord(path) {
		return path
	}
	return ""
}

func (p *readers) showReport(r *request) (*response, error) {
	about := p.about(r)
	if about != r.FormValue("page") {
		return nil, notFound("La page dont vous voulez parler n’existe pas, ou plus\u00a0: signalez l’erreur depuis celle d’un outil, d’un comparatif ou d’un article.")
	}
	return r.reportPage(about, ""), nil
}

// report stores a report. Robots, which fill in every field, are thanked like everybody else.
func (p *readers) report(r *request) (*response, error) {
	refused := func(status int, problem string) (*response, error) {
		a := r.reportPage(p.about(r), problem)
		a.Status = status
		return a, nil
	}
	text := strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("texte"), "\r\n", "\n"))
	email := strings.TrimSpace(r.PostForm.Get("email"))
	if r.PostForm.Get("site") != "" {
		return seeOther(thanksPath, ""), nil
	}
	switch n := utf8.RuneCountInString(text); {
	case !strings.ContainsFunc(text, isVisible):
		return refused(http.StatusBadRequest, "Dites ce qui est faux, en quelques mots.")
	case n > maxReport || !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return refused(http.StatusBadRequest, "Votre texte est trop long, ou illisible\u00a0: 2\u202f000\u00a0caractères au plus.")
	}
	if email != "" {
		var err error
		email, err = account.NormalizeEmail(email)
		if err != nil {
			return refused(http.StatusBadRequest, "Cette adresse n’en est pas une\u00a0: écrivez-la seule, comme ada@example.org, ou laissez le champ vide.")
		}
	}
	stored, err := p.Readers.Reports.Sealed(p.Sealer).Add(r.Context(), readerdb.Report{Page: p.about(r), Text: text, Address: email}, p.network(r), r.Now)
	if err == nil && !stored {
		return refused(http.StatusTooManyRequests, "Trop de signalements viennent d’arriver\u00a0: gardez votre texte, et réessayez dans une heure, demain au plus tard.")
	}
	return seeOther(thanksPath, ""), err
}

func (p *readers) thanks(r *request) (*response, error) {
	return r.message("Merci", "Votre signalement est arrivé. Personne d’autre que la rédaction ne le lira."), nil
}

// isVisible reports whether a character shows.
func isVisible(c rune) bool {
	return unicode.In(c, unicode.L, unicode.N, unicode.P, unicode.S) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) && c != '\u2800'
}

// message is a page that says one thing.
func (r *request) message(title, text string) *response {
	return render("failure", failurePage{page: r.page(title), Text: text})
}
