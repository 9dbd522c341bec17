package dataset

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"palmares/internal/snapshot"
)

// The reasons why there is no export.
var (
	// ErrPreparing: it is being written, or will be; ask again later.
	ErrPreparing = errors.New("the export is being written")
	// ErrFailed: it could not be written, which is in the log.
	ErrFailed = errors.New("the export could not be written")
	// ErrGone: the files of a version are no longer there.
	ErrGone = errors.New("the export is no longer available")
	// ErrNoFile: there is no such export or file.
	ErrNoFile = errors.New("there is no such file")
)

// Config is what Exports needs.
type Config struct {
	Dir     string // created when something is first written; required
	Release string // of this program: other releases may write other bytes
	Log     *slog.Logger
	// Timeout is how long callers wait for an export that is not written yet; 30 seconds if
	// zero.
	Timeout time.Duration
}

const (
	defaultTimeout = 30 * time.Second
	// failurePause is how long nothing is tried after a failure.
	failurePause = time.Minute
)

// Exports keeps the exports of the served version and of the one before. Run writes those that are asked for,
// one at a time, each once.
type Exports struct {
	cfg    Config
	folder folder
	wake   chan struct{} // there is a next one

	mu       sync.Mutex
	running  *build
	next     *build  // waits for running
	failed   failure // the last one
	isClosed bool
}

// A build is an export that is being written, or will be.
type build struct {
	snap  *snapshot.Snapshot
	name  string
	ready chan struct{} // closed at the end
	x     *Export       // valid when ready
	err   error         // likewise
}

type failure struct {
	name string
	err  error
	at   time.Time
}

// New returns the exports in a folder.
func New(cfg Config) *Exports {
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	e := &Exports{cfg: cfg, folder: folder{cfg.Dir}, wake: make(chan struct{}, 1)}
	if err := e.folder.prepare(); err != nil {
		cfg.Log.Error("exports cannot be written and will be answered with 503: look at the folder, "+
			"or choose another one with --export-dir", "folder", cfg.Dir, "error", err)
	}
	return e
}

// Name returns the name of the export of a snapshot, written or not.
func (e *Exports) Name(s *snapshot.Snapshot) string { return nameOf(s, e.cfg.Release) }

// Written returns the export of a snapshot if it is written; nil otherwise.
func (e *Exports) Written(s *snapshot.Snapshot) *Export { return e.folder.load(e.Name(s)) }

// Get returns the export of a snapshot, which must have a feed. If it is not written yet,
// Get has it written and waits for it.
func (e *Exports) Get(ctx context.Context, s *snapshot.Snapshot) (*Export, error) {
	name := e.Name(s)
	if x := e.folder.load(name); x != nil {
		return x, nil
	}
	b, err := e.order(s, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	select {
	case <-b.ready:
		return b.x, b.err
	case <-ctx.Done():
		return nil, ErrPreparing
	}
}

// Find returns the export of a name while a snapshot is served: the one that Get would return,
// or an export of a version before it. ErrGone: it is no longer
// available. ErrNoFile: there has been none of that name.
func (e *Exports) Find(ctx context.Context, s *snapshot.Snapshot, name string) (*Export, error) {
	version, ok := Version(name)
	if !ok || version > s.Version {
		return nil, ErrNoFile
	}
	if name == e.Name(s) {
		return e.Get(ctx, s)
	}
	if x := e.folder.load(name); x != nil && x.isAvailable(s) {
		return x, nil
	}
	return nil, ErrGone
}

// order has an export written, unless that is under way or has just failed. An export that
// waits for its turn gives way to a newer one.
func (e *Exports) order(s *snapshot.Snapshot, name string) (*build, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.failed; f.name == name && time.Since(f.at) < failurePause {
		return nil, f.err
	}
	switch {
	case e.isClosed:
		return nil, ErrPreparing
	case e.running != nil && e.running.name == name:
		return e.running, nil
	case e.next != nil && e.next.name == name:
		return e.next, nil
	case e.next != nil && e.next.snap.Version > s.Version:
		return nil, ErrPreparing // a request that began before the last publication
	case e.next != nil:
		e.next.end(nil, ErrPreparing)
	}
	e.next = &build{snap: s, name: name, ready: make(chan struct{})}
	select {
	case e.wake <- struct{}{}:
	default: // it is awake
	}
	return e.next, nil
}

func (b *build) end(x *Export, err error) {
	b.x, b.err = x, err
	close(b.ready)
}

// Run writes exports until ctx ends. It first removes what a killed process has left.
func (e *Exports) Run(ctx context.Context) error {
	if err := e.folder.clean(); err != nil {
		e.cfg.Log.Error("what an interrupted export left behind could not be removed", "folder", e.cfg.Dir, "error", err)
	}
	defer e.close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.wake:
		}
		e.mu.Lock()
		e.running, e.next = e.next, nil
		b := e.running
		e.mu.Unlock()
		if b != nil {
			e.write(ctx, b)
		}
	}
}

// close lets nobody wait any longer.
func (e *Exports) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isClosed = true
	if e.next != nil {
		e.next.end(nil, ErrPreparing)
		e.next = nil
	}
}

// write writes one export and tells those who wait for it.
func (e *Exports) write(ctx context.Context, b *build) {
	start := time.Now()
	x, err := e.folder.build(ctx, b.snap, b.name)
	log := e.cfg.Log.With("version", b.snap.Version, "folder", e.cfg.Dir, "seconds", time.Since(start).Seconds())
	switch {
	case err == nil:
		log.Info("the export is written", "bytes", x.size())
	case ctx.Err() != nil:
		err = ErrPreparing // by another node, or after the restart
	default:
		log.Error("the export cannot be written and is answered with 503: look at the folder, "+
			"or choose another one with --export-dir", "error", err)
		err = ErrFailed
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = nil
	if err != nil && !errors.Is(err, ErrPreparing) {
		e.failed = failure{b.name, err, time.Now()}
	}
	b.end(x, err)
}

func (x *Export) size() int64 {
	n := int64(len(x.JSON))
	for _, f := range x.Files {
		n += f.Bytes
	}
	return n
}
