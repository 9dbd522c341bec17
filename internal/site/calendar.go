package site

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/french"
	"palmares/internal/problem"
)

// upcomingPath is the page of what is announced.
const upcomingPath = "/a-venir"

// maxUpcoming is how many announcements a page and the calendar show.
const maxUpcoming = 1000

// An announcement is a change of a tool that its maker has announced, in words.
type announcement struct {
	Tool   *catalog.Tool
	ID     string // for calendars
	Date   string
	Words  string // 20 → 25 €/mois
	Text   string // À partir du 1er janvier 2027 : 25 €/mois
	Source string // URL or ""
}

// upcomingPage is the list of announced changes.
type upcomingPage struct {
	All   []announcement
	Total int
}

// Announced describes the announced changes of a tool, by day.
func (row *toolRow) Announced() []announcement { return row.view.announcements(row.Tool) }

func (v *view) announcements(t *catalog.Tool) (list []announcement) {
	for i, e := range t.Announces(v.snap.Catalog) {
		a := &t.Announced[i]
		one := announcement{
			Tool: t, ID: e.First + "-" + a.From, Date: a.From, Words: chronicle.Announced(&e, problem.French),
			Source: cmp.Or(a.PriceSource, a.Source),
		}
		from, words := "À partir du ", one.Words
		if price := catalog.ParsePrice(e.New); a.Retire != "" {
			from = "Le "
		} else if price.Pricing == catalog.ParsePrice(e.Note).Pricing {
			words = chronicle.Price(price, problem.French)
		}
		one.Text = from + french.Date(a.From) + "\u00a0: " + words
		list = append(list, one)
	}
	return list
}

// allAnnounced returns what is announced, by day and name.
func (v *view) allAnnounced() (list []announcement) {
	for _, t := range v.snap.Catalog.Tools {
		if len(t.Announced) > 0 {
			list = append(list, v.announcements(t)...)
		}
	}
	slices.SortStableFunc(list, func(a, b announcement) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Tool.Slug, b.Tool.Slug))
	})
	return list
}

func (s *Site) upcoming(r *request) (*response, error) {
	all := r.announced()
	data := upcomingPage{All: all[:min(len(all), maxUpcoming)], Total: len(all)}
	p := s.page(r, "À venir", "Les changements de prix et les fermetures que les éditeurs ont annoncés, par date.",
		upcomingPath)
	p.Markdown = upcomingPath + markdownSuffix
	return render(r, "upcoming", p, data), nil
}

// icalendar serves what is announced as a calendar (RFC 5545), one day for each. The identifiers do not
// change while an announcement stands.
func (s *Site) icalendar(r *request) (*response, error) {
	c := r.snap.Catalog
	host := r.host()
	var b strings.Builder
	// A line has at most 75 bytes; what follows begins with a space.
	line := func(name, value string) {
		text := name + ":" + value
		for most := 75; len(text) > most; most = 74 {
			end := most
			for !utf8.RuneStart(text[end]) {
				end--
			}
			b.WriteString(text[:end] + "\r\n ")
			text = text[end:]
		}
		b.WriteString(text + "\r\n")
	}
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//"+icalText(c.Name)+"//Palmares//FR")
	line("X-WR-CALNAME", icalText(c.Name+"\u00a0: à venir"))
	all := r.announced()
	for _, a := range all[:min(len(all), maxUpcoming)] {
		line("BEGIN", "VEVENT")
		line("UID", a.ID+"@"+host)
		line("DTSTAMP", strings.ReplaceAll(a.Tool.UpdatedAt, "-", "")+"T000000Z")
		line("DTSTART;VALUE=DATE", strings.ReplaceAll(a.Date, "-", ""))
		line("TRANSP", "TRANSPARENT")
		line("SUMMARY", icalText(a.Tool.Name+"\u00a0: "+a.Words))
		line("URL", c.CanonicalURLOf(a.Tool))
		line("END", "VEVENT")
	}
	line("END", "VCALENDAR")
	return newResponse("text/calendar; charset=utf-8", []byte(b.String())), nil
}

var icalText = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`, "\r", "").Replace

// endedPages returns the slugs of the pages that were public and are no longer.
func (v *view) endedPages() map[string]bool {
	ended := map[string]bool{}
	if v.snap.Feed == nil {
		return ended
	}
	for i := range v.snap.Feed.Changes {
		if c := &v.snap.Feed.Changes[i]; c.Deleted && (c.Kind == catalog.PageKind || c.Kind == catalog.ArticleKind) {
			ended[c.Kind.Folder+"/"+c.Slug] = true
		}
	}
	return ended
}

func pageGone() *failure {
	return &failure{
		Status: http.StatusGone, title: "Page retirée", cache: cacheNotFound,
		text: "Cette page a été en ligne et ne l’est plus\u00a0: la rédaction l’a retirée.",
	}
}
