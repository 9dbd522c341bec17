package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
	"palmares/internal/record"
	"palmares/internal/sqldb"
)

// A PictureSource has the bytes of the pictures that are to be published, by hash.
type PictureSource interface {
	Read(ctx context.Context, hash string) ([]byte, error)
}

// progressEvery is how many records are written in about a tenth of a second.
const progressEvery = 1000

// A RemovalsError stops a publication in which active tools disappear without
// having been retired or renamed.
type RemovalsError struct {
	Slugs []string
}

// PublishOptions say how to publish. The zero value refuses removals.
type PublishOptions struct {
	// Now is called once no other publication is in the way, and gives the time of this
	// one: versions are in the order of their times. It must be set.
	Now           func() time.Time
	AllowRemovals bool           // tools may disappear without an entry in cimetiere/
	DryRun        bool           // only find out what would change
	Pictures      PictureSource  // of the new pictures; may be nil if there are none
	Source        Source         // recorded with the version
	Progress      func(Progress) // called from time to time, by the goroutine of Publish; may be nil
	// Guard is called with what would be replaced; no other publication comes in between.
	// Its error ends a publication that would change something. It may be nil.
	Guard func(Head) error
	// Check is called before anything is written, with the published catalogue, what
	// would change and the day of the publication. Its error ends the publication. It may
	// be nil.
	Check func(old *catalog.Catalog, diff *catalog.Diff, today string) error
	// Undo takes a version back: it is what is published, as it is, with the revision that is
	// on record. ErrUndoMoved: it no longer fits. It may be nil.
	Undo *Undo
}

// Progress is how far a publication is.
type Progress struct {
	Stage string // "load", "compare", "records", "picture files", "events", "deliveries"
	Done  int
	Total int // 0 while it is not known
}

// A Publication is what Publish did, or with DryRun would have done.
type Publication struct {
	Version  int64 // that is published now
	Sequence int64 // of its last event
	Diff     catalog.Diff
}

func (e *RemovalsError) Error() string { return e.Text().English }

// Text says which tools are missing.
func (e *RemovalsError) Text() problem.Text {
	const most = 10
	shown := e.Slugs[:min(len(e.Slugs), most)]
	var more problem.Text
	if len(e.Slugs) > most {
		more = problem.New("more-of-them", len(e.Slugs)-most)
	}
	return problem.New("tools-missing", len(e.Slugs), strings.Join(shown, ", "), more)
}

// errRollback ends a transaction that has nothing to commit.
var errRollback = errors.New("nothing to commit")

// publication is one run of Publish inside its transaction.
type publication struct {
	tx *sql.Tx
	db *sqldb.DB

	opts    PublishOptions
	now     time.Time
	dueAt   time.Time // the hour that has come; zero if somebody publishes
	head    Head
	refused error // of the guard, if something would change
	old     *Published
	next    *catalog.Catalog
	diff    catalog.Diff

	first  int64                // version of the day; 0 for the first one of all
	feed   *record.Step         // to the next version
	stored map[rowKey]storedRow // but for public ones without anything private
}

// changes reports whether there will be a new version.
func (p *publication) changes() bool { return len(p.diff.Changes) > 0 }

func (p *publication) progress(stage string, done, total int) {
	if p.opts.Progress != nil {
		p.opts.Progress(Progress{Stage: stage, Done: done, Total: total})
	}
}
