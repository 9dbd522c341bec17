package site

import (
	"cmp"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// describeComparison describes an event of a comparison that is still published.
func (v *view) describeComparison(e *catalog.Event, ch *change) bool {
	slug := e.Slug
	if current, ok := v.snap.ComparisonAliases[slug]; ok {
		slug = current
	}
	x := v.comparison(slug)
	if x == nil {
		return false
	}
	ch.Kind, ch.Title, ch.Path = kindComparison, markdown.NoBreak(x.Title), "/comparatifs/"+x.Slug
	ch.authors, ch.tools = x.Authors, []string{x.ToolA, x.ToolB}
	switch e.Type {
	case catalog.ComparisonPublished:
		if v.isRenaming(e, x) {
			return false
		}
		ch.summary = "Nouveau comparatif."
		if winner, ok := e.Object["winner"].(string); ok {
			ch.summary += " Vainqueur\u00a0: " + winner + "."
		}
	case catalog.ComparisonUpdated:
		if v.isMove(e, ch.tools) {
			return false
		}
		ch.summary = "Comparatif mis à jour."
		if before, ok := e.Previous["winner"].(string); ok {
			after, _ := e.Object["winner"].(string)
			ch.summary = "Vainqueur\u00a0: " + before + " → " + after + "."
		}
	default:
		return false
	}
	return true
}

// describeText describes an event of an article, a page or a review that is still there.
func (v *view) describeText(e *catalog.Event, ch *change) bool {
	c := v.snap.Catalog
	switch e.Type {
	case catalog.ArticlePublished, catalog.ArticleUpdated:
		a := c.Article(cmp.Or(v.snap.TextAliases["articles/"+e.Slug], e.Slug))
		if a == nil || e.Type == catalog.ArticleUpdated && v.isMove(e, nil) {
			return false
		}
		row := v.articleRow(a)
		ch.Kind, ch.Title, ch.summary = kindArticle, row.Title, changedParts(e)+row.Text
		if e.Type == catalog.ArticleUpdated {
			ch.Title += "\u00a0: article mis à jour"
		} else {
			ch.since = midnight(a.Date)
		}
		if a.Sponsored {
			ch.Kind, ch.Title = kindSponsored, kindSponsored+"\u00a0: "+ch.Title
			ch.summary = strings.TrimSpace(sponsoredSentence + " " + ch.summary)
		}
		ch.Path, ch.authors, ch.tools = articlesPath+"/"+a.Slug, a.Authors, a.Tools
	case catalog.PageUpdated:
		p := c.Page(cmp.Or(v.snap.TextAliases["pages/"+e.Slug], e.Slug))
		if p == nil {
			return false
		}
		ch.Kind, ch.Title, ch.summary = kindPage, markdown.NoBreak(p.Title)+"\u00a0: nouvelle page",
			changedParts(e)+markdown.NoBreak(cmp.Or(p.Description, beginning(markdown.Excerpt(p.Body))))
		if len(e.Changed) > 0 {
			ch.Title = markdown.NoBreak(p.Title) + "\u00a0: page réécrite"
		}
		ch.Path, ch.authors = "/"+p.Slug, p.Authors
	default:
		s := v.subject(e)
		t := c.Tool(s.slug)
		if e.Type != catalog.ReviewUpdated || t == nil || t.Body == "" {
			return false
		}
		ch.Kind, ch.Title, ch.summary = kindReview, t.Name+"\u00a0: avis réécrit",
			markdown.NoBreak(cmp.Or(t.Summary, beginning(markdown.Excerpt(t.Body))))
		if length := wordsChanged(e); e.Previous["words"] == 0.0 {
			ch.Title = t.Name + "\u00a0: avis publié"
		} else if length != "" {
			ch.summary = "Texte\u00a0: " + length + ". " + ch.summary
		}
		ch.Path, ch.authors, ch.tools = "/avis/"+t.Slug, t.Authors, []string{t.Slug}
	}
	return true
}

// textParts are the fields of articles and pages in sentences.
var textParts = []struct{ field, name string }{
	{"title", "le titre"},
	{"body", "le texte"},
	{"author", "la signature"},
	{"date", "la date"},
	{"description", "la présentation"},
	{"image", "l’image"},
	{"category", "la catégorie"},
	{"tools", "les outils"},
	{"sponsored", "la mention «\u00a0sponsorisé\u00a0»"},
}

// changedParts says what an event changed in a text; "" for a new one.
func changedParts(e *catalog.Event) string {
	var names []string
	for _, p := range textParts {
		if length := wordsChanged(e); p.field == "body" && length != "" {
			names = append(names, p.name+" ("+length+")")
		} else if slices.Contains(e.Changed, p.field) {
			names = append(names, p.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Changé\u00a0: " + byline(names) + ". "
}

// wordsChanged says how long a text was and is; "" if it is as long as before, or new.
func wordsChanged(e *catalog.Event) string {
	before, ok := e.Previous["words"].(float64)
	after, _ := e.Object["words"].(float64)
	if !ok {
		return ""
	}
	return french.Count(int(before)) + " → " + french.Plural(int(after), "mot", "mots")
}

const sponsoredSentence = "Article sponsorisé\u00a0: ni les notes ni les classements n’en dépendent."

// isRenaming reports whether a comparison was published under another slug until e.
func (v *view) isRenaming(e *catalog.Event, x *catalog.Comparison) bool {
	return slices.ContainsFunc(v.snap.Events, func(o catalog.Event) bool {
		return o.Type == catalog.ComparisonUnpublished && o.At.Equal(e.At) && slices.Contains(x.Aliases, o.Slug)
	})
}
