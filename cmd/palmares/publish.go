package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/node"
	"palmares/internal/publication"
	"palmares/internal/remote"
	"palmares/internal/sqldb"
)

// revisionOptions say where a folder comes from, and what may be overwritten.
type revisionOptions struct {
	Revision string `help:"Revision to record with the version (default: HEAD of the git work tree the folder is in)." placeholder:"COMMIT"`
	Author   string `help:"Author to record with the version (default: the author of the revision)." placeholder:"NAME"`
	Force    bool   `help:"Publish although the folder does not contain the published revision, or may not."`
	Expect   *int64 `help:"Publish only if this is the published version; for folders outside git." placeholder:"VERSION"`
}

// origin returns where the folder comes from.
func (o *revisionOptions) origin() *publication.Revision {
	return &publication.Revision{
		Commit: o.Revision, Author: o.Author, Force: o.Force, Expect: o.Expect, GitDir: os.Getenv("GIT_DIR"),
	}
}

type publishCommand struct {
	Dir             string        `arg:"" help:"Content folder."`
	DryRun          bool          `help:"Only print what would change."`
	AllowRemovals   bool          `help:"Allow tools to disappear without an entry in cimetiere/."`
	Wait            time.Duration `help:"How long to try again while the database or the server is unavailable, as during a fail-over (default: not at all)." placeholder:"DURATION" type:"duration" what:"a time to wait" range:"0s-1h"`
	Server          baseURL       `help:"Publish on this server, with the token in PALMARES_TOKEN, instead of in the database." placeholder:"URL"`
	revisionOptions `embed:""`
	checkOptions    `embed:""`

	shown map[publication.Finding]bool // by earlier attempts
}

func (c *publishCommand) Run(inv *invocation) error {
	node.LimitGarbage()
	c.speak(inv)
	c.shown = map[publication.Finding]bool{}
	deadline, said := time.Now().Add(c.Wait), ""
	for attempt := 0; ; attempt++ {
		var err error
		if attempt > 0 && c.Server == "" { // the folder is not read again as long as this fails
			err = inv.withStore(func(*node.Database) error { return nil })
		}
		if err == nil {
			err = c.publish(inv)
		}
		if !isTransient(err) || inv.ctx.Err() != nil || time.Now().Add(node.RetryInterval).After(deadline) {
			return err
		}
		if text := node.WithoutPort(message(err, inv.language)); text != said {
			fmt.Fprintf(inv.stderr, "palmares: %s\n", inv.say("trying-again", text, time.Until(deadline).Round(time.Second)))
			said = text
		}
		select {
		case <-inv.ctx.Done():
			return err
		case <-time.After(node.RetryInterval):
		}
	}
}

// newFindings is a Sink that shows only what earlier attempts have not shown.
type newFindings struct {
	publication.Sink
	shown map[publication.Finding]bool
}

func (s newFindings) Findings(all []publication.Finding) error {
	fresh := slices.DeleteFunc(slices.Clone(all), func(f publication.Finding) bool { return s.shown[f] })
	for _, f := range fresh {
		s.shown[f] = true
	}
	return s.Sink.Findings(fresh)
}

// isTransient reports whether a publication may succeed if it is tried again. One whose
// outcome is not known may have succeeded: then the next one changes nothing.
func isTransient(err error) bool {
	return errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrBusy) || errors.Is(err, remote.ErrUnavailable)
}

func (c *publishCommand) publish(inv *invocation) (err error) {
	out := c.newPrinter(inv, c.Dir, inv.stderr)
	defer out.progress.done()
	job := c.job(inv, c.Dir, out)
	job.AllowRemovals, job.DryRun = c.AllowRemovals, c.DryRun
	job.Sink = newFindings{job.Sink, c.shown}
	if c.Server != "" {
		return c.elsewhere(inv, job)
	}
	job.Known, err = c.knownPictures(inv)
	if err != nil {
		return err
	}
	read, err := job.Read(inv.ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	origin := c.origin()
	source, repository, err := origin.Source(inv.ctx, c.Dir)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // the garbage of reading
	job.Source, job.Guard = source, origin.Guard(repository)
	if c.DryRun && isAbsent(inv.database) {
		// A dry run leaves nothing behind, not even an empty database.
		_, err := job.Publish(inv.ctx, nil, read)
		return err
	}
	return inv.withStore(func(st *node.Database) error {
		_, err := job.Publish(inv.ctx, st.Catalogue, read)
		return err
	})
}

// elsewhere publishes a folder on a server. A folder that would undo another one's work
// is sent as well, as it may be one that changes nothing, which only the server can tell.
func (c *publishCommand) elsewhere(inv *invocation, job *publication.Job) error {
	client, err := remote.NewClient(string(c.Server), os.Getenv("PALMARES_TOKEN"))
	if err != nil {
		return err
	}
	defer client.Close()
	client.Language = inv.language
	root, err := content.Open(c.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	origin := c.origin()
	source, repository, err := origin.Source(inv.ctx, c.Dir)
	if err != nil {
		return err
	}
	job.Source = source
	head, err := client.Head(inv.ctx)
	if err != nil {
		return err
	}
	refused := origin.Guard(repository)(head)
	if errors.Is(refused, catalogdb.ErrRevisionStays) {
		job.Source = catalogdb.Source{}
	}
	expect := c.Expect
	if expect == nil && !c.Force {
		expect = &head.Version // no other publication may come in between
	}
	return client.Publish(inv.ctx, job, root, expect, refused)
}

// knownPictures returns which pictures need not be decoded, as they were published
// before.
func (c *publishCommand) knownPictures(inv *invocation) (known func(string) (catalog.Picture, bool), err error) {
	if _, err := os.Stat(filepath.Join(c.Dir, "images")); err != nil || isAbsent(inv.database) {
		return nil, nil // a broken folder is reported before the database is opened
	}
	err = inv.withStore(func(st *node.Database) error {
		known, err = st.Pictures.Known(inv.ctx)
		return err
	})
	return known, err
}

// isAbsent reports whether a database is a file that does not exist yet.
func isAbsent(database string) bool {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
