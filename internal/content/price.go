package content

import (
	"regexp"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// isOnRequest reports whether a price is said not to be public, and reports one beside another model
// than payant.
func (d *decoder) isOnRequest(f *catalog.Field, to any) bool {
	given := d.find(f.Name)
	if f.Form != catalog.Price || given == nil {
		return false
	}
	model, v := new(catalog.Pricing), &given.Value
	if f.Model != nil {
		model = f.Model(to)
	}
	isRequired := f.Use.Has(catalog.Required) && !d.isDraft
	isNone := v.Kind == tree.Null && strings.HasSuffix(d.file, ".jsonl") && f.Model != nil && (isRequired || *model == catalog.Paid)
	if !isNone && (v.Kind != tree.Text || v.Text != catalog.OnRequest && v.Text != "S"+catalog.OnRequest[1:]) {
		return false
	}
	if *model != "" && *model != catalog.Paid {
		d.report(v.Line, "on-request-model", d.label(f.Name), *model)
	}
	*model = catalog.Paid
	d.known = append(d.known, f.Name)
	return true
}

func (d *decoder) price(at label, v *tree.Value) string {
	rule := rule{catalog.IsPrice, problem.New("want-price")}
	if plain := plainEuro.Replace(v.Text); plain != v.Text && catalog.IsPrice(plain) {
		rule.want = problem.New("want-plain-space")
	} else if !catalog.IsPrice(v.Text) {
		given := strings.Replace(v.Text, ".", ",", 1)
		meant := nearPrice.ReplaceAllString(given, "$1$2 €/$3")
		if nearPrice.MatchString(given) && catalog.IsPrice(meant) {
			rule.want = problem.New("want-written", meant)
		}
	}
	s := d.valid(at, v, rule)
	if euros, _, _ := catalog.Amount(s); euros > maxPrice {
		d.report(v.Line, "price-too-large", at, tree.Quoted(s))
		return ""
	}
	return s
}

// maxPrice is the highest amount that is not taken for a mistake, in euros.
const maxPrice = 10_000_000

// nearPrice is a price but for its spaces. 1,200 may be meant as either number.
var nearPrice = regexp.MustCompile(
	`^\s*([0-9][0-9 \x{a0}\x{202f}]*?)(,[0-9]{1,2})?[\s\x{a0}\x{202f}]*€\s*(?:/|par )\s*(\pL+)\s*$`,
)

// plainEuro replaces the other spaces before €.
var plainEuro = strings.NewReplacer("\u00a0€", " €", "\u202f€", " €")
