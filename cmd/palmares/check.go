package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"palmares/internal/certificate"
	"palmares/internal/node"
	"palmares/internal/sqldb"
)

// checkCommand has the options of serve, so that it sees the same settings.
type checkCommand struct {
	serveCommand `embed:""`
}

// Run prints what was looked at, one line each, and fails if something is wrong. It
// changes nothing.
func (c *checkCommand) Run(inv *invocation) error {
	found := []sqldb.Finding{c.settings(inv)}
	tools := int64(0)
	if isAbsent(inv.database) {
		found = append(found, sqldb.Finding{
			Subject: "database",
			Text:    inv.database + " does not exist yet: `palmares publish` and `palmares serve` create it",
		})
	} else {
		var all []sqldb.Finding
		var current bool
		all, tools, current = node.Examine(inv.ctx, inv.database, inv.now())
		found = append(found, all...)
		if current {
			found = append(found, c.secrets(inv))
			if len(c.HTTPS.Domains) > 0 {
				found = append(found, c.certificates(inv))
			}
		}
	}
	files := fileLimit()
	limit := c.MaxConnections
	err := limit.fit(files)
	found = append(found, finding("files", err, fmt.Sprintf("%d may be open, enough for %d connections",
		files, limit)), c.memory(tools))
	wrong := 0
	for _, f := range found {
		mark := "ok   "
		if f.Wrong {
			mark = "WRONG"
			wrong++
		}
		fmt.Fprintf(inv.stdout, "%s  %-11s  %s\n", mark, f.Subject, f.Text)
	}
	if inv.ctx.Err() != nil {
		return inv.ctx.Err()
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks found something wrong", wrong, len(found))
	}
	return nil
}

// finding returns a Finding that is wrong if err says so.
func finding(subject string, err error, text string) sqldb.Finding {
	if err != nil {
		return sqldb.Finding{Subject: subject, Text: message(err), Wrong: true}
	}
	return sqldb.Finding{Subject: subject, Text: text}
}

func (c *checkCommand) settings(inv *invocation) sqldb.Finding {
	if c.BaseURL == "" {
		c.BaseURL = "http://localhost" // as serve derives it
	}
	_, err := c.config(inv)
	return finding("settings", err, "all options and variables can be used")
}

// secrets checks that the secrets of webhooks can be opened.
func (c *checkCommand) secrets(inv *invocation) sqldb.Finding {
	var text string
	err := inv.withStore(func(st *node.Database) error {
		some, err := c.Webhooks.keySource(inv.database).Usable(inv.ctx, st.Endpoints)
		text = "it opens the secrets of all webhooks"
		if !some {
			text = "nothing is sealed yet"
		}
		return err
	})
	return finding("secret key", err, text)
}

// certificates reads the certificates of --domain.
func (c *checkCommand) certificates(inv *invocation) sqldb.Finding {
	var text string
	err := inv.withStore(func(st *node.Database) error {
		sealer, err := c.Webhooks.keySource(inv.database).Sealer()
		if err != nil {
			return err
		}
		expiry, err := certificate.New(*c.HTTPS.config()).Read(inv.ctx, st.Certificates, sealer)
		switch {
		case err != nil:
			return err
		case expiry.IsZero():
			return errors.New("not every domain has one: the log of the server says why")
		case expiry.Before(inv.now().AddDate(0, 0, 14)):
			return fmt.Errorf("the first one expires on %s: the log of the server says why it is not renewed",
				expiry.UTC().Format(time.DateOnly))
		}
		text = "the first one expires on " + expiry.UTC().Format(time.DateOnly)
		return nil
	})
	return finding("certificate", err, text)
}

// memory compares the limit with what a catalogue needs; see docs/operating.md.
func (c *checkCommand) memory(tools int64) sqldb.Finding {
	limit := memoryLimit(c.Memory)
	needed := (100_000_000 + 6_000*tools) * node.Takeover / 100
	switch {
	case os.Getenv("GOMEMLIMIT") != "":
		return sqldb.Finding{Subject: "memory", Text: "GOMEMLIMIT is " + os.Getenv("GOMEMLIMIT")}
	case limit == 0:
		return sqldb.Finding{Subject: "memory", Text: "no limit is set"}
	}
	text := fmt.Sprintf("at most %d MiB; %d tools need about %d MiB while a publication is taken over",
		limit>>20, tools, needed>>20)
	if limit < needed {
		return sqldb.Finding{
			Subject: "memory", Text: text + ": raise it (--memory, MemoryMax of systemd, the limits of the container)",
			Wrong: true,
		}
	}
	return sqldb.Finding{Subject: "memory", Text: text}
}
