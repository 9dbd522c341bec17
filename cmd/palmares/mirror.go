package main

import (
	"errors"
	"os"
	"time"

	"palmares/internal/mirror"
	"palmares/internal/node"
)

type mirrorCommand struct {
	Reset mirrorReset `cmd:"" help:"Permit a mirror to follow its origin once where it refuses to: back in time, to another database, or to less than half of the records."`
}

type mirrorReset struct {
	Detach bool `help:"Make the mirror a catalogue of its own instead, with what it has: it is published here from then on." env:"PALMARES_DETACH"`
}

// Run permits one unusual copy, or ends the mirror.
func (c *mirrorReset) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		if c.Detach {
			return inv.result(st.Mirror.Detach(inv.ctx), "The database is no mirror any more: "+
				"publish with `palmares publish DIR`, and start serve without --mirror.\n")
		}
		return inv.result(st.Mirror.Reset(inv.ctx), "The mirror may now follow its origin once, whatever it has become; nothing was deleted.\n")
	})
}

// mirrorOptions are for a server that copies another one.
type mirrorOptions struct {
	Origin   baseURL        `name:"mirror" help:"Serve an exact copy of the catalogue of the Palmarès server at this URL, and follow it, with the API key in PALMARES_MIRROR_KEY (default: none)." env:"PALMARES_MIRROR" placeholder:"URL"`
	Interval mirrorInterval `name:"mirror-interval" env:"PALMARES_MIRROR_INTERVAL" hidden:""` // for tests
}

// mirrorInterval is how often an origin is asked; 0 for the default.
type mirrorInterval time.Duration

func (i *mirrorInterval) UnmarshalText(b []byte) error {
	given, err := between(b, 1, 24*time.Hour, "an interval: expected a duration of up to 24h, as in 1m")
	*i = mirrorInterval(given)
	return err
}

// mirrorKey is sent to the origin only, and never shown.
func mirrorKey() string { return os.Getenv("PALMARES_MIRROR_KEY") }

// check refuses an origin or a key that cannot be right.
func (o *mirrorOptions) check() error {
	if o.Origin == "" {
		return nil
	}
	client, err := mirror.NewClient(string(o.Origin), mirrorKey())
	if err != nil {
		return err
	}
	client.Close()
	return nil
}

type verifyCommand struct {
	URL baseURL `arg:"" help:"Server of Palmarès, such as https://catalogue.example."`
}

// Run compares the database with a server, record by record if their states differ.
func (c *verifyCommand) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		origin, err := st.Mirror.Origin(inv.ctx)
		if err != nil {
			return err
		}
		key := ""
		if origin.URL == string(c.URL) {
			key = mirrorKey()
		}
		client, err := mirror.NewClient(string(c.URL), key)
		if err != nil {
			return err
		}
		defer client.Close()
		feed, err := st.Catalogue.Feed(inv.ctx)
		if err != nil {
			return err
		}
		found, err := client.Compare(inv.ctx, feed)
		if err != nil {
			return err
		}
		if found.Equal() {
			return inv.printf("equal: %d records, %s\n", found.Records, feed.State)
		}
		for _, line := range found.Lines() {
			if err := inv.printf("%s\n", line); err != nil {
				return err
			}
		}
		return errors.New(found.Summary(string(c.URL)))
	})
}
