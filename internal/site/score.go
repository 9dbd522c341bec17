package site

import (
	"palmares/internal/chart"
	"palmares/internal/french"
	"palmares/internal/markdown"
)

// A scoreHistory is how the figures of a tool changed.
type scoreHistory struct {
	Columns []string // the figures that changed
	Rows    []scoreRow
	Notes   bool         // some change is explained
	Chart   *chart.Chart // of the score; nil if it never changed
}

// A scoreRow is one change. Cells are those of the columns.
type scoreRow struct {
	Date  string
	Cells []string
	Note  string
}

// Scores returns the history of a tool's figures, or nil if they never changed.
func (row *toolRow) Scores() *scoreHistory {
	w, t := &row.view.words, row.Tool
	if len(t.ScoreHistory) == 0 {
		return nil
	}
	h := &scoreHistory{Chart: chart.OfScore(t, row.view.snap.UpdatedAt), Rows: make([]scoreRow, len(t.ScoreHistory))}
	for i := range t.ScoreHistory {
		c := &t.ScoreHistory[i]
		h.Rows[i] = scoreRow{Date: c.ChangedAt, Note: markdown.NoBreak(c.Note)}
		h.Notes = h.Notes || c.Note != ""
	}
	for n, label := range []string{"Note", w.figures["verifiability"], w.figures["obsolescence"]} {
		cells, changed := make([]string, len(h.Rows)), false
		for i := range t.ScoreHistory {
			c := &t.ScoreHistory[i]
			before := [...]*float64{c.OldScore, c.OldVerifiability, c.OldObsolescence}[n]
			after := [...]*float64{c.NewScore, c.NewVerifiability, c.NewObsolescence}[n]
			cells[i] = figure(after)
			if !sameFigure(before, after) {
				cells[i] = figure(before) + " → " + figure(after)
				changed = true
			}
		}
		if !changed {
			continue
		}
		h.Columns = append(h.Columns, label)
		for i := range h.Rows {
			h.Rows[i].Cells = append(h.Rows[i].Cells, cells[i])
		}
	}
	return h
}

// figure formats a figure, which is nil if it was not measured.
func figure(x *float64) string {
	if x == nil {
		return "—"
	}
	return french.Figure(*x)
}

func sameFigure(a, b *float64) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
