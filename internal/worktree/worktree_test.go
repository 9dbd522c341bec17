package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalogdb"
	"palmares/internal/publication"
	"palmares/internal/testkit/testdb"
)

func TestPublishingWritesCommitsPushesAndStores(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) { tryPublishing(t, db, "") })
	t.Run("in a folder of the repository", func(t *testing.T) {
		tryPublishing(t, databases.OpenDSN(t, databases.SQLite(t)), "contenu/catalogue [1]")
	})
}

func tryPublishing(t *testing.T, db *testdb.DB, in string) {
	x := newTrial(t, db, in).open()
	next := tool("Plume", "Écrit mieux.")
	x.publishes(edit("outils/plume.md", plume, next))
	if got, want := shell(t, x.dir, "log", "-1", "--format=%an <%ae>: %s"), "Anne Durand <anne@essai.example>: Modifie outils/plume.md"; got != want {
		t.Errorf("the commit is %q, want %q", got, want)
	}
	p := edit("outils/rabot.md", nil, tool("Rabot", "Lisse."))
	p.Changes = append(p.Changes, Change{Path: "outils/plume.md", Data: plume, Base: Hash(next)})
	p.Message = "Plume, de nouveau, et Rabot"
	x.publishes(p)
	if got := shell(t, x.dir, "log", "-1", "--format=%s"); got != p.Message {
		t.Errorf("the commit is %q", got)
	}
	if got := shell(t, x.dir, "show", "--name-only", "--format="); strings.Count(got, "\n") != 1 {
		t.Errorf("the commit has %s", got)
	}
	// A tool becomes an obituary.
	retired := []byte("---\nname: Rabot\ncategory: code\nretired_at: 2026-11-01\nreason: mort\n---\nRangé.\n")
	p = edit("cimetiere/rabot.md", nil, retired)
	p.Changes = append(p.Changes, Change{Path: "outils/rabot.md", Base: Hash(tool("Rabot", "Lisse."))})
	x.publishes(p)
	versions, err := db.Catalogue.Versions(t.Context(), 1)
	if err != nil || versions[0].Author != "Anne Durand" || !versions[0].Clean {
		t.Errorf("the log has %+v, %v", versions, err)
	}
}

func TestWhatColleaguesDidIsJoined(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		x := newTrial(t, db, "").open()
		clone := x.clone()
		theirs := tool("Scie", "Scie.")
		pushed(t, clone, "outils/scie.md", theirs)
		x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit mieux.")))
		if data, err := x.Read("outils/scie.md"); err != nil || !bytes.Equal(data, theirs) {
			t.Errorf("%s, %v", data, err)
		}

		// Both publish the other's work, and neither is refused.
		shell(t, clone, "pull", "--quiet")
		if err := published(t.Context(), db, clone); err != nil {
			t.Error(err)
		}
		pushed(t, clone, "outils/scie.md", scie)
		if err := published(t.Context(), db, clone); err != nil {
			t.Error(err)
		}
		x.publishes(edit("outils/plume.md", tool("Plume", "Écrit mieux."), plume))

		// What was published and not pushed is not undone.
		shell(t, clone, "pull", "--quiet")
		write(t, filepath.Join(clone, "outils/scie.md"), theirs)
		shell(t, clone, "commit", "--quiet", "--all", "--message=Seul")
		if err := published(t.Context(), db, clone); err != nil {
			t.Error(err)
		}
		err := x.refuses(edit("outils/plume.md", plume, tool("Plume", "Écrit encore.")))
		stale, ok := errors.AsType[*StaleError](err)
		if !ok || stale.By != "Léa" || !stale.Unsent {
			t.Fatalf("error: %v", err)
		}
		shell(t, clone, "push", "--quiet")
		x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit encore.")))
	})
}

func TestARecordThatAColleagueChangedIsAConflict(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "contenu").open()
	theirs, hers := tool("Plume", "La leur."), tool("Plume", "La sienne.")
	pushed(t, x.clone(), "contenu/outils/plume.md", theirs)
	conflict := conflictOf(t, x.refuses(edit("outils/plume.md", plume, hers)))
	if !slices.Equal(conflict.Paths, []string{"outils/plume.md"}) || !bytes.Equal(conflict.Files["outils/plume.md"], theirs) || conflict.Local {
		t.Errorf("%+v", conflict)
	}
	conflictOf(t, x.refuses(edit("outils/plume.md", nil, hers)))
	conflictOf(t, x.refuses(edit("outils/absente.md", plume, hers)))
	x.publishes(edit("outils/plume.md", conflict.Files["outils/plume.md"], hers))
}

func TestWithoutTheUpstreamPublishingGoesOn(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		x := newTrial(t, db, "").open()
		clone, away := x.clone(), x.upstream+".away"
		leave := func(from, to string) {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		offline := func(p Publication) {
			t.Helper()
			upstream := x.upstream
			leave(upstream, away)
			x.upstream = ""
			if x.publishes(p) {
				t.Error("sent")
			}
			x.upstream = upstream
			if err := x.Send(t.Context()); err == nil {
				t.Error("sent to nobody")
			}
			leave(away, upstream)
		}
		sent := func() {
			t.Helper()
			commit := x.state().revision
			if err := x.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			after := x.state()
			if n, err := x.Unsent(t.Context()); n != 0 || err != nil || after.head != after.upstream || after.status != "" {
				t.Errorf("%d unsent, %v, %+v", n, err, after)
			}
			shell(t, x.dir, "merge-base", "--is-ancestor", commit, "HEAD")
		}
		offline(edit("outils/plume.md", plume, tool("Plume", "Hors ligne.")))
		sent()
		offline(edit("outils/plume.md", tool("Plume", "Hors ligne."), plume))
		shell(t, clone, "pull", "--quiet")
		pushed(t, clone, "outils/scie.md", tool("Scie", "Scie."))
		sent() // by a merge
		if parents := strings.Fields(shell(t, x.dir, "log", "-1", "--format=%P")); len(parents) != 2 {
			t.Errorf("the parents are %v", parents)
		}
		shell(t, clone, "pull", "--quiet")
		if err := published(t.Context(), db, clone); err != nil {
			t.Error(err)
		}

		// The same record on both sides: somebody chooses, and meanwhile others go on.
		offline(edit("outils/plume.md", plume, tool("Plume", "La sienne.")))
		theirs := tool("Plume", "La leur.")
		pushed(t, clone, "outils/plume.md", theirs)
		conflict := conflictOf(t, x.Send(t.Context()))
		if !bytes.Equal(conflict.Files["outils/plume.md"], theirs) {
			t.Errorf("%+v", conflict)
		}
		if x.publishes(edit("outils/rabot.md", nil, tool("Rabot", "Lisse."))) {
			t.Error("sent")
		}
		conflictOf(t, x.refuses(edit("outils/plume.md", tool("Plume", "La sienne."), plume)))
		both := edit("outils/plume.md", theirs, tool("Plume", "Les deux."))
		both.PublisherName, both.PublisherEmail = "Zoé Petit", "zoe@essai.example"
		if !x.publishes(both) {
			t.Error("not sent")
		}
		if got := shell(t, x.dir, "log", "-2", "--first-parent", "--format=%an %cn"); got != "Anne Durand Zoé Petit\nPalmarès Palmarès" {
			t.Errorf("signed by %s", got)
		}
		parents := strings.Fields(shell(t, x.dir, "log", "-1", "--format=%P", "HEAD^"))
		if len(parents) != 2 || shell(t, x.dir, "diff", "--name-only", "HEAD^", parents[1], "--", "outils/plume.md") != "" {
			t.Errorf("the merge of %v has an edit of its own", parents)
		}
		shell(t, clone, "pull", "--quiet")
		if err := published(t.Context(), db, clone); err != nil {
			t.Error(err)
		}
	})
}

// hook writes a hook of a repository.
func hook(t *testing.T, repository, name, script string) {
	t.Helper()
	path := filepath.Join(repository, "hooks", name)
	write(t, path, []byte("#!/bin/sh\n"+script))
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestAPushThatIsRefusedChangesNothing(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "").open()
	next := tool("Plume", "Écrit mieux.")
	hook(t, x.upstream, "pre-receive", "exit 1\n")
	x.refuses(edit("outils/plume.md", plume, next))
	if err := os.Remove(filepath.Join(x.upstream, "hooks/pre-receive")); err != nil {
		t.Fatal(err)
	}

	// A colleague pushes between the fetch and the push, or while it is received, once; then again
	// and again.
	clone := x.clone()
	pushes := "unset GIT_DIR GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES; cd '" + clone +
		"'; git pull -q; date +%N >>LISEZMOI; git add LISEZMOI; " +
		"git -c user.name=L -c user.email=l@essai.example commit -qm Vite; git push -q origin main\n"
	once := "if [ -e '" + clone + "/.git/once' ]; then exit 0; fi; touch '" + clone + "/.git/once'\n"
	hook(t, clone+"/.git", "after-fetch", "git-upload-pack \"$@\"\n"+once+pushes)
	shell(t, x.dir, "config", "remote.origin.uploadpack", clone+"/.git/hooks/after-fetch")
	x.publishes(edit("outils/plume.md", plume, next))
	hook(t, x.upstream, "pre-receive", strings.ReplaceAll(once, "once", "twice")+pushes)
	x.publishes(edit("outils/plume.md", next, plume))
	hook(t, clone+"/.git", "after-fetch", "git-upload-pack \"$@\"\n"+pushes)
	before := x.state()
	err := x.Publish(t.Context(), edit("outils/plume.md", plume, next))
	after := x.state()
	before.upstream = after.upstream // the colleague's
	if err == nil || !strings.Contains(err.Error(), "collègues") || before != after {
		t.Errorf("%v\n%+v\n%+v", err, before, after)
	}
}

func TestAFolderWithProblemsIsNotPublished(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		x := newTrial(t, db, "").open()
		err := x.refuses(edit("outils/plume.md", plume, []byte("---\nname: Plume\n---\n")))
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || len(refused.Problems) == 0 || refused.Problems[0].File != "outils/plume.md" {
			t.Errorf("error: %v", err)
		}
		err = x.refuses(Publication{Changes: []Change{{Path: "outils/plume.md", Base: Hash(plume)}}, AuthorName: "Anne Durand"})
		if removals, ok := errors.AsType[*catalogdb.RemovalsError](err); !ok || !slices.Equal(removals.Slugs, []string{"plume"}) {
			t.Errorf("error: %v", err)
		}
		for _, path := range []string{
			".git/hooks/pre-push", "outils/../.git/config", "/etc/passwd", "outils/.plume.md", "README.md", "outils", "outils/a\nb.md", "outils\\a.md", "",
		} {
			if _, err := x.Read(path); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q was read: %v", path, err)
			}
			x.refuses(edit(path, nil, plume))
		}
		p := edit("outils/plume.md", plume, plume)
		p.Changes = append(p.Changes, p.Changes[0])
		x.refuses(p)

		// A version of which the folder knows nothing is replaced by somebody who has seen it.
		elsewhere := t.TempDir()
		writeCatalogue(t, elsewhere)
		write(t, filepath.Join(elsewhere, "outils/plume.md"), tool("Plume", "Ailleurs."))
		job := &publication.Job{Dir: elsewhere, Now: x.cfg.Now, Sink: unheard{}}
		read, err := job.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		version, err := job.Publish(t.Context(), db.Catalogue, read)
		if err = errors.Join(err, read.Close()); err != nil {
			t.Fatal(err)
		}
		again := edit("outils/scie.md", scie, tool("Scie", "Scie."))
		stale, ok := errors.AsType[*StaleError](x.refuses(again))
		if !ok || stale.Version != version || stale.Unsent {
			t.Errorf("%+v", stale)
		}
		again.Over = stale.Version
		x.publishes(again)
	})
}

func TestAVersionIsReplacedByACommitThatContainsIt(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "").open()
	first := x.state().head
	x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit mieux.")))
	second := x.state().head
	for _, c := range []struct {
		published    catalogdb.Head
		commit       string
		over         int64
		is, isUnsent bool
	}{
		{catalogdb.Head{}, first, 0, true, false},
		{catalogdb.Head{Version: 9, Revision: first}, second, 0, true, false},
		{catalogdb.Head{Version: 9, Revision: second, Clean: true}, second, 0, true, false},
		{catalogdb.Head{Version: 9, Revision: second}, second, 0, false, true}, // with changes that nobody committed
		{catalogdb.Head{Version: 9, Revision: second, Clean: true}, first, 0, false, true},
		{catalogdb.Head{Version: 9, Revision: first, Earlier: true}, second, 0, false, false},
		{catalogdb.Head{Version: 9}, second, 0, false, false},
		{catalogdb.Head{Version: 9}, second, 9, true, false},
		{catalogdb.Head{Version: 9, Revision: first, Clean: true, Since: 9}, second, 8, false, true},
	} {
		err := x.mayReplace(t.Context(), c.published, c.commit, c.over)
		stale, isStale := errors.AsType[*StaleError](err)
		if (err == nil) != c.is || isStale && (stale.Version != 9 || stale.Unsent != c.isUnsent) {
			t.Errorf("%+v by %s over %d: %v", c.published, c.commit, c.over, err)
		}
	}
}

func TestWhatSomebodyIsEditingStays(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "").open()
	clone := x.clone()
	edited := tool("Scie", "En cours.")
	write(t, filepath.Join(x.dir, "outils/scie.md"), edited)
	write(t, filepath.Join(x.dir, "outils/neuf.md"), []byte("rien encore"))
	write(t, filepath.Join(x.dir, "Outils/brouillon.md"), plume)
	write(t, filepath.Join(x.dir, "outils/index.md"), tool("Index", "Ajouté."))
	shell(t, x.dir, "add", "outils/index.md")
	next := tool("Plume", "Écrit mieux.")
	x.publishes(edit("outils/plume.md", plume, next))
	if got := shell(t, x.dir, "show", "--name-only", "--format="); got != "outils/plume.md" {
		t.Errorf("the commit has %s", got)
	}
	catalogue, err := x.db.Catalogue.Load(t.Context())
	if err != nil || catalogue.Catalog.Tool("scie").Tagline != "Coupe." || catalogue.Catalog.Tool("index") != nil {
		t.Errorf("an edited file was published: %v", err)
	}

	for _, p := range []Publication{
		edit("outils/scie.md", scie, tool("Scie", "Scie.")),
		edit("outils/neuf.md", nil, tool("Neuf", "Neuf.")),
		edit("outils/index.md", nil, tool("Index", "Autre.")),
	} {
		if conflict := conflictOf(t, x.refuses(p)); !conflict.Local || conflict.Paths[0] != p.Changes[0].Path {
			t.Errorf("%+v", conflict)
		}
	}
	shell(t, clone, "pull", "--quiet")
	pushed(t, clone, "outils/scie.md", tool("Scie", "Poussé."))
	before := x.state()
	if conflict := conflictOf(t, x.Send(t.Context())); !conflict.Local {
		t.Errorf("%+v", conflict)
	}
	if after := x.state(); before != after {
		t.Errorf("%+v\n%+v", before, after)
	}
	shell(t, x.dir, "checkout", "outils/scie.md")
	if err := x.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	if data, _ := x.Read("outils/scie.md"); !bytes.Equal(data, tool("Scie", "Poussé.")) {
		t.Errorf("%s", data)
	}

	// What was committed in the folder meanwhile is published as well.
	shell(t, x.dir, "rm", "--quiet", "--cached", "outils/index.md")
	write(t, filepath.Join(x.dir, "outils/scie.md"), edited)
	shell(t, x.dir, "commit", "--quiet", "--message=Sur place", "outils/scie.md")
	x.publishes(edit("outils/plume.md", next, plume))
	if catalogue, err := x.db.Catalogue.Load(t.Context()); err != nil || catalogue.Catalog.Tool("scie").Tagline != "En cours." {
		t.Errorf("a commit is missing: %v", err)
	}
}

func TestAFolderOutsideGitIsPublished(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		x := &trial{T: t, db: db, dir: t.TempDir()}
		writeCatalogue(t, x.dir)
		x.open()
		x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit mieux.")))
		conflictOf(t, x.refuses(edit("outils/plume.md", plume, scie)))
		if n, err := x.Unsent(t.Context()); n != 0 || err != nil {
			t.Error(n, err)
		}
		if err := x.Send(t.Context()); err != nil {
			t.Error(err)
		}
		p := edit("outils/plume.md", tool("Plume", "Écrit mieux."), plume)
		p.Over = 1
		if _, ok := errors.AsType[*StaleError](x.refuses(p)); !ok {
			t.Error("an older version was replaced")
		}
	})
}

func TestARepositoryWithoutUpstreamIsPublished(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "")
	shell(t, x.dir, "remote", "remove", "origin")
	x.upstream = ""
	x.open()
	if !x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit mieux."))) {
		t.Error("there is nowhere to send it")
	}
	if err := x.Send(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWrittenToIsRefusedAtTheStart(t *testing.T) {
	for name, spoil := range map[string]func(x *trial){
		"is not on a branch":                      func(x *trial) { shell(t, x.dir, "switch", "--quiet", "--detach") },
		"catalogue.yaml: commit the folder first": func(x *trial) { shell(t, x.dir, "switch", "--quiet", "--orphan", "vide") },
		"does not have its catalogue.yaml":        func(x *trial) { x.dir = filepath.Join(x.dir, "outils") },
		"does not exist":                          func(x *trial) { x.dir += "/absent" },
	} {
		x := newTrial(t, nil, "")
		spoil(x)
		f, err := Open(t.Context(), Config{Dir: x.dir})
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingWaitsForAnybody(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "")
	for _, setting := range [][2]string{
		{"commit.gpgsign", "true"}, {"gpg.program", "/bin/false"}, {"core.editor", "/bin/false"}, {"user.useConfigOnly", "true"},
	} {
		shell(t, x.dir, "config", setting[0], setting[1])
	}
	x.open()
	for _, name := range []string{"pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push"} {
		hook(t, x.repo.gitDir, name, "exec sleep 600\n")
	}
	x.publishes(edit("outils/plume.md", plume, tool("Plume", "Écrit mieux.")))
	// The hook of an upstream outlives the push that gave up on it.
	pid := filepath.Join(t.TempDir(), "pid")
	hook(t, x.upstream, "pre-receive", "echo $$ > "+pid+"; exec sleep 600\n")
	t.Cleanup(func() {
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	})
	x.repo.patience = 2 * time.Second
	if x.publishes(edit("outils/plume.md", tool("Plume", "Écrit mieux."), plume)) {
		t.Error("sent")
	}
}

func TestAnOverlayIsAFolder(t *testing.T) {
	dir := t.TempDir()
	writeCatalogue(t, dir)
	f, err := Open(t.Context(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files := f.With([]Change{
		{Path: "outils/plume.md", Data: scie}, {Path: "outils/scie.md"}, {Path: "images/a/b.png", Data: []byte("x")},
	})
	var got []string
	err = fs.WalkDir(files, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, err := fs.ReadFile(files, path)
			got = append(got, path+" "+Hash(data)[:6])
			return err
		}
		return err
	})
	want := []string{
		"catalogue.yaml " + Hash([]byte(catalogueYAML))[:6], "images/a/b.png " + Hash([]byte("x"))[:6], "outils/plume.md " + Hash(scie)[:6],
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := fs.Stat(files, "outils/scie.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestWhatAVersionChangedInTheFilesIsTakenBack(t *testing.T) {
	x := newTrial(t, databases.OpenDSN(t, databases.SQLite(t)), "contenu").open()
	next, rabot := tool("Plume", "Écrit mieux."), tool("Rabot", "Lisse.")
	p := edit("outils/plume.md", plume, next)
	p.Changes = append(p.Changes, Change{Path: "outils/rabot.md", Data: rabot})
	x.publishes(p)
	version := x.state().version
	x.publishes(edit("outils/scie.md", scie, tool("Scie", "Scie.")))
	changes, err := x.Undo(t.Context(), version)
	want := []Change{{"outils/plume.md", plume, Hash(next)}, {"outils/rabot.md", nil, Hash(rabot)}}
	if diff := cmp.Diff(want, changes); err != nil || diff != "" {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	before := x.state()
	undo := Publication{Undoes: version, Changes: changes, AuthorName: "Anne Durand", AuthorEmail: "anne@essai.example", AllowRemovals: true}
	_, isRefused := errors.AsType[*publication.RefusedError](x.refuses(Publication{Undoes: 1, Changes: changes}))
	if !isRefused {
		t.Error("there is nothing before the first version")
	}

	// The site takes it back, and the process is killed before the folder does.
	j := &journal{Publication: undo}
	site := publication.Undo{Version: version, Token: undo.AuthorName, Now: x.cfg.Now, Sink: unheard{}}
	unsent, err := x.prepare(t.Context(), j)
	err = errors.Join(unsent, err, x.save(j))
	if err != nil {
		t.Fatal(err)
	}
	undone, err := site.Run(t.Context(), x.db.Catalogue)
	if err = errors.Join(err, x.Recover(t.Context())); err != nil {
		t.Fatal(err)
	}
	if s := x.state(); undone != before.version+1 || s.version != undone || s.head != s.revision || s.head != s.upstream || s.status != "" {
		t.Errorf("version %d, %+v", undone, s)
	}
	if data, err := x.Read("outils/plume.md"); err != nil || !bytes.Equal(data, plume) {
		t.Errorf("%s, %v", data, err)
	}
	write(t, filepath.Join(x.dir, "outils/scie.md"), scie[1:])
	_, err = x.Undo(t.Context(), version+1)
	conflictOf(t, err)
}
