package publication

import (
	"context"
	"encoding/json"
	"io"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
)

// A Log is what a version changed, as text or as JSON lines: what it tells readers, then what it did to records.
type Log struct {
	Version  int64
	JSON     bool
	Language problem.Language // of what it tells
}

// Write writes it.
func (l Log) Write(ctx context.Context, of *catalogdb.Catalogue, w io.Writer) error {
	diff, err := of.Changes(ctx, l.Version)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	write := func(object any, line string) {
		switch {
		case err != nil:
		case l.JSON:
			err = out.Encode(object)
		default:
			_, err = io.WriteString(w, line)
		}
	}
	for i := range diff.Entries {
		e := &diff.Entries[i]
		title := chronicle.Title(e, l.Language)
		old, now, _ := chronicle.Values(e)
		write(logEntry{e.ID(), e.What, e.Kind, e.Slug, e.Day, title, old, now}, title+"\n")
	}
	for _, c := range Records(&diff) {
		write(c, c.line().In(l.Language)+"\n")
	}
	return err
}

// A logEntry is an entry of the chronicle for programs.
type logEntry struct {
	ID    string       `json:"id"`
	What  catalog.What `json:"what"`
	Kind  string       `json:"kind"`
	Slug  string       `json:"slug"`
	Day   string       `json:"day"`
	Title string       `json:"title"`
	Old   string       `json:"old,omitempty"`
	New   string       `json:"new,omitempty"`
}
