package catalog

import (
	"cmp"
	"slices"
)

// The fields of each kind of record, in the order of the canonical form.

// firstField is the name of the field with the oldest slug of a record, by which the chronicle knows it.
const firstField = "first_slug"

// ToolFields are the fields of a *Tool.
var ToolFields = []Field{
	NewField("slug", OwnSlug, Required|InAPI|Kept, func(t *Tool) any { return &t.Slug }),
	NewField("name", Name, Required|InAPI|Kept, func(t *Tool) any { return &t.Name }),
	NewField("domain", Domain, Required|InAPI, func(t *Tool) any { return &t.Domain }),
	NewField("category", InCategory, Required|InAPI|Kept, func(t *Tool) any { return &t.Category }),
	oneOf(NewField("icp", Enum, InAPI, func(t *Tool) any { return (*string)(&t.ICP) }), "", ICPs...),
	oneOf(NewField("pricing", Enum, Required|InAPI|Kept, func(t *Tool) any { return (*string)(&t.Pricing) }), "", Pricings...),
	newPrice("price", Required|InAPI|Kept, func(t *Tool) (*Pricing, *string) { return &t.Pricing, &t.Price }),
	NewField("price_display", Short, Kept, func(t *Tool) any { return &t.PriceDisplay }),
	NewList("plans", 0, func(t *Tool) *[]PlanRow { return &t.Plans }, planFields),
	NewField("tagline", Line, Required|InAPI, func(t *Tool) any { return &t.Tagline }),
	NewField("title_tag", Line, 0, func(t *Tool) any { return &t.TitleTag }),
	NewField("description", Line, 0, func(t *Tool) any { return &t.Description }),
	NewField("affiliate_url", Link, 0, func(t *Tool) any { return &t.AffiliateURL }),
	NewField("author", Names, 0, func(t *Tool) any { return &t.Authors }),
	NewField("logo", Image, 0, func(t *Tool) any { return &t.Logo }),
	NewField("image", Image, 0, func(t *Tool) any { return &t.Image }),
	NewField("score", Figure, InAPI|Kept, func(t *Tool) any { return &t.Score }),
	NewField("verifiability", Figure, InAPI|Kept, func(t *Tool) any { return &t.Verifiability }),
	NewField("obsolescence", Figure, Kept, func(t *Tool) any { return &t.Obsolescence }),
	NewField("tier", Tier, Always, func(t *Tool) any { return &t.Tier }),
	NewField("mainstream", Flag, 0, func(t *Tool) any { return &t.Mainstream }),
	NewField("added_at", Date, 0, func(t *Tool) any { return &t.AddedAt }),
	NewField("updated_at", Date, Always|InAPI, func(t *Tool) any { return &t.UpdatedAt }),
	NewField("canonical_url", Link, Always|InAPI, func(t *Tool) any { return &t.CanonicalURL }),
	NewField("avis_url", Link, InAPI, func(t *Tool) any { return &t.ReviewURL }),
	NewField("alternatives_url", Link, Always|InAPI, func(t *Tool) any { return &t.AlternativesURL }),
	NewField("tested_at", Date, 0, func(t *Tool) any { return &t.TestedAt }),
	NewField("tested_version", Short, 0, func(t *Tool) any { return &t.TestedVersion }),
	NewField("tested_plan", Short, 0, func(t *Tool) any { return &t.TestedPlan }),
	oneOf(NewField("access", Enum, 0, func(t *Tool) any { return (*string)(&t.Access) }), "", Accesses...),
	NewField("interests", Line, 0, func(t *Tool) any { return &t.Interests }),
	NewField("protocol", Short, 0, func(t *Tool) any { return &t.Protocol }),
	NewField("summary", Summary, 0, func(t *Tool) any { return &t.Summary }),
	NewField("pros", Lines, 0, func(t *Tool) any { return &t.Pros }),
	NewField("cons", Lines, 0, func(t *Tool) any { return &t.Cons }),
	NewField("usages", UsageSlugs, Kept, func(t *Tool) any { return &t.Usages }),
	NewField("criteria", Marks, Kept, func(t *Tool) any { return &t.Criteria }),
	NewField("price_checked_at", Date, 0, func(t *Tool) any { return &t.PriceCheckedAt }),
	NewField("price_source", Link, 0, func(t *Tool) any { return &t.PriceSource }),
	NewField("price_quote", Quote, 0, func(t *Tool) any { return &t.PriceQuote }),
	NewField("sources", Links, 0, func(t *Tool) any { return &t.Sources }),
	NewField("aliases", Slugs, 0, func(t *Tool) any { return &t.Aliases }),
	NewField(firstField, Short, Kept, func(t *Tool) any { return &t.FirstSlug }),
	oneOf(NewField("price_history_mode", Option, Kept, func(t *Tool) any { return &t.PriceHistoryMode }), "", historyModes...),
	NewList("price_history", Kept, func(t *Tool) *[]PriceChange { return &t.PriceHistory }, priceChangeFields),
	NewField("score_note", Prose, 0, func(t *Tool) any { return &t.ScoreNote }),
	oneOf(NewField("score_history_mode", Option, Kept, func(t *Tool) any { return &t.ScoreHistoryMode }), "", historyModes...),
	NewList("score_history", Kept, func(t *Tool) *[]ScoreChange { return &t.ScoreHistory }, scoreChangeFields),
	NewList("criteria_history", Kept, func(t *Tool) *[]CriteriaChange { return &t.CriteriaHistory }, criteriaChangeFields),
	NewList("announced", 0, func(t *Tool) *[]Announcement { return &t.Announced }, announcementFields),
	NewField("draft", Draft, 0, func(t *Tool) any { return &t.Draft }),
	NewField("publish_at", PublishAt, 0, func(t *Tool) any { return &t.PublishAt }),
	NewField("body", Body, 0, func(t *Tool) any { return &t.Body }),
}

var criteriaChangeFields = []Field{
	NewField("changed_at", Date, Required, func(e *CriteriaChange) any { return &e.ChangedAt }),
	NewField("old", Marks, 0, func(e *CriteriaChange) any { return &e.Old }),
	NewField("new", Marks, 0, func(e *CriteriaChange) any { return &e.New }),
}

var planFields = []Field{
	NewField("name", Name, Required, func(p *PlanRow) any { return &p.Name }),
	NewField("price", Short, Required, func(p *PlanRow) any { return &p.Price }),
	NewField("note", Line, 0, func(p *PlanRow) any { return &p.Note }),
}

var priceChangeFields = []Field{
	NewField("changed_at", Date, Required, func(e *PriceChange) any { return &e.ChangedAt }),
	oneOf(NewField("old_pricing", Enum, Required, func(e *PriceChange) any { return (*string)(&e.OldPricing) }),
		"", Pricings...),
	newPrice("old_price", Required, func(e *PriceChange) (*Pricing, *string) { return &e.OldPricing, &e.OldPrice }),
	oneOf(NewField("new_pricing", Enum, Required, func(e *PriceChange) any { return (*string)(&e.NewPricing) }),
		"", Pricings...),
	newPrice("new_price", Required, func(e *PriceChange) (*Pricing, *string) { return &e.NewPricing, &e.NewPrice }),
	NewField("old_display", Short, 0, func(e *PriceChange) any { return &e.OldDisplay }),
	NewField("new_display", Short, 0, func(e *PriceChange) any { return &e.NewDisplay }),
}

var announcementFields = []Field{
	NewField("from", Date, Required, func(a *Announcement) any { return &a.From }),
	oneOf(NewField("pricing", Enum, 0, func(a *Announcement) any { return (*string)(&a.Pricing) }), "", Pricings...),
	newPrice("price", 0, func(a *Announcement) (*Pricing, *string) { return &a.Pricing, &a.Price }),
	NewField("price_display", Short, 0, func(a *Announcement) any { return &a.PriceDisplay }),
	NewField("price_source", Link, 0, func(a *Announcement) any { return &a.PriceSource }),
	NewField("price_quote", Quote, 0, func(a *Announcement) any { return &a.PriceQuote }),
	NewField("price_checked_at", Date, 0, func(a *Announcement) any { return &a.PriceCheckedAt }),
	oneOf(NewField("retire", Enum, 0, func(a *Announcement) any { return (*string)(&a.Retire) }), "", Reasons...),
	NewField("successor", ToolSlug, 0, func(a *Announcement) any { return &a.Successor }),
	NewField("source", Link, 0, func(a *Announcement) any { return &a.Source }),
}

var scoreChangeFields = []Field{
	NewField("changed_at", Date, Required, func(e *ScoreChange) any { return &e.ChangedAt }),
	NewField("old_score", Figure, 0, func(e *ScoreChange) any { return &e.OldScore }),
	NewField("new_score", Figure, 0, func(e *ScoreChange) any { return &e.NewScore }),
	NewField("old_verifiability", Figure, 0, func(e *ScoreChange) any { return &e.OldVerifiability }),
	NewField("new_verifiability", Figure, 0, func(e *ScoreChange) any { return &e.NewVerifiability }),
	NewField("old_obsolescence", Figure, 0, func(e *ScoreChange) any { return &e.OldObsolescence }),
	NewField("new_obsolescence", Figure, 0, func(e *ScoreChange) any { return &e.NewObsolescence }),
	NewField("note", Prose, 0, func(e *ScoreChange) any { return &e.Note }),
}

// ComparisonFields are the fields of a *Comparison.
var ComparisonFields = []Field{
	NewField("slug", OwnSlug, Required|InAPI, func(x *Comparison) any { return &x.Slug }),
	NewField("title", Line, Required|InAPI, func(x *Comparison) any { return &x.Title }),
	NewField("tool_a", ToolSlug, Required|InAPI, func(x *Comparison) any { return &x.ToolA }),
	NewField("tool_b", ToolSlug, Required|InAPI, func(x *Comparison) any { return &x.ToolB }),
	NewField("winner", ToolSlug, Required|InAPI, func(x *Comparison) any { return &x.Winner }),
	NewField("winner_note", Prose, Required|InAPI, func(x *Comparison) any { return &x.WinnerNote }),
	NewField("updated_at", Date, Always|InAPI, func(x *Comparison) any { return &x.UpdatedAt }),
	NewField("author", Names, 0, func(x *Comparison) any { return &x.Authors }),
	NewField("aliases", Slugs, 0, func(x *Comparison) any { return &x.Aliases }),
	NewField(firstField, Short, 0, func(x *Comparison) any { return &x.FirstSlug }),
	NewField("image", Image, 0, func(x *Comparison) any { return &x.Image }),
	NewField("draft", Draft, 0, func(x *Comparison) any { return &x.Draft }),
	NewField("publish_at", PublishAt, 0, func(x *Comparison) any { return &x.PublishAt }),
	NewField("published", Published, 0, func(x *Comparison) any { return &x.Published }),
	NewField("body", Body, 0, func(x *Comparison) any { return &x.Body }),
}

// RetiredFields are the fields of a *Retired. Its Note is made from its body.
var RetiredFields = []Field{
	NewField("slug", OwnSlug, Required|InAPI, func(r *Retired) any { return &r.Slug }),
	NewField("name", Name, Required|InAPI, func(r *Retired) any { return &r.Name }),
	NewField("category", InCategory, Required, func(r *Retired) any { return &r.Category }),
	oneOf(NewField("reason", Enum, Required|InAPI, func(r *Retired) any { return (*string)(&r.Reason) }), "", Reasons...),
	NewField("retired_at", Date, Required|InAPI, func(r *Retired) any { return &r.RetiredAt }),
	NewField("successor", ToolSlug, 0, func(r *Retired) any { return &r.Successor }),
	NewField("leaving", Prose, 0, func(r *Retired) any { return &r.Leaving }),
	NewField("sources", Links, 0, func(r *Retired) any { return &r.Sources }),
	NewField("last_score", Figure, 0, func(r *Retired) any { return &r.LastScore }),
	NewField("last_price", Price, 0, func(r *Retired) any { return &r.LastPrice }),
	NewField("usages", UsageSlugs, 0, func(r *Retired) any { return &r.Usages }),
	NewField(firstField, Short, 0, func(r *Retired) any { return &r.FirstSlug }),
	NewList("price_history", 0, func(r *Retired) *[]PriceChange { return &r.PriceHistory }, priceChangeFields),
	NewList("score_history", 0, func(r *Retired) *[]ScoreChange { return &r.ScoreHistory }, scoreChangeFields),
	NewField("draft", Draft, 0, func(r *Retired) any { return &r.Draft }),
	NewField("publish_at", PublishAt, 0, func(r *Retired) any { return &r.PublishAt }),
	NewField("body", Body, 0, func(r *Retired) any { return &r.Body }),
}

// PageFields are the fields of a *Page.
var PageFields = []Field{
	NewField("slug", OwnSlug, Required, func(p *Page) any { return &p.Slug }),
	NewField("title", Line, Required, func(p *Page) any { return &p.Title }),
	oneOf(NewField("menu", Enum, Always, func(p *Page) any { return (*string)(&p.Menu) }), MenuFooter, Menus...),
	NewField("description", Line, 0, func(p *Page) any { return &p.Description }),
	NewField("author", Names, 0, func(p *Page) any { return &p.Authors }),
	NewField("date", Date, 0, func(p *Page) any { return &p.Date }),
	NewField("aliases", Slugs, 0, func(p *Page) any { return &p.Aliases }),
	NewField(firstField, Short, 0, func(p *Page) any { return &p.FirstSlug }),
	NewField("image", Image, 0, func(p *Page) any { return &p.Image }),
	NewField("draft", Draft, 0, func(p *Page) any { return &p.Draft }),
	NewField("publish_at", PublishAt, 0, func(p *Page) any { return &p.PublishAt }),
	NewField("unpublish_at", Time, 0, func(p *Page) any { return &p.UnpublishAt }),
	NewField("body", Body, 0, func(p *Page) any { return &p.Body }),
}

// ArticleFields are the fields of an *Article.
var ArticleFields = []Field{
	NewField("slug", OwnSlug, Required, func(a *Article) any { return &a.Slug }),
	NewField("title", Line, Required, func(a *Article) any { return &a.Title }),
	NewField("author", Names, Required, func(a *Article) any { return &a.Authors }),
	NewField("date", Date, Required, func(a *Article) any { return &a.Date }),
	NewField("description", Line, 0, func(a *Article) any { return &a.Description }),
	NewField("image", Image, 0, func(a *Article) any { return &a.Image }),
	NewField("category", InCategory, 0, func(a *Article) any { return &a.Category }),
	NewField("tools", ToolSlugs, 0, func(a *Article) any { return &a.Tools }),
	NewField("aliases", Slugs, 0, func(a *Article) any { return &a.Aliases }),
	NewField(firstField, Short, 0, func(a *Article) any { return &a.FirstSlug }),
	NewField("sponsored", Flag, 0, func(a *Article) any { return &a.Sponsored }),
	NewField("draft", Draft, 0, func(a *Article) any { return &a.Draft }),
	NewField("publish_at", PublishAt, 0, func(a *Article) any { return &a.PublishAt }),
	NewField("unpublish_at", Time, 0, func(a *Article) any { return &a.UnpublishAt }),
	NewField("body", Body, 0, func(a *Article) any { return &a.Body }),
}

// AuthorFields are the fields of an *Author.
var AuthorFields = []Field{
	NewField("slug", OwnSlug, Required, func(a *Author) any { return &a.Slug }),
	NewField("name", Name, Required, func(a *Author) any { return &a.Name }),
	NewField("role", Line, 0, func(a *Author) any { return &a.Role }),
	NewField("image", Image, 0, func(a *Author) any { return &a.Image }),
	NewField("links", Links, 0, func(a *Author) any { return &a.Links }),
	NewField("draft", Draft, 0, func(a *Author) any { return &a.Draft }),
	NewField("body", Body, 0, func(a *Author) any { return &a.Body }),
}

// CatalogueFields are the fields of catalogue.yaml, in a *Catalog whose categories are
// InOrder.
var CatalogueFields = []Field{
	NewField("name", Name, Required, func(c *Catalog) any { return &c.Name }),
	NewField("url", Site, Required, func(c *Catalog) any { return &c.URL }),
	NewField("headline", Line, 0, func(c *Catalog) any { return &c.Settings.Headline }),
	NewField("introduction", Markdown, 0, func(c *Catalog) any { return &c.Settings.Introduction }),
	NewField("description", Line, 0, func(c *Catalog) any { return &c.Settings.Description }),
	NewField("contact", Contact, 0, func(c *Catalog) any { return &c.Settings.Contact }),
	NewField("publisher", Name, 0, func(c *Catalog) any { return &c.Settings.Publisher }),
	NewField("logo", Image, 0, func(c *Catalog) any { return &c.Settings.Logo }),
	NewField("share_image", Image, 0, func(c *Catalog) any { return &c.Settings.ShareImage }),
	NewObject("theme", 0, func(c *Catalog) *[]Theme { return &c.Settings.Theme }, themeFields),
	NewObject("labels", 0, func(c *Catalog) *[]Labels { return &c.Settings.Labels }, labelFields),
	NewField("timezone", Zone, 0, func(c *Catalog) any { return &c.Settings.Timezone }),
	oneOf(NewField("pro", Option, 0, func(c *Catalog) any { return &c.Settings.Pro }), "", "show", ProHide),
	oneOf(NewField("dataset", Option, 0, func(c *Catalog) any { return &c.Settings.Dataset }),
		"", "full", DatasetHead, DatasetOff),
	NewField("price_max_age", Days, 0, func(c *Catalog) any { return &c.Settings.PriceMaxAge }),
	NewObject("licence", 0, func(c *Catalog) *[]Licence { return &c.Settings.Licence }, licenceFields),
	oneOf(NewField("ai_training", Enum, 0, func(c *Catalog) any { return &c.Settings.AITraining }), "", "allow", TrainingDenied),
	NewField("robots", Lines, 0, func(c *Catalog) any { return &c.Settings.Robots }),
	NewObject("warnings", 0, func(c *Catalog) *[]Silence { return &c.Settings.Warnings }, []Field{
		NewField("ignore", Lines, 0, func(s *Silence) any { return &s.Ignore }),
	}),
	oneOf(NewField("readership", Option, 0, func(c *Catalog) any { return &c.Settings.Readership }), "", "on", "off"),
	NewList("categories", Required, func(c *Catalog) *[]Category { return &c.Categories }, categoryFields),
}

var licenceFields = []Field{
	oneOf(NewField("name", Name, Required, func(l *Licence) any { return &l.Name }), "", "open", Reserved), // or other terms
	NewField("url", Link, 0, func(l *Licence) any { return &l.URL }),
}

var themeFields = []Field{
	NewField("accent", Colour, 0, func(t *Theme) any { return &t.Accent }),
	NewField("accent_dark", Colour, 0, func(t *Theme) any { return &t.AccentDark }),
	oneOf(NewField("font", Option, 0, func(t *Theme) any { return &t.Font }), "", "serif", FontSans),
}

var labelFields = []Field{
	NewField("verifiability", Short, 0, func(l *Labels) any { return &l.Verifiability }),
	NewField("obsolescence", Short, 0, func(l *Labels) any { return &l.Obsolescence }),
	NewField("vibe-coder", Short, 0, func(l *Labels) any { return &l.VibeCoder }),
	NewField("agentic-engineer", Short, 0, func(l *Labels) any { return &l.AgenticEngineer }),
	NewField(string(EveryICP), Short, 0, func(l *Labels) any { return &l.Mixed }),
	oneOf(NewField("icp", Option, 0, func(l *Labels) any { return &l.ICP }), "", "show", ICPHide),
}

var categoryFields = []Field{
	NewField("slug", OwnSlug, Required, func(c *Category) any { return &c.Slug }),
	NewField("label", Name, Required, func(c *Category) any { return &c.Label }),
	NewField("description", Markdown, 0, func(c *Category) any { return &c.Description }),
	NewField("aliases", Slugs, 0, func(c *Category) any { return &c.Aliases }),
	NewList("usages", 0, func(c *Category) *[]Usage { return &c.Usages }, usageFields),
	NewObject("protocol", 0, func(c *Category) *[]Protocol { return &c.Protocol }, protocolFields),
	NewList("criteria", 0, func(c *Category) *[]Criterion { return &c.Criteria }, criterionFields),
	NewList("profiles", 0, func(c *Category) *[]Profile { return &c.Profiles }, profileFields),
}

var usageFields = []Field{
	NewField("slug", OwnSlug, Required, func(u *Usage) any { return &u.Slug }),
	NewField("label", Name, Required, func(u *Usage) any { return &u.Label }),
}

var protocolFields = []Field{
	NewField("version", Short, Required, func(p *Protocol) any { return &p.Version }),
	NewField("page", PageSlug, 0, func(p *Protocol) any { return &p.Page }),
	NewField("since", Date, 0, func(p *Protocol) any { return &p.Since }),
}

var criterionFields = []Field{
	NewField("slug", OwnSlug, Required, func(c *Criterion) any { return &c.Slug }),
	NewField("label", Name, Required, func(c *Criterion) any { return &c.Label }),
	NewField("description", Line, 0, func(c *Criterion) any { return &c.Description }),
	oneOf(NewField("kind", Enum, 0, func(c *Criterion) any { return (*string)(&c.Kind) }), "",
		KindMark, KindMeasure, KindYesNo),
	NewField("unit", Short, 0, func(c *Criterion) any { return &c.Unit }),
	oneOf(NewField("better", Enum, 0, func(c *Criterion) any { return (*string)(&c.Better) }), "",
		BetterHigher, BetterLower),
	NewField("worst", Number, 0, func(c *Criterion) any { return &c.Worst }),
	NewField("best", Number, 0, func(c *Criterion) any { return &c.Best }),
}

var profileFields = []Field{
	NewField("label", Name, Required, func(p *Profile) any { return &p.Label }),
	NewField("weights", Weights, Required, func(p *Profile) any { return &p.Weights }),
}

// InOrder returns the catalogue without its records, with its categories in the order of
// catalogue.yaml.
func (c *Catalog) InOrder() *Catalog {
	ordered := &Catalog{Name: c.Name, URL: c.URL, Settings: c.Settings, Categories: slices.Clone(c.Categories)}
	slices.SortStableFunc(ordered.Categories, func(a, b Category) int { return cmp.Compare(a.Position, b.Position) })
	return ordered
}
