package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"palmares/internal/publication"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestMain(m *testing.M) {
	if os.Getenv("PALMARES_DESK_CHILD") != "" {
		child()
		return
	}
	// Nobody's own settings of git.
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Exit(testkit.Run(m))
}

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

var sunday = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

const catalogueYAML = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"

// tool is a file of outils/.
func tool(name, tagline string) []byte {
	return fmt.Appendf(nil, "---\nname: %s\ndomain: %s.example\ncategory: code\npricing: payant\nprice: 1 €/mois\ntagline: %s\nupdated_at: 2026-11-01\n---\n", name, strings.ToLower(name), tagline)
}

var plume, scie = tool("Plume", "Écrit."), tool("Scie", "Coupe.")

// A trial is a folder behind a desk, with its upstream and a colleague's clone.
type trial struct {
	*testing.T
	db       *testdb.DB
	dir      string // the content folder
	upstream string // a bare repository; "" for none
	*Folder
}

// shell runs git in a folder and returns what it printed.
func shell(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := git(dir, args...)
	if err != nil {
		t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return out
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=Léa", "-c", "user.email=lea@essai.example", "-c", "core.hooksPath=" + os.DevNull,
	}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// newTrial makes an upstream with a catalogue in a folder of it, which is "" for the top, and clones
// it for the desk.
func newTrial(t *testing.T, db *testdb.DB, in string) *trial {
	t.Helper()
	temp := t.TempDir()
	x := &trial{T: t, db: db, upstream: filepath.Join(temp, "upstream.git")}
	shell(t, temp, "init", "--quiet", "--bare", "--initial-branch=main", x.upstream)
	seed := filepath.Join(temp, "seed")
	shell(t, temp, "clone", "--quiet", x.upstream, seed)
	shell(t, seed, "switch", "--quiet", "--orphan", "main")
	writeCatalogue(t, filepath.Join(seed, in))
	shell(t, seed, "add", "--all")
	shell(t, seed, "commit", "--quiet", "--message=Début")
	shell(t, seed, "push", "--quiet", "origin", "main")
	shell(t, temp, "clone", "--quiet", x.upstream, filepath.Join(temp, "desk"))
	x.dir = filepath.Join(temp, "desk", in)
	return x
}

func writeCatalogue(t testing.TB, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "catalogue.yaml"), []byte(catalogueYAML))
	write(t, filepath.Join(dir, "outils/plume.md"), plume)
	write(t, filepath.Join(dir, "outils/scie.md"), scie)
}

// open opens the folder, and publishes it as it is.
func (x *trial) open() *trial {
	x.Helper()
	f, err := Open(x.Context(), Config{Dir: x.dir, Store: x.db.CatalogDB, Now: func() time.Time { return sunday }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { f.Close() })
	x.Folder = f
	if err := f.Recover(x.Context()); err != nil {
		x.Fatal(err)
	}
	if err := f.Publish(x.Context(), Publication{AuthorName: "Anne"}); err != nil {
		x.Fatal(err)
	}
	return x
}

// clone returns a colleague's clone.
func (x *trial) clone() string {
	x.Helper()
	dir := filepath.Join(x.TempDir(), "colleague")
	shell(x, filepath.Dir(dir), "clone", "--quiet", x.upstream, dir)
	return dir
}

// pushed changes a file as a colleague does who uses git.
func pushed(t testing.TB, clone, path string, data []byte) {
	t.Helper()
	write(t, filepath.Join(clone, path), data)
	shell(t, clone, "add", "--all")
	shell(t, clone, "commit", "--quiet", "--message=Changement")
	shell(t, clone, "push", "--quiet")
}

// edit is the publication of one changed file.
func edit(path string, old, data []byte) Publication {
	return Publication{
		Changes: []Change{{Path: path, Data: data, Base: Hash(old)}}, Message: "Modifie " + path,
		AuthorName: "Anne Durand", AuthorEmail: "anne@essai.example",
	}
}

// A state is everything that a publication changes.
type state struct {
	head, upstream, status, files string
	version                       int64
	revision, author              string
}

func (x *trial) state() (s state) {
	x.Helper()
	head, err := x.db.Catalogue.Head(x.Context())
	if err != nil {
		x.Fatal(err)
	}
	s.version, s.revision, s.author = head.Version, head.Revision, head.By
	if x.repo != nil {
		s.head, s.status = shell(x, x.dir, "rev-parse", "HEAD"), shell(x, x.dir, "status", "--porcelain")
	}
	if x.upstream != "" {
		s.upstream = shell(x, x.upstream, "rev-parse", "main")
	}
	err = fs.WalkDir(os.DirFS(x.dir), ".", func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() {
			data, err := os.ReadFile(filepath.Join(x.dir, path))
			s.files += path + " " + Hash(data) + "\n"
			return err
		}
		return err
	})
	if err != nil {
		x.Fatal(err)
	}
	return s
}

// publishes publishes, checks that everything is where it belongs, and reports whether that was sent.
func (x *trial) publishes(p Publication) (isSent bool) {
	x.Helper()
	before := x.state()
	if err := x.Publish(x.Context(), p); err != nil {
		x.Fatalf("%v (%v)", err, errors.Unwrap(err))
	}
	for _, c := range p.Changes {
		data, err := x.Read(c.Path)
		if c.Data == nil && !errors.Is(err, fs.ErrNotExist) || c.Data != nil && string(data) != string(c.Data) {
			x.Errorf("%s is %q, %v", c.Path, data, err)
		}
	}
	after := x.state()
	if after.version != before.version+1 || after.author != cmp.Or(p.PublisherName, p.AuthorName) || after.status != before.status {
		x.Errorf("published %+v; before %+v", after, before)
	}
	if x.repo != nil && (after.revision == "" || after.head != after.revision) {
		x.Errorf("HEAD is %s, and %s is published", after.head, after.revision)
	}
	unsent, err := x.Unsent(x.Context())
	if err != nil || x.upstream != "" && (unsent == 0) != (after.head == after.upstream) {
		x.Errorf("%v: %d are not sent, HEAD is %s, and the upstream has %s", err, unsent, after.head, after.upstream)
	}
	return unsent == 0
}

// refuses checks that a publication changes nothing, and returns its error.
func (x *trial) refuses(p Publication) error {
	x.Helper()
	before := x.state()
	err := x.Publish(x.Context(), p)
	if err == nil {
		x.Fatal("published")
	}
	if after := x.state(); after != before {
		x.Errorf("%v\nchanged %+v\nto      %+v", err, before, after)
	}
	for _, word := range []string{"git", "commit", "push", "merge", "HEAD", "branch"} {
		if strings.Contains(err.Error(), word) && !strings.Contains(err.Error(), ".git/") {
			x.Errorf("a writer reads %q", err)
		}
	}
	if _, err := os.Stat(x.journalFile()); err == nil {
		x.Error("a journal is left")
	}
	return err
}

func conflictOf(t testing.TB, err error) *ConflictError {
	t.Helper()
	conflict, ok := errors.AsType[*ConflictError](err)
	if !ok {
		t.Fatalf("error: %v; want a conflict", err)
	}
	return conflict
}

// published publishes a clone as `palmares publish` does.
func published(ctx context.Context, db *testdb.DB, dir string) error {
	job := &publication.Job{Dir: dir, Name: dir, Now: func() time.Time { return sunday }, Sink: unheard{}}
	read, err := job.Read(ctx)
	if err != nil {
		return err
	}
	defer read.Close()
	origin := &publication.Revision{}
	source, checkout, err := origin.Source(ctx, dir)
	if err != nil {
		return err
	}
	job.Source, job.Guard = source, origin.Guard(checkout)
	_, err = job.Publish(ctx, db.Catalogue, read)
	return err
}
