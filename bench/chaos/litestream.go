package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"palmares/internal/testkit"
)

const (
	mayLose = time.Second // of what was in the database
	// copied is for how long at least Litestream has copied when the disk is lost, and mayVary how
	// much longer.
	copied, mayVary = 4 * time.Second, 4 * time.Second
	// back is how far before the loss the copy is restored a second time.
	back = 2 * time.Second
)

// lose lets Litestream copy the database of a server, as deploy/litestream.yml says, while
// catalogues are published and requests counted. Then it kills everything, deletes the disk and
// restores the copy. It fails when `palmares check` finds something wrong with the restored
// database, when more than its last second is missing, or when it is not restored as it was at a
// given time. The next loss is of the restored database, whose copy goes on in the same place.
func lose(ctx context.Context, binary, program string, times int) (err error) {
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l := &loser{program: program, disk: filepath.Join(dir, "disk"), config: filepath.Join(dir, "litestream.yml")}
	l.file = filepath.Join(l.disk, "palmares.db")
	deployed, err := os.ReadFile(filepath.Join("deploy", "litestream.yml"))
	if err != nil {
		return err
	}
	config := strings.NewReplacer("/var/lib/palmares/palmares.db", l.file,
		"/mnt/elsewhere/palmares", filepath.Join(dir, "elsewhere")).Replace(string(deployed))
	if err := os.WriteFile(l.config, []byte(config), 0o600); err != nil {
		return err
	}
	l.cluster = newCluster(binary, dir, "sqlite:"+l.file)
	l.size = 1
	if err := l.createKeys(ctx); err != nil {
		return err
	}
	for tools := range 2 {
		content, err := l.generate(ctx, 200+tools)
		if err != nil {
			return err
		}
		l.contents = append(l.contents, content)
	}
	var missing, took []time.Duration
	for i := range times {
		m, t, err := l.round(ctx)
		if err != nil {
			return fmt.Errorf("loss %d: %w", i+1, err)
		}
		missing, took = append(missing, m), append(took, t)
	}
	fmt.Printf("the disk was lost %d times, with %d versions and %d counted requests at the end: half the time nothing "+
		"older than %d ms was missing, never anything older than %d ms; restored within %d ms, half the time within %d ms\n",
		times, l.last.version, l.last.counted, percentile(missing, 50).Milliseconds(), percentile(missing, 100).Milliseconds(),
		percentile(took, 100).Milliseconds(), percentile(took, 50).Milliseconds())
	if worst := percentile(missing, 100); worst > mayLose {
		return fmt.Errorf("what was in the database for %s is missing; want %s at most", worst, mayLose)
	}
	return nil
}

// A loser is a server on SQLite and the Litestream that copies its database.
type loser struct {
	*cluster
	program, config string // Litestream and its configuration
	disk, file      string
	contents        []string // to publish in turn
	last            state    // as restored
}

// A state is what a database holds that only grows.
type state struct{ version, counted int64 }

// covers reports whether everything of another state is in this one.
func (s state) covers(other state) bool {
	return s.version >= other.version && s.counted >= other.counted
}

// A sight is the state that a database had between two times.
type sight struct {
	state
	begin, end time.Time
}

// round publishes and counts, loses the disk and restores it. It returns for how long what is
// missing had been in the database, and how long it took to restore it.
func (l *loser) round(ctx context.Context) (missing, took time.Duration, err error) {
	l.nodes = nil
	log := &testkit.Log{}
	begun := time.Now()
	copying := exec.CommandContext(ctx, l.program, "replicate", "-config", l.config)
	copying.Stdout, copying.Stderr = log, log
	if err := copying.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, log)
		}
	}()
	err = l.serve(ctx, l.database)
	if err == nil {
		err = l.awaitCopy(ctx, begun)
	}
	var sights []sight
	var lost time.Time
	if err == nil {
		sights, lost, err = l.load(ctx, copying)
	}
	_ = copying.Process.Kill() // again
	_ = copying.Wait()         // it was killed
	for _, n := range l.nodes {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	}
	if err != nil {
		return 0, 0, err
	}

	if err := os.RemoveAll(l.disk); err != nil {
		return 0, 0, err
	}
	if err := os.Mkdir(l.disk, 0o700); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := l.restore(ctx); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	if _, err := l.palmares(ctx, "check"); err != nil {
		return 0, 0, err
	}
	l.last, err = look(ctx, l.file)
	if err != nil {
		return 0, 0, err
	}
	if err := l.goBack(ctx, sights, lost.Add(-back)); err != nil {
		return 0, 0, err
	}
	// As docs/operating.md says: readers may have seen what is missing.
	if _, err := l.palmares(ctx, "feed", "renew"); err != nil {
		return 0, 0, err
	}
	first := slices.IndexFunc(sights, func(s sight) bool { return !l.last.covers(s.state) })
	if first >= 0 { // it was stored after the sight before had begun
		missing = lost.Sub(sights[max(first-1, 0)].begin)
	}
	return missing, took, nil
}

// awaitCopy waits until Litestream has written something.
func (l *loser) awaitCopy(ctx context.Context, begun time.Time) error {
	written := func() (found bool) {
		_ = filepath.WalkDir(filepath.Join(l.dir, "elsewhere"), func(_ string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				info, err := e.Info()
				found = found || err == nil && info.ModTime().After(begun)
			}
			return nil // files come and go
		})
		return found
	}
	if until(ctx, begun, written) == never {
		return errors.New("nothing is copied")
	}
	return nil
}

// load publishes and counts for a while, and then kills Litestream, the server and a command that
// publishes. It returns what the database held meanwhile, and when it was lost.
func (l *loser) load(ctx context.Context, copying *exec.Cmd) (sights []sight, lost time.Time, err error) {
	var r result
	stopReading := l.read(ctx, &r)
	defer stopReading()
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var publishing, watching sync.WaitGroup
	var published, seen error
	publishing.Go(func() {
		for i := 0; published == nil; i++ {
			_, published = l.palmares(working, "publish", l.contents[i%2], "--allow-removals")
			if working.Err() != nil { // it was killed
				published = nil
				return
			}
		}
	})
	done := make(chan struct{})
	watching.Go(func() {
		for seen == nil {
			begin := time.Now()
			var s state
			s, seen = look(ctx, l.file)
			sights = append(sights, sight{s, begin, time.Now()})
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	select {
	case <-time.After(copied + rand.N(mayVary)):
	case <-ctx.Done():
	}
	close(done)
	watching.Wait()
	lost = time.Now()
	err = errors.Join(copying.Process.Kill(), l.nodes[0].cmd.Process.Kill())
	cancel()
	publishing.Wait()
	return sights, lost, errors.Join(ctx.Err(), err, published, seen)
}

// look reads the state of a database.
func look(ctx context.Context, file string) (s state, err error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(version), 0) FROM catalogue),
		(SELECT coalesce(sum(requests), 0) FROM usage)`).Scan(&s.version, &s.counted)
	return s, err
}

// goBack restores the copy as it was at a time, beside the database.
func (l *loser) goBack(ctx context.Context, sights []sight, at time.Time) error {
	file := filepath.Join(l.dir, "earlier.db")
	if err := l.restore(ctx, "-timestamp", at.UTC().Format(time.RFC3339Nano), "-o", file); err != nil {
		return err
	}
	earlier, err := look(ctx, file)
	if err != nil {
		return err
	}
	for _, s := range sights {
		if s.end.Before(at.Add(-mayLose)) && !earlier.covers(s.state) {
			return fmt.Errorf("restored as of %s, the copy has %+v; it had %+v already a second before", at, earlier, s.state)
		}
		if s.begin.After(at) && !s.covers(earlier) {
			return fmt.Errorf("restored as of %s, the copy has %+v; it had %+v still later", at, earlier, s.state)
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// restore runs Litestream.
func (l *loser) restore(ctx context.Context, flags ...string) error {
	args := append([]string{"restore", "-config", l.config}, flags...)
	if out, err := exec.CommandContext(ctx, l.program, append(args, l.file)...).CombinedOutput(); err != nil {
		return fmt.Errorf("litestream restore: %w: %s", err, out)
	}
	return nil
}
