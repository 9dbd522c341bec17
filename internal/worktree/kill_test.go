package worktree

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"palmares/internal/testkit/testdb"
)

// make chaos has many more.
var kills = flag.Int("desk-kills", 3, "how many processes that publish from the desk are killed, on each database, in git and outside")

// child publishes one pair of files after another, until it is killed.
func child() {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err, errors.Unwrap(err))
			os.Exit(1)
		}
	}
	db, err := testdb.Open(ctx, os.Getenv("PALMARES_DESK_DSN"))
	fail(err)
	f, err := Open(ctx, Config{
		Dir: os.Getenv("PALMARES_DESK_CHILD"), Store: db.CatalogDB, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	fail(err)
	fail(f.Recover(ctx))
	for {
		n, changes, err := nextPair(f)
		fail(err)
		fmt.Println("begins", n)
		err = f.Publish(ctx, Publication{Changes: changes, AuthorName: "Anne Durand", AuthorEmail: "anne@essai.example"})
		fail(err)
		fmt.Println("published", n)
	}
}

// nextPair changes two files, and adds or removes a third.
func nextPair(f *Folder) (n int, changes []Change, err error) {
	old, err := f.Read("outils/plume.md")
	if err != nil {
		return 0, nil, err
	}
	n = numberOf(old) + 1
	other, err := f.Read("outils/scie.md")
	if err != nil {
		return 0, nil, err
	}
	changes = []Change{
		{Path: "outils/plume.md", Base: Hash(old), Data: tool("Plume", numbered(n))},
		{Path: "outils/scie.md", Base: Hash(other), Data: tool("Scie", numbered(n))},
	}
	page, err := f.Read("pages/tour.md")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		changes = append(changes, Change{Path: "pages/tour.md", Data: []byte("---\ntitle: Tour\nmenu: footer\n---\nUn tour.\n")})
	case err != nil:
		return 0, nil, err
	default:
		changes = append(changes, Change{Path: "pages/tour.md", Base: Hash(page)})
	}
	return n, changes, nil
}

func numbered(n int) string { return fmt.Sprintf("Essai %d", n) }

// numberOf returns the number that is the tagline of a file; 0 if it has another one.
func numberOf(data []byte) int {
	_, rest, _ := strings.Cut(string(data), "Essai ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line)
	return n
}

// killed runs a child in a process group of its own, and kills all of that at a random moment within the time that two
// publications take. It returns the last number that the child said was published.
func (x *trial) killed(dsn string, random *rand.Rand, took time.Duration) (reported int) {
	x.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PALMARES_DESK_CHILD="+x.dir, "PALMARES_DESK_DSN="+dsn)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		x.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		_ = cmd.Wait()
		x.Fatalf("the child ended by itself: %s", &stderr)
	}
	kill := time.AfterFunc(time.Duration(random.Int64N(int64(2*took))), func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	defer kill.Stop()
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "published "); ok {
			reported, _ = strconv.Atoi(n)
		}
	}
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 {
		x.Fatalf("the child ended by itself: %s", &stderr)
	}
	return reported
}

// agrees checks that folder, git and database have the same, and returns its number.
func (x *trial) agrees() int {
	x.Helper()
	numbers := map[string]int{}
	for _, path := range []string{"outils/plume.md", "outils/scie.md"} {
		data, err := x.Read(path)
		if err != nil {
			x.Fatal(err)
		}
		numbers["folder, "+path] = numberOf(data)
	}
	published, err := x.db.Catalogue.Load(x.Context())
	if err != nil {
		x.Fatal(err)
	}
	for _, slug := range []string{"plume", "scie"} {
		numbers["database, "+slug] = numberOf([]byte(published.Catalog.Tool(slug).Tagline))
	}
	n := numbers["folder, outils/plume.md"]
	if _, err := x.Read("pages/tour.md"); (err == nil) != (n%2 == 1) || len(published.Catalog.Pages) != n%2 {
		x.Errorf("number %d: the page is in the folder: %v; in the database are %d", n, err, len(published.Catalog.Pages))
	}
	if x.repo != nil {
		for _, place := range []string{x.dir + ":HEAD", x.upstream + ":main"} {
			dir, ref, _ := strings.Cut(place, ":")
			for _, path := range []string{"outils/plume.md", "outils/scie.md"} {
				numbers[place+", "+path] = numberOf([]byte(shell(x, dir, "show", ref+":"+path)))
			}
		}
		if s := x.state(); s.head != s.revision || s.head != s.upstream || s.status != "" {
			x.Errorf("number %d: %+v", n, s)
		}
	}
	for place, other := range numbers {
		if other != n {
			x.Errorf("%s has number %d; the folder has %d", place, other, n)
		}
	}
	if _, err := os.Stat(x.journalFile()); err == nil {
		x.Error("a journal is left")
	}
	return n
}

func TestAKilledDeskLeavesTheOldOrTheNew(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		x := newTrial(t, databases.OpenDSN(t, dsn), "").open()
		clone := x.clone()
		x.survives(dsn, func(i int) {
			if i%3 > 0 {
				return
			}
			shell(t, clone, "pull", "--quiet")
			pushed(t, clone, "LISEZMOI", []byte(strconv.Itoa(i)))
			if err := x.Publish(t.Context(), Publication{}); err != nil {
				t.Fatal(err)
			}
		})
	})
}

func TestAKilledDeskOutsideGitLeavesTheOldOrTheNew(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		x := &trial{T: t, db: databases.OpenDSN(t, dsn), dir: t.TempDir()}
		writeCatalogue(t, x.dir)
		x.open().survives(dsn, func(int) {})
	})
}

// survives kills desks, and opens the folder again after each.
func (x *trial) survives(dsn string, between func(i int)) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	_, changes, err := nextPair(x.Folder)
	begun := time.Now()
	err = errors.Join(err, x.Publish(x.Context(), Publication{Changes: changes, AuthorName: "Anne Durand"}))
	if err != nil {
		x.Fatal(err)
	}
	took := time.Since(begun)
	versions, forward := 0, 0
	for i := range *kills {
		before := x.agrees()
		reported := x.killed(dsn, random, took)
		x.unlockUpstream()
		if err := x.Recover(x.Context()); err != nil {
			x.Fatalf("%v (%v)", err, errors.Unwrap(err))
		}
		after := x.agrees()
		if after < reported || after < before || x.Failed() {
			x.Fatalf("kill %d: number %d, then %d reported, then %d", i, before, reported, after)
		}
		versions += after - before
		if after > max(before, reported) {
			forward++
		}
		between(i)
	}
	x.Logf("%d desks killed, %d versions published, %d of them finished after the kill", *kills, versions, forward)
}

// unlockUpstream removes the locks of the upstream, which would be another machine that nobody kills.
func (x *trial) unlockUpstream() {
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock"} {
		locks, err := filepath.Glob(filepath.Join(x.upstream, pattern))
		for _, lock := range locks {
			err = errors.Join(err, os.Remove(lock))
		}
		if err != nil {
			x.Fatal(err)
		}
	}
}
