package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/record"
	"palmares/internal/search"
	"palmares/internal/snapshot"
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
	return f.read(f.identity(s.Catalog, s.Version, s.PublishedAt, s.Feed()), s.Catalog)
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
	identity := f.identity(s.Catalog, s.Version, s.PublishedAt, s.Feed())
	if err := f.write(t.Context(), identity, s.Index); err != nil {
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
	if err := f.write(ended, identity, s.Index); !errors.Is(err, context.Canceled) {
		t.Errorf("writing after the end: %v", err)
	}
	if _, err := os.Stat(f.path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished file remains: %v", err)
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
