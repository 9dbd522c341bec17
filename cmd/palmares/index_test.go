package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/record"
	"palmares/internal/search"
	"palmares/internal/snapshot"
	"palmares/internal/store"
	"palmares/internal/synthetic"
)

// indexed is a version of a catalogue.
func indexed(t *testing.T, version int64) *snapshot.Snapshot {
	t.Helper()
	c := synthetic.Catalog(50, uint64(version))
	s := snapshot.Build(c, version, "2026-11-16")
	s.PublishedAt = "2026-11-16T10:00:00.000Z"
	s.SetFeed(record.First("feed", c, version, s.PublishedAt))
	if err := s.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *indexFile) of(s *snapshot.Snapshot) *search.Index {
	return f.read(f.identity(len(s.Catalog.Tools), s.Version, s.PublishedAt, s.Feed()), s.Catalog)
}

func TestTheIndexOfAVersionThatStaysIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	first, second, third := indexed(t, 1), indexed(t, 2), indexed(t, 3)
	synctest.Test(t, func(t *testing.T) {
		f := newIndexFile("sqlite:"+path, slog.New(slog.DiscardHandler))
		f.least = 50
		path := f.path
		versions := []*snapshot.Snapshot{first, second, third}
		live, err := snapshot.NewLive(t.Context(), func(context.Context, *snapshot.Snapshot) (s *snapshot.Snapshot, err error) {
			s, versions = versions[0], versions[1:]
			return s, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = f.run(ctx, live) }() // always nil
		next := func() {
			if err := live.Refresh(ctx); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(59 * time.Second)
		next()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a version that lasted less than a minute was written: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		again := newIndexFile("sqlite:"+strings.TrimSuffix(path, "-index"), f.log)
		again.least = 50
		if again.of(first) != nil || again.of(third) != nil || again.of(second) == nil {
			t.Error("the file does not have the second version, or has another one")
		}
		if hits := again.of(second).Search(search.Query{Text: second.Catalog.Tools[7].Name, Limit: 1}).Hits; len(hits) != 1 || hits[0].Tool != 7 {
			t.Errorf("with the index from the file, a search by name finds %v", hits)
		}
		again.least = 51
		if again.of(second) != nil {
			t.Error("the index of a small catalogue was read")
		}
		next()
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.of(third) == nil {
			t.Error("the file does not have the third version")
		}
		cancel()
		synctest.Wait()
	})
}

func TestADamagedIndexIsNotUsed(t *testing.T) {
	var log bytes.Buffer
	f := newIndexFile("sqlite:"+filepath.Join(t.TempDir(), "p.db"), slog.New(slog.NewTextHandler(&log, nil)))
	f.least = 50
	s := indexed(t, 1)
	identity := f.identity(len(s.Catalog.Tools), s.Version, s.PublishedAt, s.Feed())
	superseded := func() error { return store.ErrSuperseded }
	if err := f.write(t.Context(), identity, s.Index, superseded); !errors.Is(err, store.ErrSuperseded) || f.of(s) != nil {
		t.Errorf("an index that is no longer wanted was written: %v", err)
	}
	still := func() error { return nil }
	if err := f.write(t.Context(), identity, s.Index, still); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(f.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if f.of(s) != nil || !strings.Contains(log.String(), "the file is damaged") {
		t.Errorf("the damaged index was read, or is not reported: %s", &log)
	}
	log.Reset()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.write(ended, identity, s.Index, still); !errors.Is(err, context.Canceled) {
		t.Errorf("writing after the end: %v", err)
	}
	if left := unfinishedOf(t, f); len(left) > 0 {
		t.Errorf("unfinished files remain: %q", left)
	}
	if log.Len() > 0 {
		t.Errorf("the log has %s", &log)
	}
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if f.of(s) != nil || !strings.Contains(log.String(), "the search index cannot be read: the next start takes longer") {
		t.Errorf("a file that cannot be read is not reported: %s", &log)
	}
}

// unfinishedOf returns the names of the files that are not finished.
func unfinishedOf(t *testing.T, f *indexFile) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), unfinished) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestWhatKilledProcessesLeftOfAnIndexIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	f := newIndexFile("sqlite:"+path, nil)
	f.least = 50
	for name, age := range map[string]time.Duration{"p.db-index.new-1": 2 * time.Hour, "p.db-index.new-2": time.Minute, "q.db-index.new-3": 2 * time.Hour} {
		name, then := filepath.Join(filepath.Dir(path), name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	s := indexed(t, 1)
	if err := f.write(t.Context(), f.identity(50, 1, s.PublishedAt, s.Feed()), s.Index, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if left := unfinishedOf(t, f); !slices.Equal(left, []string{"p.db-index.new-2", "q.db-index.new-3"}) {
		t.Errorf("what is left is %q; want that of another process, and of another database", left)
	}
}

func TestPublishingWritesTheIndexForTheNextStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	database := "sqlite:" + path
	st, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	publish := func(seed uint64) *store.Published {
		t.Helper()
		if _, err := st.Catalogue.Publish(t.Context(), synthetic.Catalog(300, seed), store.PublishOptions{Now: time.Now, AllowRemovals: true}); err != nil {
			t.Fatal(err)
		}
		p, err := st.Catalogue.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var said bytes.Buffer
	inv := &invocation{ctx: t.Context(), database: database, stderr: &said}
	f := newIndexFile(database, nil)
	f.least = 300
	keep := func() string {
		t.Helper()
		keepIndex(inv, f)
		text, err := os.ReadFile(f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || said.Len() > 0 {
			t.Fatal(err, said.String())
		}
		return string(text)
	}
	// built returns the file that a server writes.
	built := func(p *store.Published) string {
		t.Helper()
		index, err := search.Build(t.Context(), p.Catalog)
		if err != nil {
			t.Fatal(err)
		}
		var file strings.Builder
		if err := index.Write(&file, f.identity(300, p.Version, p.PublishedAt, p.Feed)); err != nil {
			t.Fatal(err)
		}
		return file.String()
	}

	first := publish(1)
	if f.least = 301; keep() != "" {
		t.Error("the index of a small catalogue was written")
	}
	f.least = 300
	if _, err := os.Stat(path + "-lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("publishing left the lock of a server: %v", err)
	}
	server, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Claim(); err != nil {
		t.Fatal(err)
	}
	if keep() != "" {
		t.Error("the index was written although a server runs, which does so itself")
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	inv.ctx = ended
	keepIndex(inv, f)
	if got := said.String(); got != "palmares: the catalogue is published, without its search index: the next start takes longer\n" {
		t.Errorf("after the end of the context, publishing says %q", got)
	}
	said.Reset()
	inv.ctx = t.Context()
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if keep() != built(first) {
		t.Error("the index is not that of a server")
	}
	before, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if before.Mode().Perm() != 0o640 {
		t.Errorf("the index has the permissions %s, and the database 0640", before.Mode())
	}
	keep()
	if after, err := os.Stat(f.path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the same index was written again (%v)", err)
	}
	second := publish(2)
	if keep() != built(second) {
		t.Error("the index is not that of the second version")
	}
	ignored := func(*catalog.Tool) {}
	if err := st.Catalogue.EachSearched(t.Context(), first, ignored, ignored); !errors.Is(err, store.ErrSuperseded) {
		t.Errorf("the tools of a former version: %v", err)
	}
}
