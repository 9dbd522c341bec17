package deskdb_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

// plume is a file of a content folder.
const plume = "---\nname: Plume\n---\n\nUn outil.\r\n"

// workingCopy has somebody begin to write.
func workingCopy(t testing.TB, s *kit, author, path string) deskdb.WorkingCopy {
	t.Helper()
	c, err := s.Copies.Create(t.Context(), deskdb.WorkingCopy{Path: path, Author: author, Original: []byte(plume), Data: []byte(plume)}, monday)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// saveCopy saves a working copy.
func saveCopy(t testing.TB, s *kit, c deskdb.WorkingCopy, data string, now time.Time) deskdb.WorkingCopy {
	t.Helper()
	if _, err := s.Copies.Save(t.Context(), c.ID, c.Revision, []byte(data), now); err != nil {
		t.Fatal(err)
	}
	return findWorkingCopy(t, s, c.ID)
}

func findWorkingCopy(t testing.TB, s *kit, id string) deskdb.WorkingCopy {
	t.Helper()
	c, err := s.Copies.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAWorkingCopyKeepsEveryByteAndWhereItBegan(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		c := workingCopy(t, s, "Ada@example.org", "outils/plume.md")
		want := deskdb.WorkingCopy{
			ID: c.ID, Path: "outils/plume.md", Author: "ada@example.org", Base: fmt.Sprintf("%x", sha256.Sum256([]byte(plume))),
			Original: []byte(plume), Data: []byte(plume), State: deskdb.CopyInProgress, Revision: 1, CreatedAt: monday, SavedAt: monday,
		}
		if diff := cmp.Diff(want, c); diff != "" || !account.IsID(account.CopyID, c.ID) {
			t.Errorf("created: %s", diff)
		}
		for _, data := range []string{"", "\x00\xff\r\n", plume + "plus"} {
			now := c.SavedAt.Add(time.Second)
			next := saveCopy(t, s, c, data, now)
			want.Data, want.Revision, want.SavedAt = []byte(data), c.Revision+1, now
			if diff := cmp.Diff(want, next, cmp.Transformer("", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("saved: %s", diff)
			}
			c = next
		}
		// Opening the record again leads to the same working copy.
		if again := workingCopy(t, s, "ada@example.org", "outils/plume.md"); again.ID != c.ID || string(again.Data) != plume+"plus" {
			t.Errorf("a second copy of the same record: %+v", again)
		}
		created, err := s.Copies.Create(ctx, deskdb.WorkingCopy{Path: "necrologies/plume.md", Replaces: "outils/plume.md", Author: "bob@example.org"}, day(1))
		if err != nil || created.Base != "" || len(created.Original)+len(created.Data) != 0 {
			t.Errorf("a new record begins as %+v, %v", created, err)
		}
		workingCopy(t, s, "bob@example.org", "outils/autre.md")
		all, err := s.Copies.List(ctx)
		var paths []string
		for _, c := range all {
			paths = append(paths, c.Path)
			if c.Data != nil || c.Original != nil || c.SavedAt.IsZero() || c.Author == "" {
				t.Errorf("listed as %+v", c)
			}
		}
		if want := []string{"necrologies/plume.md", "outils/plume.md", "outils/autre.md"}; !slices.Equal(paths, want) || err != nil {
			t.Errorf("listed %q, %v, want %q", paths, err, want)
		}
	})
}

func TestOfSavesOnOneRevisionOneSucceedsAndMayBeRepeated(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := workingCopy(t, s, "ada@example.org", "outils/plume.md")
		var saved atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				revision, err := s.Copies.Save(t.Context(), c.ID, c.Revision, fmt.Appendf(nil, "texte %d", i), monday)
				switch {
				case err == nil && revision == 2:
					saved.Add(1)
				case err == nil:
					t.Errorf("a save made revision %d", revision)
				default:
					testkit.Fails(t, err, sqldb.ErrChanged, c.ID, "load it again")
				}
			})
		}
		all.Wait()
		now := findWorkingCopy(t, s, c.ID)
		if saved.Load() != 1 || now.Revision != 2 {
			t.Errorf("%d saves succeeded, and the revision is %d", saved.Load(), now.Revision)
		}
		// The response to the one that succeeded was lost.
		if revision, err := s.Copies.Save(t.Context(), c.ID, c.Revision, now.Data, day(1)); revision != 2 || err != nil {
			t.Errorf("the same again is revision %d, %v", revision, err)
		}
		testkit.Fails(t, s.Copies.Delete(t.Context(), c.ID, 1), sqldb.ErrChanged)
		testkit.Fails(t, s.Copies.SetState(t.Context(), c.ID, 1, deskdb.CopyStep{State: deskdb.CopyReady, By: "ada@example.org"}, monday), sqldb.ErrChanged)
		if got := findWorkingCopy(t, s, c.ID); !cmp.Equal(got, now) {
			t.Errorf("what was refused changed %+v to %+v", now, got)
		}
	})
}

func TestWhatWasApprovedIsInProgressAgainWhenItChanges(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		c := workingCopy(t, s, "ada@example.org", "outils/plume.md")
		for state, want := range map[string]string{
			deskdb.CopyInProgress: deskdb.CopyInProgress, deskdb.CopyForReview: deskdb.CopyForReview, deskdb.CopyReady: deskdb.CopyInProgress,
		} {
			step := deskdb.CopyStep{State: state, Note: "Le prix a changé.", By: "ada@example.org"}
			if err := s.Copies.SetState(t.Context(), c.ID, c.Revision, step, monday); err != nil {
				t.Fatal(err)
			}
			same := saveCopy(t, s, c, string(c.Data), day(1))
			if same.State != state || same.Note != step.Note || same.Revision != c.Revision {
				t.Errorf("%s: without a change it is %+v", state, same)
			}
			if c = saveCopy(t, s, c, string(c.Data)+"!", day(1)); c.State != want {
				t.Errorf("%s becomes %s, want %s", state, c.State, want)
			}
		}
		revision, err := s.Copies.Rebase(t.Context(), c.ID, c.Revision, []byte("the file now"), c.Data, day(2))
		rebased := findWorkingCopy(t, s, c.ID)
		if err != nil || revision != c.Revision+1 || rebased.Revision != revision || rebased.Base != fmt.Sprintf("%x", sha256.Sum256([]byte("the file now"))) ||
			string(rebased.Original) != "the file now" || !bytes.Equal(rebased.Data, c.Data) {
			t.Errorf("on another base it is %+v, %v", rebased, err)
		}
		_, err = s.Copies.Rebase(t.Context(), c.ID, c.Revision, nil, nil, day(2))
		testkit.Fails(t, err, sqldb.ErrChanged)
	})
}

func TestWorkingCopiesAreBounded(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		long, large := strings.Repeat("a", 251), make([]byte, deskdb.MaxCopyBytes+1)
		for _, c := range []deskdb.WorkingCopy{
			{Path: "", Author: "a@example.org"},
			{Path: "../x.md", Author: "a@example.org"},
			{Path: "/etc/x", Author: "a@example.org"},
			{Path: "a\x00", Author: "a@example.org"},
			{Path: "\xff", Author: "a@example.org"},
			{Path: long, Author: "a@example.org"},
			{Path: "a.md", Replaces: "../b.md", Author: "a@example.org"},
			{Path: "a.md", Author: "nobody"},
			{Path: "a.md", Author: "a@example.org", Data: large},
			{Path: "a.md", Author: "a@example.org", Original: large},
		} {
			_, err := s.Copies.Create(ctx, c, monday)
			testkit.Fails(t, err, sqldb.ErrInvalid)
		}
		first := workingCopy(t, s, "ada@example.org", "outils/0.md")
		_, err := s.Copies.Save(ctx, first.ID, 1, large, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid, "1048577 bytes")
		for _, step := range []deskdb.CopyStep{
			{State: "publiee"},
			{State: deskdb.CopyReady, Note: "\x00"},
			{State: deskdb.CopyReady, Note: strings.Repeat("é", deskdb.MaxCopyNote+1)},
		} {
			step.By = "ada@example.org"
			testkit.Fails(t, s.Copies.SetState(ctx, first.ID, 1, step, monday), sqldb.ErrInvalid)
		}
		testkit.Fails(t, s.Copies.SetState(ctx, first.ID, 1, deskdb.CopyStep{State: deskdb.CopyReady}, monday), sqldb.ErrInvalid, "not an e-mail address")
		for _, id := range []string{"", "\x00", "cop_" + strings.Repeat("0", 26)} {
			_, err := s.Copies.Find(ctx, id)
			testkit.Fails(t, err, sqldb.ErrNotFound)
			_, err = s.Copies.Save(ctx, id, 1, nil, monday)
			testkit.Fails(t, err, deskdb.ErrNoCopy)
			testkit.Fails(t, s.Copies.SetState(ctx, id, 1, deskdb.CopyStep{State: deskdb.CopyReady, By: "ada@example.org"}, monday), deskdb.ErrNoCopy)
			testkit.Fails(t, s.Copies.Delete(ctx, id, 1), deskdb.ErrNoCopy)
			testkit.Fails(t, s.Copies.PutFile(ctx, id, deskdb.CopyFile{Path: "images/a.png"}), deskdb.ErrNoCopy)
			_, _, err = s.Shares.Create(ctx, id, monday)
			testkit.Fails(t, err, deskdb.ErrNoCopy)
		}
		for i := range deskdb.MaxCopies - 1 {
			workingCopy(t, s, "ada@example.org", fmt.Sprintf("outils/%d.md", i+1))
		}
		_, err = s.Copies.Create(ctx, deskdb.WorkingCopy{Path: "outils/de-trop.md", Author: "ada@example.org"}, monday)
		testkit.Fails(t, err, sqldb.ErrTooMany, "500 working copies")
		workingCopy(t, s, "ada@example.org", "outils/0.md") // it is there already
		if n := count(t, s, "working_copies"); n != deskdb.MaxCopies {
			t.Errorf("%d working copies", n)
		}
	})
}

func TestThePicturesOfAWorkingCopyAreBoundedAndGoWithIt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		c := workingCopy(t, s, "ada@example.org", "outils/plume.md")
		put := func(path string, data []byte) error {
			return s.Copies.PutFile(ctx, c.ID, deskdb.CopyFile{path, data})
		}
		testkit.Fails(t, put("../a.png", nil), sqldb.ErrInvalid)
		testkit.Fails(t, put("images/a.png", make([]byte, deskdb.MaxFileBytes+1)), sqldb.ErrInvalid)
		for i := range deskdb.MaxCopyFiles {
			if err := put(fmt.Sprintf("images/%02d.png", deskdb.MaxCopyFiles-i), []byte{0, byte(i), 0xff}); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Fails(t, put("images/de-trop.png", []byte("x")), sqldb.ErrTooMany, "20 pictures")
		if err := put("images/20.png", []byte("replaced")); err != nil {
			t.Error(err)
		}
		files, err := s.Copies.Files(ctx, c.ID)
		if err != nil || len(files) != deskdb.MaxCopyFiles || files[0].Path != "images/01.png" || string(files[19].Data) != "replaced" || files[0].Data[2] != 0xff {
			t.Errorf("%d files, %v", len(files), err)
		}
		for i := range 6 {
			if err := put(fmt.Sprintf("images/%02d.png", i+2), make([]byte, deskdb.MaxFileBytes)); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Fails(t, put("images/20.png", make([]byte, deskdb.MaxFileBytes)), sqldb.ErrTooMany, "the maximum is 67108864")
		if err := s.Copies.Delete(ctx, c.ID, c.Revision); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "copy_files"); n != 0 {
			t.Errorf("%d pictures outlive their working copy", n)
		}
	})
}

func TestWorkingCopiesOutliveTheAccountAndTheRoleOfTheirAuthor(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		addEditor(t, s, "ada@example.org", "Ada", account.Author)
		if _, err := s.Accounts.Create(ctx, "ada@example.org", account.Developer, monday); err != nil {
			t.Fatal(err)
		}
		c := workingCopy(t, s, "ada@example.org", "outils/plume.md")
		if err := s.Accounts.Delete(ctx, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Editors.Find(ctx, "ada@example.org"); err != nil {
			t.Errorf("the role, which is the operator's: %v", err)
		}
		if err := s.Editors.Remove(ctx, "ada@example.org"); err != nil {
			t.Fatal(err)
		}
		if got := findWorkingCopy(t, s, c.ID); !cmp.Equal(got, c) {
			t.Errorf("%+v became %+v", c, got)
		}
	})
}

func TestAReviewIsMailedToWhoeverWaitsForIt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		addEditor(t, s, "zoe@example.org", "Zoé", account.Author)
		addEditor(t, s, "ivo@example.org", "Ivo", account.Author)
		addEditor(t, s, "ada@example.org", "Ada", account.Editor)
		addEditor(t, s, "bob@example.org", "Bob", account.Editor)
		for author, steps := range map[string][]struct{ by, state, mails string }{
			"zoe@example.org": {
				{"zoe@example.org", deskdb.CopyForReview, "review_asked ada, review_asked bob"},
				{"zoe@example.org", deskdb.CopyForReview, ""}, // a second click
				{"ada@example.org", deskdb.CopyInProgress, "review_returned zoe"},
				{"zoe@example.org", deskdb.CopyForReview, "review_asked ada, review_asked bob"},
				{"zoe@example.org", deskdb.CopyInProgress, ""}, // she takes it back
				{"zoe@example.org", deskdb.CopyForReview, "review_asked ada, review_asked bob"},
				{"bob@example.org", deskdb.CopyReady, "review_approved zoe"},
				{"ada@example.org", deskdb.CopyInProgress, ""},
				{"ada@example.org", deskdb.CopyReady, "review_approved zoe"},
			},
			"ada@example.org": {
				{"ADA@example.org", deskdb.CopyForReview, "review_asked bob"},
				{"ada@example.org", deskdb.CopyReady, ""},
			},
		} {
			c := workingCopy(t, s, author, "outils/"+author[:3]+".md")
			for i, step := range steps {
				err := s.Copies.SetState(t.Context(), c.ID, c.Revision, deskdb.CopyStep{State: step.state, By: step.by}, monday)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				mails, err := s.Mails.Claim(t.Context(), monday, 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range mails {
					if m.About != c.ID {
						t.Errorf("a mail is about %q", m.About)
					}
					got = append(got, string(m.Kind)+" "+m.To[:3])
					if err := s.Mails.Finish(t.Context(), m, mail.Verdict{}); err != nil {
						t.Fatal(err)
					}
				}
				slices.Sort(got)
				if all := strings.Join(got, ", "); all != step.mails {
					t.Errorf("%s, step %d: mails %q, want %q", author, i, all, step.mails)
				}
			}
		}
	})
}
