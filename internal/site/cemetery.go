package site

import (
	"strconv"
	"strings"

	"palmares/internal/catalog"
)

// cemeteryPage tells which tools are gone, and why.
type cemeteryPage struct {
	Page    page
	Filters *filters
	Reasons []reasonRow
	Graves  []grave
	Total   int
	Pager   pager
}

// A reasonRow explains one reason.
type reasonRow struct {
	Name, Text string
	Count      int
}

// A grave is a retired tool with its obituary.
type grave struct {
	Slug, Name string
	Date       string
	Category   string // its label
	Reason     string
	Paragraphs []string
	Successor  *link // nil when there is none to go to
	Href       string
}

var (
	reasonNames = map[catalog.Reason]string{
		"mort": "mort", "acquis": "acquis", "deprecie": "déprécié", "pivot": "pivot", "absorbe": "absorbé",
	}
	reasonTexts = map[catalog.Reason]string{
		"mort":     "Le service a fermé, ou le projet n’est plus entretenu par personne.",
		"acquis":   "Une autre société l’a racheté, et l’outil n’existe plus par lui-même.",
		"deprecie": "Son éditeur l’a déclaré périmé et invite à passer à autre chose.",
		"pivot":    "L’éditeur vit toujours, mais fait désormais un autre métier.",
		"absorbe":  "Ses fonctions sont devenues une partie d’un autre produit.",
	}
)

func (s *Site) showCemetery(r *request) (*answer, error) {
	f := readFilters(r)
	reasons := []option{{Label: "Toutes"}}
	v := cemeteryPage{Filters: f}
	for _, reason := range catalog.Reasons {
		reasons = append(reasons, option{Value: string(reason), Label: capital(reasonNames[reason])})
		v.Reasons = append(v.Reasons, reasonRow{capital(reasonNames[reason]), reasonTexts[reason], r.reasons[reason]})
	}
	reason := catalog.Reason(f.choice("reason", "Raison", reasons...))
	category, at := f.category(r.edition), f.paging()
	list := r.snap.Retired(category, reason, at)
	v.Graves, v.Total, v.Pager = r.graveList(list.IDs()), list.Total, f.pager(at, list.Total)
	v.Page = s.page(r, "Cimetière", "Les outils d’IA disparus\u00a0: fermés, rachetés, dépréciés, absorbés, et ce qui les remplace.", "/cimetiere")
	f.describe(&v.Page, v.Pager, r.snap.Catalog)
	return f.answer(r, "cemetery", v.Page, v), nil
}

func (e *edition) graveList(ids []int32) []grave {
	list := make([]grave, len(ids))
	for n, i := range ids {
		dead := &e.snap.Catalog.Retired[i]
		g := grave{
			Slug: dead.Slug, Name: dead.Name, Date: dead.RetiredAt, Category: e.label(dead.Category), Reason: reasonNames[dead.Reason],
			Paragraphs: strings.Split(nobreak(dead.Note), "\n\n"), Href: e.obituary(dead.Slug),
		}
		if t := e.snap.Catalog.Tool(dead.Successor); t != nil {
			g.Successor = &link{"/outils/" + t.Slug, t.Name}
		} else if next := e.snap.RetiredTool(dead.Successor); next != nil {
			g.Successor = &link{e.obituary(next.Slug), next.Name}
		}
		list[n] = g
	}
	return list
}

// obituary is where the obituary of a retired tool stands: on the page of the
// cemetery that holds it.
func (e *edition) obituary(slug string) string {
	if page := e.graves[slug]/defaultLimit + 1; page > 1 {
		return "/cimetiere?page=" + strconv.Itoa(page) + "#" + slug
	}
	return "/cimetiere#" + slug
}
