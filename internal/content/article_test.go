package content

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// Each file has one mistake, which is reported once; those without one are read.
func TestMistakesOfArticlesAndAuthors(t *testing.T) {
	const fields = "---\ntitle: Voix\nauthor: Ada\ndate: 2026-01-02\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"an unknown author", "articles/x.md", fields + "---\nUn.\n", ""},
		{"a retired tool", "articles/x.md", fields + "tools: [jaserin, plume]\n---\nUn.\n", ""},
		{"a sponsored draft", "articles/x.md", "---\ntitle: Voix\nsponsored: true\ndraft: true\n---\n", ""},
		{"a link to a text that waits", "articles/x.md", fields + "---\n[a](demain.md)\n", `the link to "demain.md" leads nowhere: article "demain" is not public before 2027-01-01T08:00:00Z; publish it first`},
		{"a link to a text that waited and has ended", "articles/x.md", fields + "---\n[a](hier.md)\n", `the link to "hier.md" leads nowhere: article "hier" is not public any more; publish it first`},
		{"files of a tool", "articles/x.md", fields + "---\n[a](/outils/plume.atom) [b](/outils/plume/badge.svg) [c](/outils/jaserin.atom)\n", ""},
		{"no badge", "articles/x.md", fields + "---\n[a](/outils/jaserin/badge.svg)\n", `the link to "/outils/jaserin/badge.svg" leads nowhere: there is no tool "jaserin"`},
		{"the slug of an author", "articles/x.md", strings.Replace(fields, "Ada", "ada", 1) + "---\nUn.\n", `warning on line 3: author "ada" has no page in auteurs/; write "Ada" if this is meant`},
		{"nearly an author", "articles/x.md", strings.Replace(fields, "Ada", "Ada  Lovelacee", 1) + "---\nUn.\n", `warning on line 3: author "Ada  Lovelacee" has no page in auteurs/; write "Ada Lovelace" if`},
		{"a draft with an hour", "articles/x.md", fields + "draft: true\npublish_at: 2027-01-01T09:00\n---\nUn.\n", "warning on line 5: draft is true, so publish_at"},
		{"a day in the future", "articles/x.md", strings.Replace(fields, "2026", "2126", 1) + "---\nUn.\n", "warning on line 4: date is 2126-01-02, which is in the future; correct it, or give the hour to publish at in publish_at"},
		{"no author", "articles/x.md", "---\ntitle: Voix\ndate: 2026-01-02\n---\nUn.\n", "author is missing"},
		{"an empty author", "articles/x.md", "---\ntitle: Voix\nauthor: []\ndate: 2026-01-02\n---\nUn.\n", "author is empty"},
		{"no text", "articles/x.md", fields + "---\n", "the article has no text"},
		{"no such tool", "articles/x.md", fields + "tools: [plumes]\n---\nUn.\n", `tool "plumes" is not a tool in this folder; correct the name, or delete it`},
		{"a former slug", "articles/x.md", fields + "tools: [ancienne-plume]\n---\nUn.\n", `tool "ancienne-plume" is a former slug; write "plume"`},
		{"a tool twice", "articles/x.md", fields + "tools: [plume, plume]\n---\nUn.\n", `tool "plume" is listed already`},
		{"a draft of a tool", "articles/x.md", fields + "tools: [futur]\n---\nUn.\n", `tool "futur" is a draft`},
		{"an end before the beginning", "articles/x.md", fields + "publish_at: 2027-01-01\nunpublish_at: 2026-12-01\n---\nUn.\n", "unpublish_at must be after publish_at"},
		{"no flag", "articles/x.md", fields + "sponsored: peut-être\n---\nUn.\n", "sponsored must be true or false"},
		{"an alias that is taken", "articles/x.md", fields + "aliases: [une]\n---\nUn.\n", `alias "une" is taken: it is an article`},
		{"two of a name", "auteurs/bo.md", "---\nname: Ada\n---\n", `name "Ada" is taken: it is that of auteurs/ada.md:1`},
		{"no link", "auteurs/bo.md", "---\nname: Bo\nlinks: [bo]\n---\n", "item 1 of links must be an absolute http or https URL"},
		{"a page of the site", "pages/articles.md", "---\ntitle: Articles\n---\n", `the slug "articles" is used by the site itself`},
		{"an alias of the site", "pages/x.md", "---\ntitle: X\naliases: [suivre]\n---\n", `alias "suivre" is used by the site itself`},
	} {
		folder := magazine(t)
		folder["articles/une.md"] = &fstest.MapFile{Data: []byte(fields + "---\n[a](../auteurs/ada.md) [b](/articles/une) [c](../outils/plume.md)\n")}
		folder["articles/demain.md"] = &fstest.MapFile{Data: []byte(fields + "publish_at: 2027-01-01T09:00\n---\nUn.\n")}
		folder["articles/hier.md"] = &fstest.MapFile{Data: []byte(fields + "publish_at: 2026-01-02T09:00\nunpublish_at: 2026-02-01T09:00\n---\nUn.\n")}
		folder["auteurs/lovelace.md"] = &fstest.MapFile{Data: []byte("---\nname: Ada Lovelace\n---\n")}
		folder["auteurs/ada.md"] = &fstest.MapFile{Data: []byte("---\nname: Ada\nrole: Essais\n---\n")}
		folder[c.file] = &fstest.MapFile{Data: []byte(c.text)}
		r := readAll(t, folder, Options{InMemory: true, Today: "2026-11-15", Now: time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)})
		var found []string
		for _, p := range r.Problems {
			if p.File == c.file || p.File == "articles/une.md" {
				found = append(found, p.Text.English)
			}
		}
		for _, w := range r.Warnings {
			if w.File == c.file {
				found = append(found, fmt.Sprintf("warning on line %d: %s", w.Line, w.Text))
			}
		}
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: %q", c.name, found)
		case c.want != "" && (len(found) != 1 || !strings.HasPrefix(found[0], c.want)):
			t.Errorf("%s: %q, want %q", c.name, found, c.want)
		}
	}
}
