package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/node"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/remote"
)

type logCommand struct {
	Version int64   `arg:"" optional:"" help:"Version whose changes to list (default: list the versions)."`
	Limit   int     `help:"How many versions to list." default:"20"`
	Planned bool    `help:"List what is to come instead: scheduled records and announced changes."`
	Server  baseURL `help:"Ask this server, with the token in PALMARES_TOKEN, instead of the database." placeholder:"URL"`
	JSON    bool    `help:"Print JSON lines."`

	languageOption `embed:""`
}

// Run lists the published versions, or what one of them changed.
func (c *logCommand) Run(inv *invocation) error {
	if c.Limit < 1 {
		return fmt.Errorf("--limit %d: give a number of versions, such as 20", c.Limit)
	}
	c.speak(inv)
	one := publication.Log{Version: c.Version, JSON: c.JSON, Language: inv.language}
	if c.Server != "" {
		client, err := remote.NewClient(string(c.Server), os.Getenv("PALMARES_TOKEN"))
		if err != nil {
			return err
		}
		defer client.Close()
		return c.print(inv, client, func(w io.Writer) error { return client.WriteChanges(inv.ctx, w, one) })
	}
	return inv.withExisting(func(st *node.Database) error {
		return c.print(inv, st.Catalogue, func(w io.Writer) error { return one.Write(inv.ctx, st.Catalogue, w) })
	})
}

// A history is a database, or a server elsewhere.
type history interface {
	Planned(ctx context.Context) ([]catalog.Planned, error)
	Versions(ctx context.Context, limit int) ([]catalogdb.Version, error)
}

// print prints what is to come, what one version changed, or the versions.
func (c *logCommand) print(inv *invocation, of history, writeChanges func(io.Writer) error) error {
	switch {
	case c.Planned:
		return c.planned(inv, of)
	case c.Version != 0:
		return writeChanges(inv.stdout)
	}
	versions, err := of.Versions(inv.ctx, c.Limit)
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
	return out.flush(err)
}

// counts lists how many events of each type a version has, and what else it changed.
func counts(v *catalogdb.Version) string {
	var list []string
	if v.Undoes > 0 {
		list = append(list, fmt.Sprintf("undoes version %d", v.Undoes))
	}
	for _, t := range catalog.ChangeTypes {
		if n := v.Changes[t]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, t))
		}
	}
	if v.Pages > 0 {
		list = append(list, problem.New("count-pages", v.Pages).English)
	}
	if v.Authors > 0 {
		list = append(list, problem.New("count-auteurs", v.Authors).English)
	}
	if v.Settings {
		list = append(list, "settings")
	}
	return strings.Join(list, ", ")
}

func (c *logCommand) planned(inv *invocation, of history) error {
	list, err := of.Planned(inv.ctx)
	out := newTable(inv.stdout, c.JSON, "due", "record", "what", "problem")
	for _, p := range list {
		out.row(p.Due, p.Name, p.What, p.Problem)
	}
	return out.flush(err)
}
