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

func TestTheLastThreeVersionsStay(t *testing.T) {
	list := versions(4)
	dir := t.TempDir()
	e := open(t, dir, 1<<30)
	var names []string
	for _, s := range list[:3] {
		names = append(names, nameOf(e.get(s)))
	}
	for i, name := range names {
		if x, err := e.Find(t.Context(), list[2], name); err != nil || x.Version != int64(i+1) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Find(t.Context(), list[3], names[0]); !errors.Is(err, dataset.ErrGone) { // though its files are still there
		t.Error(err)
	}
	if _, err := e.Find(t.Context(), list[1], names[2]); !errors.Is(err, dataset.ErrNoFile) {
		t.Error(err)
	}
	e.get(list[3])
	if got := folders(t, dir); len(got) != 3 {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"", "v", "v1", "v1-", "v-1-000000000000", "v01-000000000000", "v1-00000000000G", "v1-0000000000000", "../x", "lock", "v99999999999999999999-000000000000", "v5-000000000000"} {
		if _, err := e.Find(t.Context(), list[3], name); !errors.Is(err, dataset.ErrNoFile) {
			t.Errorf("%q: %v", name, err)
		}
	}
	heads := versions(4)[3]
	heads.Catalog.Settings.Dataset = catalog.DatasetHead
	if _, err := e.Find(t.Context(), heads, names[1]); !errors.Is(err, dataset.ErrGone) {
		t.Errorf("texts that the publisher keeps are still available: %v", err)
	}
}

func TestARestartFindsWhatWasWrittenAndRemovesWhatWasNot(t *testing.T) {
	s, dir := versions(1)[0], t.TempDir()
	name := nameOf(open(t, dir, 1<<30).get(s))
	if err := os.MkdirAll(filepath.Join(dir, "building-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir, 1<<30)
	written := e.Written(s)
	if written == nil || nameOf(written) != name {
		t.Fatal("the export is not found again")
	}
	e.get(show(varied(), 2, "flux-2")) // Run has begun
	if got := folders(t, dir); len(got) != 2 {
		t.Errorf("%v", got)
	}
	// A file that was cut short is no export: it is written again.
	if err := os.Truncate(filepath.Join(dir, name, "outils.csv"), 10); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir, 1<<30)
	if e.Written(s) != nil {
		t.Error("a file that was cut short counts as written")
	}
	read(t, e.get(s), "outils.csv")
}

func TestAFolderHasALimit(t *testing.T) {
	list, dir := versions(3), t.TempDir()
	x := open(t, dir, 1<<30).get(list[0])
	size := int64(0)
	for _, f := range x.Files {
		size += f.Bytes
	}
	raw := int64(len(read(t, x, "palmares.sqlite.zst")))
	e := open(t, dir, size+raw+size/2)
	e.get(list[1])
	if got := folders(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "v2-") {
		t.Errorf("the older version did not leave: %v", got)
	}
	for _, space := range []int64{1, size / 2, raw, size + raw/2} {
		e := open(t, t.TempDir(), space)
		if _, err := e.Get(t.Context(), list[2]); !errors.Is(err, dataset.ErrNoRoom) {
			t.Errorf("%d bytes are enough: %v", space, err)
		}
		if got := folders(t, e.dir); len(got) > 0 || !e.log.Contains("--export-space") {
			t.Errorf("%v is left; the log says %s", got, e.log)
		}
		if _, err := e.Get(t.Context(), list[2]); !errors.Is(err, dataset.ErrNoRoom) || e.log.Count("cannot be written") != 1 {
			t.Errorf("it was tried again at once: %v", err)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := open(t, filepath.Join(file, "exports"), 1<<30)
	if !e.log.Contains("exports cannot be written") {
		t.Error("nothing is said at the start")
	}
	if _, err := e.Get(t.Context(), versions(1)[0]); !errors.Is(err, dataset.ErrFailed) || !e.log.Contains("--export-dir") {
		t.Error(err, e.log)
	}
}

func TestManyReadersShareOneBuildAndTwoServersShareAFolder(t *testing.T) {
	s, dir := versions(1)[0], t.TempDir()
	a, b := open(t, dir, 1<<30), open(t, dir, 1<<30)
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
	idle := dataset.New(dataset.Config{Dir: t.TempDir(), Space: 1 << 30, Log: slog.New(slog.DiscardHandler), Timeout: time.Millisecond})
	if _, err := idle.Get(t.Context(), s); !errors.Is(err, dataset.ErrPreparing) {
		t.Error(err)
	}
	stopped := dataset.New(dataset.Config{Dir: t.TempDir(), Space: 1 << 30, Log: slog.New(slog.DiscardHandler), Timeout: time.Hour})
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
		if x := open(t, dir, 1<<30).get(show(varied(), 1, "flux-1")); len(read(t, x, "palmares.sqlite.zst")) == 0 {
			t.Errorf("%s: nothing was written", dir)
		}
	}
}

func TestAFolderThatOthersDecideAboutIsNotUsed(t *testing.T) {
	s := show(varied(), 1, "flux-1")
	ours := filepath.Join(t.TempDir(), "export")
	open(t, ours, 1<<30).get(s)
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
		e := open(t, dir, 1<<30)
		if e.Written(s) != nil {
			t.Errorf("%s: what is there is served", dir)
		}
		if x, err := e.Get(t.Context(), s); err == nil || !e.log.Contains(says) {
			t.Errorf("%s: %v, %v; logged: %s", dir, x, err, e.log)
		}
	}
}
