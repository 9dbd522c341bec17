package site

import (
	"html/template"

	"palmares/internal/catalog"
	"palmares/internal/french"
)

// retiredPage is the list of retired tools, "Cimetière" to visitors.
type retiredPage struct {
	Filters *filters
	Reasons []reason
	Retired []retiredTool
	Total   int
	Pager   pager
}

// A reason explains why tools are retired.
type reason struct {
	Name, Text string
	Count      int
}

// A retiredTool is a retired tool with the note on what happened.
type retiredTool struct {
	Slug, Name   string
	Draft        string // see view.mark
	Date         string
	Category     string // label
	CategorySlug string
	Reason       string
	Note         template.HTML
	Successor    *link // nil for none
	Href         string
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

func (s *Site) listRetired(r *request) (*response, error) {
	f := readFilters(r)
	options := []option{{Label: "Toutes"}}
	data := retiredPage{Filters: f}
	for _, one := range catalog.Reasons {
		name := french.Capital(reasonNames[one])
		options = append(options, option{Value: string(one), Label: name})
		data.Reasons = append(data.Reasons, reason{name, reasonTexts[one], r.reasons[one]})
	}
	chosen := catalog.Reason(f.choice("reason", "Raison", options...))
	category, at := f.category(r.view), f.paging()
	list := r.snap.Retired(category, chosen, at)
	data.Retired, data.Total, data.Pager = r.retiredTools(list.IDs()), list.Total, f.pager(at, list.Total)
	p := s.page(r, "Cimetière", "Les outils qui ont quitté le catalogue\u00a0: pourquoi, et quand.", "/cimetiere")
	f.describe(&p, data.Pager, r.snap.Catalog)
	return f.response(r, "retired", p, data), nil
}

func (r *request) retiredTools(ids []int32) []retiredTool {
	return each(ids, func(i int32) retiredTool { return r.retiredTool(&r.snap.Catalog.Retired[i]) })
}

// retiredTool returns a retired tool for a page of several: the ids in its note begin with its slug.
func (r *request) retiredTool(t *catalog.Retired) retiredTool {
	one := retiredTool{
		Slug: t.Slug, Name: t.Name, Draft: r.mark(t.Draft, "cimetiere/"+t.Slug), Date: t.RetiredAt,
		Category: r.Label(t.Category), CategorySlug: t.Category,
		Reason: reasonNames[t.Reason],
		Href:   catalog.RetiredKind.Address + t.Slug, Note: r.Text("cimetiere", t.Body, t.Slug+"."),
	}
	if next := r.snap.Catalog.Tool(t.Successor); next != nil {
		one.Successor = &link{"/outils/" + next.Slug, next.Name}
	} else if next := r.snap.RetiredTool(t.Successor); next != nil {
		one.Successor = &link{catalog.RetiredKind.Address + next.Slug, next.Name}
	}
	return one
}
