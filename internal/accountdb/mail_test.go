package accountdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/mail"
	"palmares/internal/sqldb"
)

// queueMailAt queues a mail and fails the test when that fails.
func queueMailAt(t testing.TB, s *kit, r mail.Request, at time.Time) {
	t.Helper()
	if err := s.Mails.Queue(t.Context(), r, at); err != nil {
		t.Fatal(err)
	}
}

func claimMails(t testing.TB, s *kit, at time.Time, limit int) []mail.Claim {
	t.Helper()
	got, err := s.Mails.Claim(t.Context(), at, limit)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// claimMail is claimMails for a test in which exactly one mail must be due.
func claimMail(t testing.TB, s *kit, at time.Time) mail.Claim {
	t.Helper()
	got := claimMails(t, s, at, 10)
	if len(got) != 1 {
		t.Fatalf("%d mails are due, not 1: %+v", len(got), got)
	}
	return got[0]
}

func finishMail(t testing.TB, s *kit, c mail.Claim, v mail.Verdict) {
	t.Helper()
	if err := s.Mails.Finish(t.Context(), c, v); err != nil {
		t.Fatal(err)
	}
}

// mailsWaiting counts the mails of the queue.
func mailsWaiting(t testing.TB, s *kit) (n int) {
	t.Helper()
	if err := s.SQL.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM mails`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

var signInMail = mail.Request{To: "ada@example.org", Kind: mail.SignIn}

func TestAMailIsClaimedByOneUntilItsLeaseEnds(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		queueMailAt(t, s, mail.Request{To: " Ada@Example.org", Kind: mail.EndpointDisabled, About: "whk_1"}, monday)
		first := claimMail(t, s, monday)
		want := mail.Claim{
			ID: first.ID, Lease: first.Lease, CreatedAt: monday,
			Request: mail.Request{To: "ada@example.org", Kind: mail.EndpointDisabled, About: "whk_1"},
		}
		if diff := cmp.Diff(want, first); diff != "" || !strings.HasPrefix(first.ID, mailID) || first.Lease == "" {
			t.Errorf("claimed %+v\n%s", first, diff)
		}
		if again := claimMails(t, s, monday.Add(mail.Lease-time.Millisecond), 10); len(again) != 0 {
			t.Errorf("a second claim during the lease got %+v", again)
		}
		second := claimMail(t, s, monday.Add(mail.Lease))
		if second.ID != first.ID || second.Lease == first.Lease || second.Attempts != 0 {
			t.Errorf("after the lease of a process that died: %+v, want the same mail under another lease, its attempt not counted", second)
		}

		// The first was slow, not dead: its outcome must not affect the second claim.
		finishMail(t, s, first, mail.Verdict{})
		finishMail(t, s, first, mail.Verdict{RetryAt: monday, Failure: "connect"})
		if again := claimMails(t, s, monday.Add(mail.Lease), 10); len(again) != 0 || mailsWaiting(t, s) != 1 {
			t.Errorf("whoever lost the lease changed the mail: %+v due, %d waiting", again, mailsWaiting(t, s))
		}
	})
}

func TestAFinishedMailIsDeletedOrDueAgain(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		queueMailAt(t, s, signInMail, monday)
		finishMail(t, s, claimMail(t, s, monday), mail.Verdict{RetryAt: monday.Add(time.Hour), Failure: "connect"})
		if early := claimMails(t, s, monday.Add(time.Hour-time.Millisecond), 10); len(early) != 0 {
			t.Errorf("due before its time: %+v", early)
		}
		var failure string
		if err := s.SQL.Reads().QueryRowContext(t.Context(), `SELECT last_error FROM mails`).Scan(&failure); err != nil || failure != "connect" {
			t.Errorf("the last failure is %q, %v", failure, err)
		}
		again := claimMail(t, s, monday.Add(time.Hour))
		if again.Attempts != 1 || !again.CreatedAt.Equal(monday) {
			t.Errorf("after one failure: %+v", again)
		}
		finishMail(t, s, again, mail.Verdict{})
		if n := mailsWaiting(t, s); n != 0 {
			t.Errorf("%d rows are left of a mail that was sent", n)
		}
	})
}

func TestAMailThatWaitsIsNotQueuedTwice(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		queueMailAt(t, s, signInMail, monday)
		queueMailAt(t, s, mail.Request{To: "ADA@example.org", Kind: mail.SignIn}, monday.Add(time.Second))
		queueMailAt(t, s, mail.Request{To: signInMail.To, Kind: mail.ConfirmDeletion}, monday.Add(time.Second))
		queueMailAt(t, s, mail.Request{To: "bob@example.org", Kind: mail.SignIn}, monday.Add(time.Second))
		if n := mailsWaiting(t, s); n != 3 {
			t.Errorf("%d mails wait, want ada's two different ones and bob's", n)
		}
	})
}

func TestQueueingAgainMakesAWaitingMailDue(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		queueMailAt(t, s, signInMail, monday)
		finishMail(t, s, claimMail(t, s, monday), mail.Verdict{RetryAt: monday.Add(time.Hour), Failure: "connect"})
		asked := monday.Add(5 * time.Minute)
		queueMailAt(t, s, signInMail, asked)
		c := claimMail(t, s, asked)
		if c.Attempts != 0 || !c.CreatedAt.Equal(asked) {
			t.Errorf("a mail queued again: %+v, want its attempts to start again", c)
		}
	})
}

func TestQueueingAgainWhileAMailIsSentSendsNoSecondOne(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		queueMailAt(t, s, signInMail, monday)
		c := claimMail(t, s, monday)
		queueMailAt(t, s, signInMail, monday.Add(time.Second))
		if again := claimMails(t, s, monday.Add(time.Second), 10); len(again) != 0 {
			t.Errorf("due while it is handed over: %+v", again)
		}
		finishMail(t, s, c, mail.Verdict{})
		if n := mailsWaiting(t, s); n != 0 {
			t.Errorf("%d mails wait after the hand-over", n)
		}
	})
}

func TestMailsAreClaimedInTheOrderTheyAreDue(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for i := range 5 {
			queueMailAt(t, s, mail.Request{To: fmt.Sprintf("u%d@example.org", i), Kind: mail.SignIn}, monday.Add(time.Duration(i)*time.Second))
		}
		var got []string
		for range 3 {
			for _, c := range claimMails(t, s, monday.Add(time.Minute), 2) {
				got = append(got, c.To)
			}
		}
		want := []string{"u0@example.org", "u1@example.org", "u2@example.org", "u3@example.org", "u4@example.org"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Several stores on one database are several nodes.
func TestEveryMailIsClaimedByExactlyOneOfManyWorkers(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		const mails, nodes, workers = 48, 2, 4
		stores := make([]*kit, nodes)
		for i := range stores {
			stores[i] = open(t, dsn)
		}
		var mu sync.Mutex
		got := map[string]int{}
		var producers, consumers sync.WaitGroup
		producing, produced := context.WithCancel(t.Context())
		for p := range workers {
			producers.Go(func() {
				for i := range mails / workers {
					r := mail.Request{To: fmt.Sprintf("u%d.%d@example.org", p, i), Kind: mail.SignIn}
					if err := stores[p%nodes].Mails.Queue(t.Context(), r, monday); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for w := range nodes * workers {
			s := stores[w%nodes]
			consumers.Go(func() {
				for {
					over := producing.Err() != nil // before the claim, which then sees all
					some, err := s.Mails.Claim(t.Context(), monday, 3)
					if err != nil && !errors.Is(err, sqldb.ErrBusy) {
						t.Error(err)
						return
					}
					for _, c := range some {
						mu.Lock()
						got[c.To]++
						mu.Unlock()
						// Otherwise nobody would ever find that no mail waits.
						if err := whileBusy(func() error { return s.Mails.Finish(t.Context(), c, mail.Verdict{}) }); err != nil {
							t.Error(err)
						}
					}
					if over && err == nil && mailsWaiting(t, s) == 0 {
						return
					}
				}
			})
		}
		producers.Wait()
		produced()
		consumers.Wait()
		if len(got) != mails {
			t.Errorf("%d of %d mails were claimed", len(got), mails)
		}
		for to, n := range got {
			if n != 1 {
				t.Errorf("%s was claimed %d times", to, n)
			}
		}
	})
}
