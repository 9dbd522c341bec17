package dataset_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/record"
	"palmares/internal/snapshot"
)

// versions returns snapshots of one feed, one per version.
func versions(n int) (list []*snapshot.Snapshot) {
	for v := range int64(n) {
		c := varied()
		c.Tools[3].Tagline = strings.Repeat("x", int(v)+1)
		s := snapshot.Build(c, v+1, "2026-11-16")
		s.PublishedAt = published
		if v == 0 {
			s.SetFeed(record.First("flux-1", c, 1, published))
		} else {
			before := list[v-1]
			feed, _ := before.Feed.After(c, v+1, published)
			s.SetFeed(feed)
		}
		list = append(list, s)
	}
	return list
}

// nameOf returns the name of an export.
func nameOf(x *dataset.Export) string { return filepath.Base(filepath.Dir(x.Files[0].Path)) }

// folders returns what is in a folder of exports.
func folders(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestTheServedVersionAndTheOneBeforeStay(t *testing.T) {
	list := versions(4)
	dir := t.TempDir()
	e := open(t, dir)
	open(t, dir).get(show(varied(), 3, "flux-2")) // another catalogue
	var names []string
	for i, s := range list[:3] {
		names = append(names, nameOf(e.get(s)))
		if got := folders(t, dir); len(got) != min(i+1, 2) || got[len(got)-1] != names[i] {
			t.Errorf("version %d: %v", i+1, got)
		}
	}
	for name, want := range map[string]error{names[0]: dataset.ErrGone, names[1]: nil, names[2]: nil} {
		if _, err := e.Find(t.Context(), list[2], name); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", name, err, want)
		}
	}
	if _, err := e.Find(t.Context(), list[3], names[1]); !errors.Is(err, dataset.ErrGone) { // though its files are still there
		t.Error(err)
	}
	if _, err := e.Find(t.Context(), list[1], names[2]); !errors.Is(err, dataset.ErrNoFile) {
		t.Error(err)
	}
	for _, name := range []string{"", "v", "v1", "v1-", "v-1-000000000000", "v01-000000000000", "v1-00000000000G", "v1-0000000000000", "../x", "lock", "v99999999999999999999-000000000000", "v5-000000000000"} {
		if _, err := e.Find(t.Context(), list[3], name); !errors.Is(err, dataset.ErrNoFile) {
			t.Errorf("%q: %v", name, err)
		}
	}
	heads := versions(4)[3]
	heads.Catalog.Settings.Dataset = catalog.DatasetHead
	if _, err := e.Find(t.Context(), heads, names[2]); !errors.Is(err, dataset.ErrGone) {
		t.Errorf("texts that the publisher keeps are still available: %v", err)
	}
}

func TestARestartFindsWhatWasWrittenAndRemovesWhatWasNot(t *testing.T) {
	s, dir := versions(1)[0], t.TempDir()
	name := nameOf(open(t, dir).get(s))
	if err := os.MkdirAll(filepath.Join(dir, "building-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir)
	written := e.Written(s)
	if written == nil || nameOf(written) != name {
		t.Fatal("the export is not found again")
	}
	e.get(versions(2)[1]) // Run has begun
	if got := folders(t, dir); len(got) != 2 || got[0] != name {
		t.Errorf("%v", got)
	}
	// A file that was cut short is no export: it is written again.
	if err := os.Truncate(filepath.Join(dir, name, "outils.csv"), 10); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	if e.Written(s) != nil {
		t.Error("a file that was cut short counts as written")
	}
	read(t, e.get(s), "outils.csv")
}

func TestAFolderThatCannotBeWrittenIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, filepath.Join(file, "exports"))
	if !e.log.Contains("exports cannot be written") {
		t.Error("nothing is said at the start")
	}
	for range 2 { // the second time nothing is tried
		if _, err := e.Get(t.Context(), versions(1)[0]); !errors.Is(err, dataset.ErrFailed) || e.log.Count("the export cannot be written") != 1 {
			t.Error(err, e.log)
		}
	}
	if !e.log.Contains("--export-dir") {
		t.Error(e.log)
	}
}

func TestManyReadersShareOneBuildAndTwoServersShareAFolder(t *testing.T) {
	s, dir := versions(1)[0], t.TempDir()
	a, b := open(t, dir), open(t, dir)
	var readers sync.WaitGroup
	for i := range 20 {
		readers.Go(func() {
			if _, err := []*exports{a, b}[i%2].Get(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if a.log.Count("is written")+b.log.Count("is written") > 2 || len(folders(t, dir)) != 1 {
		t.Errorf("%s%s%v", a.log, b.log, folders(t, dir))
	}
	// What one of them removes, the other one writes again.
	x := b.get(s)
	if err := os.RemoveAll(filepath.Join(dir, nameOf(x))); err != nil {
		t.Fatal(err)
	}
	read(t, b.get(s), "outils.csv")
}

func TestNobodyWaitsForLong(t *testing.T) {
	s := versions(1)[0]
	idle := dataset.New(dataset.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Timeout: time.Millisecond})
	if _, err := idle.Get(t.Context(), s); !errors.Is(err, dataset.ErrPreparing) {
		t.Error(err)
	}
	stopped := dataset.New(dataset.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Timeout: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := stopped.Get(t.Context(), s)
		waiting <- err
	}()
	cancel()
	if err := stopped.Run(ctx); err != nil {
		t.Error(err)
	}
	if _, err := stopped.Get(t.Context(), s); !errors.Is(err, dataset.ErrPreparing) {
		t.Error(err)
	}
	if err := <-waiting; !errors.Is(err, dataset.ErrPreparing) {
		t.Error(err)
	}
}

// The default database is below the current folder.
func TestTheFolderMayBeRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"export", "a b/données?#"} {
		if x := open(t, dir).get(show(varied(), 1, "flux-1")); len(read(t, x, "palmares.sqlite.zst")) == 0 {
			t.Errorf("%s: nothing was written", dir)
		}
	}
}

func TestAFolderThatOthersDecideAboutIsNotUsed(t *testing.T) {
	s := show(varied(), 1, "flux-1")
	ours := filepath.Join(t.TempDir(), "export")
	open(t, ours).get(s)
	link := filepath.Join(t.TempDir(), "export")
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	foreign := "/" // of root
	if os.Geteuid() == 0 {
		foreign = t.TempDir()
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir, says := range map[string]string{link: "is a link", foreign: "belongs to another user", shared: "chmod go-w"} {
		e := open(t, dir)
		if e.Written(s) != nil {
			t.Errorf("%s: what is there is served", dir)
		}
		if x, err := e.Get(t.Context(), s); err == nil || !e.log.Contains(says) {
			t.Errorf("%s: %v, %v; logged: %s", dir, x, err, e.log)
		}
	}
}
