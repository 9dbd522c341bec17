package content

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
	canonical "palmares/internal/record"
)

// What a folder says about the future. Records with an hour that has not come wait: they are read like
// others and hidden like drafts. So that nothing is wrong at its hour, the records are checked against
// each other once for every hour to come, as the catalogue will be then.

const (
	// maxHours is how many hours to come a folder may have: each is checked.
	maxHours = 100
	// settled is how long ago an hour must be to be taken for passed here. What came later is left to
	// the publication: it is by the clock of the database that hours come, and this one may be wrong.
	settled = 24 * time.Hour
)

// time returns the instant of a field.
func (d *decoder) time(at label, v *tree.Value) string {
	s, ok := d.textOf(at, v, problem.New("a-time"))
	if !ok {
		return ""
	}
	t, err := catalog.ParseTime(s, d.zone)
	if clock, ok := errors.AsType[*catalog.ClockError](err); ok {
		code := map[bool]string{false: "time-skipped", true: "time-twice"}[clock.IsTwice]
		d.report(v.Line, code, at, d.zone, clock.Either[0], clock.Either[1], tree.Quoted(s))
		return ""
	}
	if err != nil {
		d.report(v.Line, "not-time", at, tree.Quoted(s))
		return ""
	}
	return catalog.FormatTime(t)
}

// checkAnnouncement checks that the parts of an announced change fit together.
func (d *decoder) checkAnnouncement(a *catalog.Announcement) {
	isPrice := d.isGiven("price") || d.isGiven("pricing") || d.isGiven("price_display")
	switch {
	case isPrice && d.isGiven("retire"):
		d.report(d.line, "announced-both", d.within)
	case !isPrice && !d.isGiven("retire") && len(d.known) > 0:
		d.report(d.line, "announced-nothing", d.within)
	case a.Successor != "" && !d.isGiven("retire"):
		d.report(d.lineOf("successor"), "successor-without-retire", d.within)
	case isPrice && d.isGiven("source"):
		d.report(d.lineOf("source"), "announced-source", d.within)
	}
	for _, name := range []string{"price_source", "price_quote", "price_checked_at"} {
		if d.isGiven("retire") && d.isGiven(name) {
			d.report(d.lineOf(name), "announced-price-field", d.label(name))
		}
	}
	d.checkQuote(a.PriceQuote, a.Pricing, a.Price, a.PriceDisplay)
}

// checkQuote checks the quotation of a price, of a tool or of an announced one.
func (d *decoder) checkQuote(quote string, pricing catalog.Pricing, price, display string) {
	quote = strings.Join(strings.Fields(quote), " ") // white space of every kind separates the digits of an amount
	f := d.find("price_quote")
	switch {
	case f != nil && f.Value.IsEmpty() && f.Value.Text != "": // white space; forms write fields without any
		d.warn(f.Value.Line, "too-short", d.label("price_quote"), catalog.MinQuote, 0)
	case quote == "":
	case !d.isGiven("price_source"):
		d.report(d.lineOf("price_quote"), "quote-without-source", d.within)
	case !d.isDraft && !catalog.IsQuoted(quote, pricing, price, display):
		d.warn(d.lineOf("price_quote"), "quote-without-amount", d.within, tree.Quoted(price))
	}
}

// maxAnnounced is how many changes of a tool may be announced.
const maxAnnounced = 12

// checkAnnounced sorts the announced changes of a tool, and checks that each has its day.
func (d *decoder) checkAnnounced(t *catalog.Tool) {
	line := d.lineOf("announced")
	if len(t.Announced) > maxAnnounced {
		d.report(line, "too-many-items", "announced", len(t.Announced), maxAnnounced)
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
			d.report(line, "announced-twice", a.From)
		}
		if t.Announced[i-1].Retire != "" {
			d.report(line, "announced-after-retirement", t.Announced[i-1].From)
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
		f.problem(catalog.SettingsFile, 1, "too-many-hours", len(hours), maxHours)
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
				p.Text = problem.New("from-on", p.Text, at).Coded(p.Text.Code)
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
			f.warn(r.file, r.line, "has-ended", r.end)
		}
		if !r.isNext || !catalog.IsSlug(r.slug) {
			continue
		}
		file := k.Folder + "/" + r.slug
		base := own[file]
		switch {
		case base == nil:
			f.problem(r.file, r.line, "next-of-nothing", r.slug, file)
		case r.of == nil:
		case r.publishAt == "":
			f.problem(r.file, r.line, "next-without-hour", base.file)
		case r.publishAt <= base.publishAt:
			f.problem(r.file, r.line, "next-before-record", base.file)
		case r.publishAt <= now && !r.isAbsent:
			f.warn(r.file, r.line, "next-has-passed", base.file, r.publishAt)
		}
	}
	for slug, r := range f.obituaries {
		if tool := own["outils/"+slug]; tool != nil && r.publishAt <= now {
			f.warn(tool.file, tool.line, "retired-since", r.publishAt, r.file)
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
			f.warn(r.file, r.line, "retirement-not-scheduled", a.From, r.slug)
		case o.publishAt < catalog.FormatTime(catalog.FirstMinute(a.From, f.zone)):
			f.warn(o.file, o.line, "obituary-too-early", o.publishAt, a.From, r.file)
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
		b, yaml := appendMarkdown(nil, catalog.KindOf(s.Record).Fields, withHour(s.Record, s.Due))
		if len(b) > tree.MaxFile || yaml > tree.MaxYAML {
			return fmt.Errorf("the scheduled record %s %w", s.Name(), errTooLarge)
		}
		if err := w.writeFile(folder, file, b); err != nil {
			return err
		}
		w.written++
	}
	return nil
}

// withHour returns a copy of a record with an hour.
func withHour(record any, hour string) any {
	r := copied(record)
	*catalog.ValueOf[string](catalog.KindOf(r).Fields, catalog.PublishAt, r) = hour
	return r
}
