package content

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	canonical "palmares/internal/record"
)

// What a folder says about the future. Records with an hour that has not come wait: they are read like
// others and hidden like drafts. So that nothing is wrong at its hour, the records are checked against
// each other once for every hour to come, as the catalogue will be then.

const (
	// maxHours is how many hours to come a folder may have: each is checked.
	maxHours = 100
	// nextSuffix is the end of the name of a file that replaces a record at its hour.
	nextSuffix = ".next"
	// settled is how long ago an hour must be to be taken for passed here. What came later is left to
	// the publication: it is by the clock of the database that hours come, and this one may be wrong.
	settled = 24 * time.Hour
)

// time returns the instant of a field.
func (d *decoder) time(at label, v *value) string {
	s, ok := d.textOf(at, v, "a time such as 2026-12-01T09:00")
	if !ok {
		return ""
	}
	t, err := catalog.ParseTime(s, d.zone)
	if err != nil {
		d.report(v.line, "%s %s, not %s", at, err, quoted(s))
		return ""
	}
	return catalog.FormatTime(t)
}

// checkAnnouncement checks that the parts of an announced change fit together.
func (d *decoder) checkAnnouncement(a *catalog.Announcement) {
	isPrice := d.isGiven("price") || d.isGiven("pricing") || d.isGiven("price_display")
	switch {
	case isPrice && d.isGiven("retire"):
		d.report(d.line, "a change of the price and a retirement are two announcements%s; make two items of them", d.within)
	case !isPrice && !d.isGiven("retire") && len(d.known) > 0:
		d.report(d.line, "price, pricing, price_display or retire is missing%s; say what changes", d.within)
	case a.Successor != "" && !d.isGiven("retire"):
		d.report(d.lineOf("successor"), "successor%s needs retire", d.within)
	case isPrice && d.isGiven("source"):
		d.report(d.lineOf("source"), "source%s is price_source where a price is announced; rename it", d.within)
	}
	for _, name := range []string{"price_source", "price_quote", "price_checked_at"} {
		if d.isGiven("retire") && d.isGiven(name) {
			d.report(d.lineOf(name), "%s goes with a price; the page that announces a retirement is source", d.label(name))
		}
	}
	d.checkQuote(a.PriceQuote, a.Pricing, a.Price, a.PriceDisplay)
}

// checkQuote checks the quotation of a price, of a tool or of an announced one.
func (d *decoder) checkQuote(quote string, pricing catalog.Pricing, price, display string) {
	quote = strings.Join(strings.Fields(quote), " ") // white space of every kind separates the digits of an amount
	f := d.find("price_quote")
	switch {
	case f != nil && f.value.isEmpty() && f.value.text != "": // white space; forms write fields without any
		d.warn(f.value.line, "%s must have at least %d characters, and has %d; quote the words of the page that say the price",
			d.label("price_quote"), catalog.MinQuote, 0)
	case quote == "":
	case !d.isGiven("price_source"):
		d.report(d.lineOf("price_quote"), "price_quote%s quotes a page that is not given; add price_source, the address of the page",
			d.within)
	case !d.isDraft && !catalog.IsQuoted(quote, pricing, price, display):
		d.warn(d.lineOf("price_quote"), "price_quote%s does not contain the amount of the price, %s; quote the words that say it",
			d.within, quoted(price))
	}
}

// maxAnnounced is how many changes of a tool may be announced.
const maxAnnounced = 12

// checkAnnounced sorts the announced changes of a tool, and checks that each has its day.
func (d *decoder) checkAnnounced(t *catalog.Tool) {
	line := d.lineOf("announced")
	if len(t.Announced) > maxAnnounced {
		d.report(line, "announced has %d items; keep at most %d", len(t.Announced), maxAnnounced)
	}
	slices.SortStableFunc(t.Announced, func(a, b catalog.Announcement) int { return strings.Compare(a.From, b.From) })
	pricing := t.Pricing
	for i := range t.Announced {
		a := &t.Announced[i]
		pricing = cmp.Or(a.Pricing, pricing)
		if pricing == catalog.Paid && a.Price != "" && catalog.IsFree(a.Price) {
			a.Pricing, a.Price = catalog.Paid, catalog.NoPrice // it says itself that it is none
		}
	}
	for i := 1; i < len(t.Announced); i++ {
		if a := t.Announced[i]; a.From != "" && a.From == t.Announced[i-1].From {
			d.report(line, "two items of announced are from %s; make one of them, or correct a day", a.From)
		}
		if t.Announced[i-1].Retire != "" {
			d.report(line, "something is announced for a day after the retirement of %s; delete it, or correct a day",
				t.Announced[i-1].From)
		}
	}
}

// isWaiting reports whether a record becomes public by itself after an instant.
func (r *record) isWaiting(at string) bool {
	return r.of != nil && r.publishAt > at && !r.isMarked
}

func (f *folder) all() iter.Seq2[*catalog.Kind, *record] {
	return func(yield func(*catalog.Kind, *record) bool) {
		for _, b := range f.batches {
			for i := range b.records {
				if !yield(b.kind, &b.records[i]) {
					return
				}
			}
		}
	}
}

// present yields the records that there are at the instant of settle.
func (f *folder) present() iter.Seq2[*catalog.Kind, *record] {
	return func(yield func(*catalog.Kind, *record) bool) {
		for k, r := range f.all() {
			if !r.isAbsent && !yield(k, r) {
				return
			}
		}
	}
}

// settle decides which records there are at an instant, and which of them visitors see.
func (f *folder) settle(at string) {
	replaced, retired := map[string]bool{}, map[string]bool{} // files without suffix, slugs of tools
	f.obituaries = map[string]*record{}
	for k, r := range f.all() {
		if r.publishAt == "" || r.isMarked {
			continue // without an hour, or with one that does nothing
		}
		if r.retired() != nil {
			f.obituaries[r.slug] = r
		}
		if r.publishAt <= at && r.isNext {
			replaced[k.Folder+"/"+r.slug] = true
		}
		if r.publishAt <= at && r.retired() != nil {
			retired[r.slug] = true
		}
	}
	for k, r := range f.all() {
		isPast := r.publishAt <= at
		r.isAbsent = r.isNext != replaced[k.Folder+"/"+r.slug] || k == catalog.ToolKind && retired[r.slug]
		r.hasEnded = isPast && r.end != "" && r.end <= at
		r.isHidden = !isPast || r.hasEnded
	}
}

// hours returns the instants after one at which the records that visitors see change.
func (f *folder) hours(after string) []string {
	found := map[string]bool{}
	for _, r := range f.all() {
		if r.isWaiting(after) {
			found[r.publishAt] = true
		}
		if r.end > after {
			found[r.end] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// checkFuture checks the records against each other at every hour to come, and reports what is not
// wrong yet.
func (f *folder) checkFuture(now string) {
	hours := f.hours(now)
	if len(hours) == 0 {
		return
	}
	if len(hours) > maxHours {
		f.problem(catalogueFile, 1, "the records of the folder have %d different hours in publish_at and unpublish_at to come; "+
			"give several of them one hour, so that there are at most %d", len(hours), maxHours)
		hours = nil
	}
	known := map[Problem]bool{}
	for _, p := range f.problems {
		known[p] = true
	}
	problems, warnings := f.problems, f.warnings
	for _, at := range hours {
		f.problems, f.warnings = nil, nil
		f.assembleAt(at)
		for _, p := range f.problems {
			if !known[p] {
				known[p] = true
				p.Text += " (from " + at + " on)"
				keep(&problems, p)
			}
		}
	}
	f.assembleAt(now)
	f.problems, f.warnings = problems, warnings
}

// checkFiles checks the files that stand beside the record that they replace, and warns of those that nobody
// sees any more.
func (f *folder) checkFiles(now string) {
	own := map[string]*record{}
	for k, r := range f.all() {
		if !r.isNext {
			own[k.Folder+"/"+r.slug] = r
		}
	}
	for k, r := range f.all() {
		if r.hasEnded && !r.isMarked && !r.isAbsent {
			f.warn(r.file, r.line, "unpublish_at is %s, which has passed: nobody sees this any more; give it another time, or delete the file", r.end)
		}
		if !r.isNext || !catalog.IsSlug(r.slug) {
			continue
		}
		file := k.Folder + "/" + r.slug
		base := own[file]
		switch {
		case base == nil:
			f.problem(r.file, r.line, "there is no record %q that this file could replace; rename it to %s.md", r.slug, file)
		case r.of == nil:
		case r.publishAt == "":
			f.problem(r.file, r.line, "publish_at is missing; say when this text replaces %s", base.file)
		case r.publishAt <= base.publishAt:
			f.problem(r.file, r.line, "publish_at must be after that of %s, which this text replaces", base.file)
		case r.publishAt <= now && !r.isAbsent:
			f.warn(r.file, r.line, "this text has replaced %s since %s; move it there, without publish_at, and delete this file",
				base.file, r.publishAt)
		}
	}
	for slug, r := range f.obituaries {
		if tool := own["outils/"+slug]; tool != nil && r.publishAt <= now {
			f.warn(tool.file, tool.line, "the tool is retired since %s (%s); delete this file", r.publishAt, r.file)
		}
	}
}

// checkRetirement checks the successor of an announced retirement, and warns if that would not happen.
func (f *folder) checkRetirement(r *record, x index) {
	for _, a := range r.tool().Announced {
		if a.Retire == "" {
			continue
		}
		if a.Successor != "" {
			f.checkSuccessor(r, reference{slug: a.Successor, line: r.line}, x)
		}
		switch o := f.obituaries[r.slug]; {
		case o == nil:
			f.warn(r.file, r.line, "the retirement that is announced for %s will not happen: there is no cimetiere/%s.md with publish_at",
				a.From, r.slug)
		case o.publishAt < catalog.FormatTime(catalog.FirstMinute(a.From, f.zone)):
			f.warn(o.file, o.line, "publish_at is %s, before the announced day, %s (%s); correct one of them",
				o.publishAt, a.From, r.file)
		}
	}
}

// schedule adds the records that wait.
func (f *folder) schedule(c *catalog.Catalog, now string) {
	for _, r := range f.all() {
		if !r.isWaiting(now) {
			continue
		}
		if r.tool() != nil {
			c.DropDefaultURLs(r.tool())
		}
		c.Scheduled = append(c.Scheduled, catalog.Scheduled{Due: r.publishAt, Record: r.of})
	}
	catalog.SortScheduled(c.Scheduled)
}

// writeScheduled writes the records that wait, as files: beside the record that they replace, if there
// is one.
func (w *folderWriter) writeScheduled() error {
	taken := map[string]bool{}
	for _, k := range catalog.WrittenKinds {
		for i := range k.Len(w.catalogue) {
			taken[k.Folder+"/"+canonical.Of(w.catalogue, k.At(w.catalogue, i)).Slug] = true
		}
	}
	for i := range w.catalogue.Scheduled {
		s := &w.catalogue.Scheduled[i]
		folder, file, _ := strings.Cut(s.Name(), "/")
		if taken[s.Name()] {
			file += nextSuffix
		}
		taken[s.Name()] = true
		b, yaml := appendMarkdown(nil, catalog.KindOf(s.Record).Fields, withHour(s))
		if len(b) > maxFile || yaml > maxYAML {
			return fmt.Errorf("the scheduled record %s %w", s.Name(), errTooLarge)
		}
		if err := w.writeFile(folder, file, b); err != nil {
			return err
		}
		w.written++
	}
	return nil
}

// withHour returns a copy of a scheduled record with its hour.
func withHour(s *catalog.Scheduled) any {
	r := copied(s.Record)
	*catalog.ValueOf[string](catalog.KindOf(r).Fields, catalog.PublishAt, r) = s.Due
	return r
}
