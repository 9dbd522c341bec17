package chart

import (
	"palmares/internal/french"
	"palmares/internal/market"
)

// A Plot is a map as a picture: scores against prices per month on a logarithmic axis,
// with the free tools in a lane of their own. It is drawn twice, for narrow and for wide
// screens: marks that are apart on one are a blot on the other.
type Plot struct {
	Small    bool
	Summary  string
	Drawings []Drawing // the wide one last
	Joined   bool      // a line joins the frontier
	Ties     bool      // tools of the frontier share a mark, and it is the only one
	Tools    int       // on the map
	Wider    bool      // marks stand for several tools on a wide screen, and so on a narrow one
	Narrower bool      // they do only on a narrow screen
}

// A Drawing is a plot for a range of screens. Positions are in percent of a drawing without
// a view box, so that it fits its screens while texts keep their size.
type Drawing struct {
	Class    string
	Marks    []Mark
	Steps    []Segment // the frontier
	Rows     []Label
	Columns  []Label
	Lane     string // width of the lane of free tools in percent; "" for none
	LaneName *Label // nil for none
}

// A Mark is a tool, or several that are too close to each other to be shown one by one.
type Mark struct {
	X, Y     string
	Radius   string
	Href     string
	Name     string   // shown on focus, and always beside some of the frontier
	Lines    []string // shown below Name on focus
	Label    string   // for screen readers
	Frontier bool
	Place    Place

	Point  market.Point
	Others int // tools that the mark stands for besides Point

	names  []string // of the tools that the mark stands for
	near   bool     // some of Others are elsewhere, but close
	x, y   float64
	radius float64 // pixels
}

// A Place says where the name of a mark is.
type Place struct {
	Class  string // CSS classes
	DX, DY int
}

// A Segment is a line from one point to another.
type Segment struct{ X1, Y1, X2, Y2 string }

// A layout is what the drawings for a range of screens may have of marks, and the pixels
// that they measure at least.
type layout struct {
	class         string
	marks         int
	cell          float64 // pixels of the narrowest drawing that a mark needs for itself; 0 for no limit
	width, height float64
}

// From a phone of 305 pixels to less than 48rem, and from there on.
var (
	fullPlot = []layout{
		{"plot-narrow", 250, 22, 236, 400},
		{"plot-wide", 250, 0, 640, 500},
	}
	smallPlot = []layout{
		{"plot-narrow", 120, 22, 236, 265},
		{"plot-wide", 120, 0, 640, 290},
	}
)

// NewPlot draws a map, or returns nil if no tool is on it.
func NewPlot(m *market.Map, isSmall bool) *Plot {
	if len(m.Points) == 0 {
		return nil
	}
	layouts := fullPlot
	if isSmall {
		layouts = smallPlot
	}
	p := &Plot{Small: isSmall, Tools: len(m.Points), Summary: summarize(m)}
	a := newAxes(m.Points)
	for i := range layouts {
		d := newDrawing(a, m.Points, &layouts[i])
		p.Joined = len(d.Steps) > 0
		p.Ties = len(m.Points) > 1 && m.Points[0].Frontier && m.Points[1].Frontier && !p.Joined
		p.Narrower, p.Wider = p.Narrower || p.Wider, false
		for k := range d.Marks {
			p.Wider = p.Wider || d.Marks[k].near
		}
		p.Drawings = append(p.Drawings, d)
	}
	p.Narrower = p.Narrower && !p.Wider
	return p
}

// maxFindable is how many tools a map may have that names all of them, for visitors who look for one.
const maxFindable = 1000

// IsFindable reports whether every tool can be found on the map by its name.
func (p *Plot) IsFindable() bool { return !p.Small && p.Tools <= maxFindable }

// Marks returns the marks of the wide drawing.
func (p *Plot) Marks() []Mark { return p.Drawings[len(p.Drawings)-1].Marks }

func newDrawing(a axes, points []market.Point, l *layout) Drawing {
	d := Drawing{Class: l.class, Marks: a.marks(points, l)}
	for i := range d.Marks {
		d.Marks[i].describe()
	}
	d.join()
	d.grid(a, l)
	d.nameFrontier(l)
	return d
}

// summarize describes a map in words.
func summarize(m *market.Map) string {
	frontier := m.Frontier()
	s := "Note et prix par mois d’un outil. Qu’aucun autre ne bat\u00a0: "
	if n := len(m.Points); n > 1 {
		s = "Note et prix par mois de " + french.Plural(n, "outil", "outils") + ". Qu’aucun autre ne bat\u00a0: "
	}
	for i, p := range frontier {
		if i > 0 {
			s += ", "
		}
		if i == 12 {
			return s + "et " + french.Count(len(frontier)-i) + " de plus."
		}
		s += p.Tool.Name + " (" + french.Figure(p.Score) + ", " + PerMonth(p.Tool) + ")"
	}
	return s + "."
}

// join draws the frontier as steps: the best score at each price.
func (d *Drawing) join() {
	var last *Mark
	for i := range d.Marks {
		m := &d.Marks[i]
		if !m.Frontier {
			continue
		}
		if last != nil {
			d.Steps = append(d.Steps, Segment{last.X, last.Y, m.X, last.Y}, Segment{m.X, last.Y, m.X, m.Y})
		}
		last = m
	}
}
