package site

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/french"
	"palmares/internal/markdown"
	"palmares/internal/record"
)

// eventChanges returns the changes that events describe, newest first. Events that change nothing visitors see have none.
// mailed is what a reader was mailed: see teller.
func (v *view) eventChanges(events []catalog.Event, mailed map[string]string) []change {
	t := teller{view: v, names: map[string]string{}, days: map[fieldDay]*eventDay{}, mailed: mailed}
	for i := range events {
		t.addDays(&events[i])
	}
	var list []change
	for i := range slices.Backward(events) {
		e := &events[i]
		ch := change{
			Date: catalog.Day(e.At), time: e.At.UTC().Format(time.RFC3339), id: "urn:palmares:" + e.ID, in: e.Categories,
		}
		shown := false
		switch kind, _, _ := strings.Cut(e.Type, "."); kind {
		case "comparatif":
			shown = v.describeComparison(e, &ch)
		case "article", "page", "review":
			shown = v.describeText(e, &ch)
		default:
			shown = t.describeTool(e, &ch)
		}
		if shown {
			list = append(list, ch)
		}
	}
	slices.Reverse(list)
	return list
}

// A teller describes the events of tools, oldest first.
type teller struct {
	*view
	names map[string]string // by slug, as the events up to here tell
	days  map[fieldDay]*eventDay

	mailed map[string]string // by slug, the price that the reader was mailed: see News; nil for a feed
}

// A fieldDay is one field of one tool on one day.
type fieldDay struct{ slug, field, day string }

// An eventDay has the first and the last event that changed a field on a day.
type eventDay struct{ first, last *catalog.Event }

// day returns the events that changed a field on the day of e.
func (t *teller) day(e *catalog.Event, field string) *eventDay {
	return t.days[fieldDay{t.subject(e).slug, field, catalog.Day(e.At)}]
}

// addDays adds an event, which must be older than those added before.
func (t *teller) addDays(e *catalog.Event) {
	fields := e.Changed
	switch e.Type {
	case catalog.PricingUpdated:
		fields = []string{priceField}
	case catalog.ToolUpdated:
	default:
		return
	}
	for _, field := range fields {
		key := fieldDay{t.subject(e).slug, field, catalog.Day(e.At)}
		if t.days[key] == nil {
			t.days[key] = &eventDay{last: e}
		}
		t.days[key].first = e
	}
}

// priceField is the field of a fieldDay for pricing.updated.
const priceField = "pricing.updated"

// describeTool describes an event of a tool or its price, and reports whether visitors
// see any of it.
func (t *teller) describeTool(e *catalog.Event, ch *change) bool {
	s := t.subject(e)
	if name, ok := e.Object["name"].(string); ok {
		t.names[e.Slug] = name
	}
	ch.Path, ch.authors, ch.tools = s.path, s.authors, []string{s.slug}
	switch e.Type {
	case catalog.ToolCreated, catalog.ToolRestored:
		ch.Kind, ch.id = kindNew, dayID("nouveau", s.first, ch.Date)
		if e.Type == catalog.ToolRestored {
			ch.Kind, ch.id = kindReturned, dayID("retour", e.Slug, ch.Date)
		}
		ch.Title = s.name + "\u00a0: " + strings.ToLower(ch.Kind)
		tagline, _ := e.Object["tagline"].(string)
		ch.summary = markdown.NoBreak(tagline)
		if score, ok := e.Object["score"].(float64); ok {
			ch.Title += ", " + french.Figure(score) + "/10"
		}
	case catalog.ToolRetired:
		ch.Kind, ch.Title = kindRetired, s.name+"\u00a0: retiré"
		day, _ := e.Object["retired_at"].(string)
		ch.id = dayID("retrait", e.Slug, cmp.Or(day, ch.Date))
		if reason, ok := e.Object["reason"].(string); ok && reasonNames[catalog.Reason(reason)] != "" {
			ch.Title += ", " + reasonNames[catalog.Reason(reason)]
		}
		note, _ := e.Object["note"].(string)
		ch.summary = markdown.NoBreak(note)
	case catalog.ToolRemoved:
		ch.Kind, ch.Title = kindRetired, cmp.Or(t.names[e.Slug], s.name)+"\u00a0: retiré"
		if s.successor != "" {
			ch.Title += ", réuni à " + s.successor
		}
	case catalog.PricingUpdated:
		p, ok := t.priceChange(e, &s)
		isBack := e == t.day(e, priceField).last && (!ok || p.IsConversion())
		if isBack && strings.HasPrefix(t.mailed[s.slug], ch.Date) && s.tool.Slug != "" {
			ch.Kind, ch.Title = kindCorrection, s.name+"\u00a0: correction, toujours "+inside(shownPrice(s.tool))
			ch.summary = "Le changement de prix que nous vous avons annoncé était une erreur."
			return true
		}
		if !ok || p.IsConversion() {
			return false
		}
		ch.Kind, ch.summary = kindPrice, describePriceChange(s.tool, &p)
		ch.Title = s.name + "\u00a0: prix, " + ch.summary
		if s.isKnown {
			ch.id = dayID("prix", s.first, p.ChangedAt)
		}
	case catalog.ToolUpdated:
		return t.describeUpdate(e, &s, ch)
	default:
		return false
	}
	return true
}

// A subject is a tool that an event is about, as it is now.
type subject struct {
	slug      string // the present one
	first     string // the one for ids
	name      string // the last one
	path      string // where to read about it
	successor string // the name of the tool that has its address now; "" unless it is another one
	authors   []string
	prices    []catalog.PriceChange
	scores    []catalog.ScoreChange
	isKnown   bool          // whether its histories are known
	tool      *catalog.Tool // as it is now; an empty one if it is not active
}

// subject returns the tool that an event is about.
func (v *view) subject(e *catalog.Event) subject {
	c := v.snap.Catalog
	name, _ := e.Object["name"].(string)
	past, isPast := c.Past[e.Slug]
	s := subject{
		slug: e.Slug, first: e.Slug, name: cmp.Or(name, past.Name, e.Slug), path: "/outils",
		prices: past.PriceHistory, scores: past.ScoreHistory, isKnown: isPast, tool: &catalog.Tool{},
	}
	now := c.Tool(e.Slug)
	if current, ok := v.snap.Aliases[e.Slug]; ok && now == nil {
		now = c.Tool(current)
		s.path = "/outils/" + current
		if isPast || e.Type == catalog.ToolRemoved { // not renamed: the other tool absorbed it
			s.successor = now.Name
			return s
		}
	}
	if now != nil {
		return subject{
			slug: now.Slug, first: v.firstSlug(record.Tool, now.Slug, now.Aliases), name: now.Name, path: "/outils/" + now.Slug, authors: now.Authors,
			prices: now.PriceHistory, scores: now.ScoreHistory, isKnown: true, tool: now,
		}
	}
	if r := v.snap.RetiredTool(e.Slug); r != nil {
		s.name, s.path = r.Name, retiredPath+e.Slug
	}
	return s
}

// priceChange returns the price change that an event announces, as the price history
// tells it: the changes of one day are one, told by the last event of the day. There is
// none once the history has lost it, as it loses a typo that is corrected on the same
// day or withdrawn.
func (t *teller) priceChange(e *catalog.Event, s *subject) (catalog.PriceChange, bool) {
	p := priceChangeOf(e)
	if !s.isKnown {
		return p, true
	}
	day := t.day(e, priceField)
	if e != day.last {
		return p, false
	}
	if told, ok := catalog.OnDay(s.prices, catalog.Day(e.At)); ok {
		return told, true
	}
	// Editors may have dated it.
	first := priceChangeOf(day.first)
	p.OldPrice, p.OldPricing = first.OldPrice, first.OldPricing
	return p, slices.ContainsFunc(s.prices, func(h catalog.PriceChange) bool {
		p.ChangedAt, p.Automatic, p.OldDisplay, p.NewDisplay = h.ChangedAt, h.Automatic, h.OldDisplay, h.NewDisplay
		return h == p
	})
}

// priceChangeOf returns the price change that an event announces.
func priceChangeOf(e *catalog.Event) catalog.PriceChange {
	text := func(from map[string]any, field string) string { s, _ := from[field].(string); return s }
	p := catalog.PriceChange{NewPrice: text(e.Object, "price"), NewPricing: catalog.Pricing(text(e.Object, "pricing"))}
	p.OldPrice, p.OldPricing = p.NewPrice, p.NewPricing
	if slices.Contains(e.Changed, "price") {
		p.OldPrice = text(e.Previous, "price")
	}
	if slices.Contains(e.Changed, "pricing") {
		p.OldPricing = catalog.Pricing(text(e.Previous, "pricing"))
	}
	return p
}

// updates are the fields of a tool whose change is shown, with their names. Prices
// have events of their own.
var updates = []struct{ field, label string }{
	{"score", "note"},
	{"verifiability", ""}, // see words
	{"name", "nom"},
	{"tagline", "présentation"},
	{"domain", "site"},
	{"category", "catégorie"},
	{"icp", "pour qui"},
}

// describeUpdate describes what changed in a tool, old → new.
func (t *teller) describeUpdate(e *catalog.Event, s *subject, ch *change) bool {
	var changes []string
	hasScore := false
	for _, u := range updates {
		before, after, ok := t.fieldChange(e, s, u.field)
		if u.field == "icp" {
			before, after, ok = t.words.audience(before), t.words.audience(after), ok && t.words.audiences != nil
		}
		if ok {
			changes = append(changes, cmp.Or(u.label, t.words.inText[u.field])+" "+fieldText(before)+" → "+fieldText(after))
			hasScore = hasScore || u.field == "score"
		}
	}
	if before, after, ok := t.obsolescence(e, s); ok {
		changes = append(changes, t.words.inText["obsolescence"]+" "+figure(before)+" → "+figure(after))
	}
	ch.summary = strings.Join(changes, "\u202f; ")
	switch {
	case hasScore:
		ch.Kind, ch.Title = kindScore, s.name+"\u00a0: "+changes[0]
		if _, ok := catalog.OnDay(s.scores, ch.Date); ok {
			ch.id = dayID("note", s.first, ch.Date)
		}
	case len(changes) > 0:
		ch.Kind, ch.Title = kindTool, s.name+"\u00a0: fiche modifiée"
	case slices.ContainsFunc(e.Changed, func(field string) bool { return slices.Contains(toldElsewhere, field) }) ||
		t.isRewriting(e) || t.isMove(e, ch.tools):
		return false
	default:
		ch.Kind, ch.Title = kindTool, s.name+"\u00a0: fiche mise à jour"
	}
	return true
}

// toldElsewhere are the fields whose changes another event tells, or none: the price has
// events of its own, and the figures of one day are told by the last event.
var toldElsewhere = []string{"price", "pricing", "score", "verifiability"}

// fieldChange returns the old and the new value of a field that an event changed, and
// reports whether this event tells it. Score and verifiability are told like prices: by
// the last event of a day, as the score history has them. A change without a history,
// from before there was one, is told by each event.
func (t *teller) fieldChange(e *catalog.Event, s *subject, field string) (before, after any, ok bool) {
	if !slices.Contains(e.Changed, field) {
		return nil, nil, false
	}
	before, after = e.Previous[field], e.Object[field]
	if field != "score" && field != "verifiability" {
		// The API says mixte of tools that nobody said it of.
		return before, after, field != "icp" || before != string(catalog.EveryICP) && after != string(catalog.EveryICP)
	}
	day := t.day(e, field)
	if day.first.Previous[field] == day.last.Object[field] {
		return nil, nil, false
	}
	told, ok := catalog.OnDay(s.scores, catalog.Day(e.At))
	if !ok {
		return before, after, true
	}
	o, n := told.OldScore, told.NewScore
	if field == "verifiability" {
		o, n = told.OldVerifiability, told.NewVerifiability
	}
	return o, n, e == day.last && !sameFigure(o, n)
}

// obsolescence returns the change of that figure on the day of an event, and reports
// whether this event tells it: the last one that moved the date of the tool. Tools in
// lists, which events have, do not show the figure.
func (t *teller) obsolescence(e *catalog.Event, s *subject) (before, after *float64, ok bool) {
	if !slices.Contains(e.Changed, "updated_at") || t.day(e, "updated_at").last != e {
		return nil, nil, false
	}
	told, ok := catalog.OnDay(s.scores, catalog.Day(e.At))
	before, after = told.OldObsolescence, told.NewObsolescence
	return before, after, ok && !sameFigure(before, after)
}

// fieldText formats the value of a field.
func fieldText(value any) string {
	switch x := value.(type) {
	case *float64:
		return figure(x)
	case float64:
		return french.Figure(x)
	case string:
		return "«\u00a0" + markdown.NoBreak(x) + "\u00a0»"
	}
	return "—"
}

// isMove reports whether an event changed only the day and addresses: those of its record, or of tools that are still
// its own. The day alone stands for what events do not have, such as plans.
func (v *view) isMove(e *catalog.Event, tools []string) bool {
	return !slices.Equal(e.Changed, []string{"updated_at"}) && !slices.ContainsFunc(e.Changed, func(field string) bool {
		before, _ := e.Previous[field].(string)
		isSame := strings.HasPrefix(field, "tool_") && slices.Contains(tools, v.subject(&catalog.Event{Slug: before}).slug)
		return !isSame && !slices.Contains([]string{"slug", "aliases", "updated_at"}, field) && !strings.HasSuffix(field, "_url")
	})
}

// isRewriting reports whether the publication of an event rewrote the review of its tool, which another event tells.
func (v *view) isRewriting(e *catalog.Event) bool {
	return slices.ContainsFunc(v.snap.Events, func(o catalog.Event) bool {
		return o.Type == catalog.ReviewUpdated && o.Slug == e.Slug && o.At.Equal(e.At)
	})
}
