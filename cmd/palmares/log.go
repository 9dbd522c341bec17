package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/node"
	"palmares/internal/publication"
)

type logCommand struct {
	Version int64 `arg:"" optional:"" help:"Version whose changes to list (default: list the versions)."`
	Limit   int   `help:"How many versions to list." default:"20" env:"PALMARES_LIMIT"`
	Planned bool  `help:"List what is to come instead: scheduled records and announced changes." env:"PALMARES_PLANNED"`
	JSON    bool  `help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the published versions, or what one of them changed.
func (c *logCommand) Run(inv *invocation) error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit %d: give a number of versions, such as 20", c.Limit)
	}
	return inv.withExisting(func(st *node.Database) error {
		if c.Planned {
			return c.planned(inv, st)
		}
		if c.Version != 0 {
			return c.one(inv, st)
		}
		versions, err := st.Catalogue.Versions(inv.ctx, c.Limit)
		if err != nil {
			return err
		}
		out := newTable(inv.stdout, c.JSON, "version", "published_at", "due", "by", "token", "revision", "changes")
		for _, v := range versions {
			revision := v.Revision
			if !c.JSON {
				revision = revision[:min(len(revision), 12)]
			}
			if v.Revision != "" && !v.Clean {
				revision += "+"
			}
			out.row(v.Number, timestamp(v.PublishedAt), v.Due, v.Author, v.Token, revision, counts(&v))
		}
		return out.flush()
	})
}

// counts lists how many events of each type a version has, and what else it changed.
func counts(v *catalogdb.Version) string {
	var list []string
	for _, t := range catalog.ChangeTypes {
		if n := v.Changes[t]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, t))
		}
	}
	if v.Pages > 0 {
		list = append(list, publication.Plural(v.Pages, "page"))
	}
	if v.Settings {
		list = append(list, "settings")
	}
	return strings.Join(list, ", ")
}

// planned lists what is to come.
func (c *logCommand) planned(inv *invocation, st *node.Database) error {
	list, err := st.Catalogue.Planned(inv.ctx)
	if err != nil {
		return err
	}
	out := newTable(inv.stdout, c.JSON, "due", "record", "what", "problem")
	for _, p := range list {
		out.row(p.Due, p.Name, p.What, p.Problem)
	}
	return out.flush()
}

// one prints what a version changed.
func (c *logCommand) one(inv *invocation, st *node.Database) error {
	diff, isKept, err := st.Catalogue.Changes(inv.ctx, c.Version)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.lines(inv, &diff)
	}
	if !isKept {
		err = inv.printf("The events of version %d are no longer kept; what follows is the rest.\n", c.Version)
		if err != nil {
			return err
		}
	}
	return publication.WriteChanges(inv.stdout, &diff)
}

// lines prints the events of a version for programs, then the changes that no event
// tells.
func (c *logCommand) lines(inv *invocation, d *catalog.Diff) error {
	out := json.NewEncoder(inv.stdout)
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
