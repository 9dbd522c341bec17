package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What a category says about the tests of its tools.

// A Usage is a job inside a category.
type Usage struct {
	Slug  string
	Label string
}

// A Protocol is how the tools of a category are tested.
type Protocol struct {
	Version string
	Page    string // the slug of a page that explains it, or ""
	Since   string // YYYY-MM-DD, or ""
}

// A Criterion is one thing that tests look at: a mark from 0 to 10, a measure between Worst and
// Best, or a question that is answered with yes or no.
type Criterion struct {
	Slug        string
	Label       string
	Description string
	Kind        CriterionKind
	Unit        string // of a measure
	Better      Better
	Worst, Best *float64 // of a measure
}

// CriterionKind says what the values of a criterion are.
type CriterionKind string

// The kinds. A criterion that does not say is a measure if it has Worst and Best, or else a mark.
const (
	KindMark    CriterionKind = "mark"
	KindMeasure CriterionKind = "measure"
	KindYesNo   CriterionKind = "yesno"
)

// Better says which values of a measure are the better ones; "" means what Worst and Best say.
type Better string

// The values of Better.
const (
	BetterHigher Better = "higher"
	BetterLower  Better = "lower"
)

// Is returns the kind of the criterion.
func (c *Criterion) Is() CriterionKind {
	if c.Kind == "" && (c.Worst != nil || c.Best != nil) {
		return KindMeasure
	}
	return cmp.Or(c.Kind, KindMark)
}

// Place returns where a value stands between the worst, 0, and the best, 1.
func (c *Criterion) Place(v Value) float64 {
	switch {
	case v.IsFlag:
		return v.Number
	case c.Is() == KindMeasure && c.Worst != nil && c.Best != nil:
		return min(max((v.Number-*c.Worst)/(*c.Best-*c.Worst), 0), 1)
	default:
		return min(max(v.Number/10, 0), 1)
	}
}

// MaxWeight is the largest weight of a criterion.
const MaxWeight = 100

// A Profile is a set of weights that a publisher proposes to readers.
type Profile struct {
	Label   string
	Weights Values
}

// Criterion returns the criterion with the given slug, or nil.
func (c *Category) Criterion(slug string) *Criterion {
	i := slices.IndexFunc(c.Criteria, func(x Criterion) bool { return x.Slug == slug })
	if i < 0 {
		return nil
	}
	return &c.Criteria[i]
}

// Same reports whether two categories say the same, wherever they stand.
func (c *Category) Same(o *Category) bool { return isSame(categoryFields, c, o) }

// HasUsage reports whether the category has the given usage.
func (c *Category) HasUsage(slug string) bool {
	return slices.ContainsFunc(c.Usages, func(u Usage) bool { return u.Slug == slug })
}

// TestedUnder returns the version of the protocol that a tool of the category was tested under,
// and reports whether it is the one in force. Nothing is known ("", true) of a tool that was not
// tested, and of a category without a protocol; "" with false is a former one without a name.
func (c *Category) TestedUnder(t *Tool) (version string, isCurrent bool) {
	if len(c.Protocol) == 0 || t.TestedAt == "" {
		return t.Protocol, true
	}
	p := &c.Protocol[0]
	switch {
	case t.Protocol != "":
		return t.Protocol, t.Protocol == p.Version
	case t.TestedAt >= p.Since:
		return p.Version, true
	default:
		return "", false
	}
}

// Access says how the testers had access to a tool.
type Access string

// Accesses lists the values of Access, in the order used by error messages.
var Accesses = []Access{"paid", "lent", "free", "offered"}

// Values are numbers, and answers with yes or no, by name, in the order of the names.
type Values []Value

// A Value is one of them. The Number of a flag is 1 for yes and 0 for no.
type Value struct {
	Name   string
	Number float64
	IsFlag bool
}

// Compare compares the names of two values.
func (v Value) Compare(o Value) int { return cmp.Compare(v.Name, o.Name) }

// Of returns the value with a name.
func (vs Values) Of(name string) (Value, bool) {
	i, found := slices.BinarySearchFunc(vs, Value{Name: name}, Value.Compare)
	if !found {
		return Value{}, false
	}
	return vs[i], true
}

// String returns the value as JSON.
func (v Value) String() string {
	if v.IsFlag {
		return strconv.FormatBool(v.Number != 0)
	}
	return strconv.FormatFloat(v.Number, 'f', -1, 64)
}

// MarshalJSON returns the values as an object.
func (vs Values) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, v.Name) // a slug
		b = append(b, ':')
		b = append(b, v.String()...)
	}
	return append(b, '}'), nil
}

// A CriteriaChange is one entry of the history of a tool's criteria: those that changed, before and
// after. One that is only in Old or only in New was not measured on the other side.
type CriteriaChange struct {
	ChangedAt string `json:"changed_at"`
	Old       Values `json:"old"`
	New       Values `json:"new"`

	Automatic bool `json:"-"` // made by a publication, not by an editor
}

func (e CriteriaChange) day() string       { return e.ChangedAt }
func (e CriteriaChange) isAutomatic() bool { return e.Automatic }

func (e CriteriaChange) key() any {
	var b strings.Builder
	b.WriteString(e.ChangedAt)
	for _, side := range []Values{e.Old, e.New} {
		b.WriteByte('\n')
		for _, v := range side {
			b.WriteString(v.Name + "=" + v.String() + " ")
		}
	}
	return b.String()
}

func (e CriteriaChange) startsLike(o CriteriaChange) bool { return slices.Equal(e.Old, o.Old) }
func (e CriteriaChange) isNothing() bool                  { return slices.Equal(e.Old, e.New) }

func (e CriteriaChange) until(later CriteriaChange) CriteriaChange {
	before := func(name string) (Value, bool) {
		if e.mentions(name) {
			return e.Old.Of(name)
		}
		return later.Old.Of(name)
	}
	after := func(name string) (Value, bool) {
		if later.mentions(name) {
			return later.New.Of(name)
		}
		return e.New.Of(name)
	}
	e.Old, e.New = differences(slices.Concat(e.Old, e.New, later.Old, later.New), before, after)
	return e
}

func (e CriteriaChange) mentions(name string) bool {
	_, before := e.Old.Of(name)
	_, after := e.New.Of(name)
	return before || after
}

// Before returns values as they were before the change, and After as they were after it.
func (e *CriteriaChange) Before(values Values) Values { return e.replace(values, e.Old) }

// After is explained at Before.
func (e *CriteriaChange) After(values Values) Values { return e.replace(values, e.New) }

func (e *CriteriaChange) replace(values, side Values) Values {
	rest := slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return e.mentions(v.Name) })
	rest = append(rest, side...)
	slices.SortFunc(rest, Value.Compare)
	return rest
}

// differences returns the values that are not the same before and after.
func differences(all Values, before, after func(name string) (Value, bool)) (from, to Values) {
	slices.SortFunc(all, Value.Compare)
	all = slices.CompactFunc(all, func(a, b Value) bool { return a.Name == b.Name })
	for _, v := range all {
		a, hadOne := before(v.Name)
		b, hasOne := after(v.Name)
		if hadOne == hasOne && a == b {
			continue
		}
		if hadOne {
			from = append(from, a)
		}
		if hasOne {
			to = append(to, b)
		}
	}
	return from, to
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (vs *Values) UnmarshalJSON(text []byte) error {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := Value{Name: name}
		switch x := all[name].(type) {
		case float64:
			v.Number = x
		case bool:
			v.IsFlag = true
			if x {
				v.Number = 1
			}
		default:
			return fmt.Errorf("%s is neither a number nor true or false", name)
		}
		*vs = append(*vs, v)
	}
	return nil
}
