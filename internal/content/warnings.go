package content

import (
	"cmp"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A folder with warnings can be published, but probably does not say what its
// editors mean. The warnings of one record are found by the worker that read it and
// has the lines of its fields; those that compare records, once all have been read.
// Drafts are unfinished by definition, and give none; see article for the one exception.

// warnAbout adds the warnings of a record, and keeps the lines that further warnings
// need.
func (d *decoder) warnAbout(r *record) {
	if r.isDraft() {
		return
	}
	if r.publishAt != "" && d.days.today != "" { // until then, no day is in the future
		if hour, err := time.Parse(time.RFC3339, r.publishAt); err == nil {
			d.days.today = max(d.days.today, hour.In(d.zone).Format(time.DateOnly))
		}
	}
	switch {
	case r.tool() != nil:
		toolRules{d, r.tool()}.warnAll()
		r.keyLine = d.lineOf("domain")
		r.priceLine, r.scoreLine, r.checkedLine = d.lineOf("price"), d.lineOf("score"), d.lineOf("price_checked_at")
	case r.comparison() != nil:
		d.warnFuture("updated_at", r.comparison().UpdatedAt)
		r.keyLine = d.lineOf("winner")
	case r.retired() != nil:
		d.warnFuture("retired_at", r.retired().RetiredAt)
	case r.page() != nil:
		d.warnFuture("date", r.page().Date)
	case r.article() != nil:
		d.warnFuture("date", r.article().Date)
	}
	r.authorLine = d.lineOf("author")
	if d.isGiven("updated_at") {
		r.updatedLine = d.lineOf("updated_at")
	}
	d.warnPictures()
}

// warnPictures warns about pictures in texts that have no alternative text, or a
// caption that nobody sees.
func (d *decoder) warnPictures() {
	for _, picture := range d.pictures {
		if strings.TrimSpace(picture.alt) == "" {
			d.found.warnOf(d.file, picture.line, picture.in(problem.New("picture-without-alt", tree.Quoted(picture.written))))
		}
		if picture.hidesTitle {
			d.found.warnOf(d.file, picture.line, picture.in(problem.New("caption-hidden", tree.Quoted(picture.written))))
		}
	}
}

func (o *object) warnFuture(name, day string) {
	switch {
	case !o.days.isFuture(day):
	case name == "date": // of a text, which can wait for it
		o.warn(name, "text-in-future", day)
	default:
		o.warn(name, "in-future", o.label(name), day)
	}
}

// warnOld warns about something that was done before the oldest day.
func (o *object) warnOld(name, day, oldest, code string) {
	if day != "" && day < oldest {
		o.warn(name, code, day, cmp.Or(o.days.maxAge, testAge), name)
	}
}

func (o *object) warnHistory(name string) {
	for i, entry := range o.entries(name) {
		if v := entry.Find("changed_at"); v != nil && catalog.IsDate(v.Text) && o.days.isFuture(v.Text) {
			within := problem.New("in", label{name: name, item: i + 1})
			o.found.warn(o.file, v.Line, "in-future", label{name: "changed_at", within: within}, v.Text)
		}
	}
}
