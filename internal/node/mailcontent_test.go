package node

import (
	"errors"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/mail"
	"palmares/internal/testkit"
)

func TestMailsAboutAReviewAreForPeopleOfTheDesk(t *testing.T) {
	st, err := Open(t.Context(), testkit.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close() //nolint:errcheck // nothing is written any more
	now := time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)
	content := &mailContent{store: st, baseURL: "https://palmares.example", now: func() time.Time { return now }}
	for email, name := range map[string]string{"ada@example.org": "Ada Lovelace", "zoe@example.org": "Zoé Martin"} {
		if _, err := st.Editors.Add(t.Context(), deskdb.Editor{Email: email, Name: name, Role: account.Editor}, now); err != nil {
			t.Fatal(err)
		}
	}
	c, err := st.Copies.Create(t.Context(), deskdb.WorkingCopy{Path: "outils/plume.md", Author: "zoe@example.org", Data: []byte("---\nname: Plume\n---\n")}, now)
	if err != nil {
		t.Fatal(err)
	}
	step := deskdb.CopyStep{State: deskdb.CopyForReview, Note: "Bonne lecture", By: "zoe@example.org"}
	if err := st.Copies.SetState(t.Context(), c.ID, c.Revision, step, now); err != nil {
		t.Fatal(err)
	}
	asked := mail.Request{To: "ada@example.org", Kind: mail.ReviewAsked, About: c.ID}
	want := mail.Copy{Record: "Plume", Author: "Zoé Martin", Note: "Bonne lecture", Waiting: true}
	if got, err := content.Copy(t.Context(), asked); got != want || err != nil {
		t.Errorf("the mail says %+v, %v, want %+v", got, err, want)
	}
	if err := st.Editors.Remove(t.Context(), "zoe@example.org"); err != nil {
		t.Fatal(err)
	}
	want.Author = "zoe@example.org"
	if got, err := content.Copy(t.Context(), asked); got != want || err != nil {
		t.Errorf("of somebody who left it says %+v, %v", got, err)
	}
	for _, gone := range []mail.Request{
		{To: "zoe@example.org", Kind: mail.ReviewReturned, About: c.ID},
		{To: "ada@example.org", Kind: mail.ReviewAsked, About: "cop_none"},
	} {
		if _, err := content.Copy(t.Context(), gone); !errors.Is(err, mail.ErrObsolete) {
			t.Errorf("%+v: %v", gone, err)
		}
	}
}
