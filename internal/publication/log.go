package publication

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
)

// A Log is what a version changed, as text or as JSON lines.
type Log struct {
	Version int64
	JSON    bool
}

// Write writes it.
func (l Log) Write(ctx context.Context, of *catalogdb.Catalogue, w io.Writer) error {
	diff, isKept, err := of.Changes(ctx, l.Version)
	if err != nil {
		return err
	}
	if l.JSON {
		return writeLines(w, &diff)
	}
	if !isKept {
		_, err = fmt.Fprintf(w, "the events of version %d are no longer kept; what follows is the rest\n", l.Version)
		if err != nil {
			return err
		}
	}
	return WriteChanges(w, &diff)
}

// writeLines writes the events of a version for programs, then the changes that no event
// tells.
func writeLines(w io.Writer, d *catalog.Diff) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, change := range d.Changes {
		err := out.Encode(struct {
			Type     string         `json:"type"`
			Slug     string         `json:"slug"`
			Changed  []string       `json:"changed"`
			Previous map[string]any `json:"previous"`
			Object   catalog.Object `json:"object"`
		}{change.Type, change.Slug, change.Changed, change.Previous, change.Object})
		if err != nil {
			return err
		}
	}
	for _, record := range slices.Sorted(maps.Keys(d.Parts)) {
		err := out.Encode(struct {
			Record string         `json:"record"`
			Parts  []catalog.Part `json:"parts"`
		}{record, d.Parts[record]})
		if err != nil {
			return err
		}
	}
	return nil
}
