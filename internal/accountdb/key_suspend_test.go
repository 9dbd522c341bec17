package accountdb

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/testkit"
)

// overfull creates an account that was Pro with six keys and is Developer now. Its keys
// were used in the order 5, 1, 3, 0, 4; key 2 never was.
func overfull(t *testing.T, s *kit) (texts []string, ids []string) {
	t.Helper()
	create(t, s, "ada@example.org", account.Pro)
	for i := range 6 {
		text, k, err := s.Keys.Create(t.Context(), "ada@example.org", fmt.Sprint(i),
			nil, monday.Add(time.Duration(i)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		texts, ids = append(texts, text), append(ids, k.ID)
	}
	for i, key := range []int{5, 1, 3, 0, 4} {
		if err := s.Keys.MarkUsed(t.Context(), []account.KeyUse{{KeyID: ids[key], At: monday.Add(time.Duration(i+1) * time.Hour)}}); err != nil {
			t.Fatal(err)
		}
	}
	setPlan(t, s, account.Developer)
	return texts, ids
}

func setPlan(t *testing.T, s *kit, plan account.Plan) {
	t.Helper()
	setPlanAt(t, s, plan, monday)
}

func setPlanAt(t *testing.T, s *kit, plan account.Plan, now time.Time) {
	t.Helper()
	if err := s.Accounts.SetPlan(t.Context(), "ada@example.org", plan, now); err != nil {
		t.Fatal(err)
	}
}

func suspend(t *testing.T, s *kit, now time.Time) {
	t.Helper()
	if err := s.Keys.SuspendExcess(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// suspended returns the suspended keys of the account, and checks that lookups by hash
// agree.
func suspended(t *testing.T, s *kit, texts []string) string {
	t.Helper()
	hashes := make([][32]byte, len(texts))
	for i, text := range texts {
		hashes[i] = account.HashKey(text)
	}
	all, err := s.Keys.ByHashes(t.Context(), hashes)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, text := range texts {
		k, err := s.Keys.ByHash(t.Context(), account.HashKey(text))
		if err != nil {
			t.Fatal(err)
		}
		if all[account.HashKey(text)] != k {
			t.Errorf("Keys.ByHashes has %+v and Keys.ByHash %+v", all[account.HashKey(text)], k)
		}
		if !k.SuspendedAt.IsZero() {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestKeysInExcessOfThePlanAreSuspendedAfterAWeek(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		s := open(t, dsn)
		texts, ids := overfull(t, s)
		// The date is known at once, before the next SuspendExcess.
		a, err := s.Accounts.Find(t.Context(), "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		if due, err := s.Keys.SuspensionDue(t.Context(), a.ID); err != nil || !due.Equal(day(7)) {
			t.Errorf("keys are due %s, %v; want a week after the change", due, err)
		}
		suspend(t, s, day(0))
		if due, err := s.Keys.SuspensionDue(t.Context(), create(t, s, "bob@example.org", account.Developer).ID); err != nil || !due.IsZero() {
			t.Errorf("an account with few keys is due %s, %v", due, err)
		}
		suspend(t, s, day(3)) // does not restart the week
		suspend(t, s, day(7).Add(-time.Millisecond))
		if got := suspended(t, s, texts); got != "" {
			t.Errorf("before the week is over %q are suspended", got)
		}
		s = open(t, dsn) // the process started again
		if !raised(t, s, func() { suspend(t, s, day(7)) }) {
			t.Error("no node would hear of it")
		}
		if got := suspended(t, s, texts); got != "1 2 5" {
			t.Errorf("%q are suspended; want all but the three that were used last, 1 2 5", got)
		}
		if raised(t, s, func() { suspend(t, s, day(8)) }) {
			t.Error("what is done is done again")
		}
		if got := suspended(t, s, texts); got != "1 2 5" {
			t.Errorf("a day later %q are suspended", got)
		}

		_, _, err = s.Keys.Create(t.Context(), "ada@example.org", "7", nil, day(8))
		testkit.Fails(t, err, ErrKeyLimit)
		_, _, err = s.Keys.Rotate(t.Context(), account.AnyOwner(), ids[1], day(8))
		testkit.Fails(t, err, ErrKeySuspended, ids[1], "revoke another")
		// One of the three is rotated: its successor takes its place.
		next, _ := rotate(t, s, ids[3], day(8))
		if got := suspended(t, s, append(texts, next)); got != "1 2 5" {
			t.Errorf("after a rotation %q are suspended", got)
		}
	})
}

func TestASuspendedKeyWorksAgainWhenThereIsRoom(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		texts, ids := overfull(t, s)
		suspend(t, s, day(0))
		suspend(t, s, day(7))
		revoke := func(i int, want string) {
			t.Helper()
			if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), ids[i], day(8)); err != nil {
				t.Fatal(err)
			}
			if got := suspended(t, s, texts); got != want {
				t.Errorf("after key %d was revoked %q are suspended; want %q", i, got, want)
			}
		}
		revoke(4, "2 5") // the oldest works again
		revoke(4, "2 5") // no room the second time
		revoke(5, "2 5") // a suspended key makes no room, and stays suspended
		revoke(0, "5")
	})
}

func TestProEndsASuspensionAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		texts, _ := overfull(t, s)
		suspend(t, s, day(0))
		suspend(t, s, day(7))
		if !raised(t, s, func() { setPlan(t, s, account.Pro) }) {
			t.Error("no node would hear of it")
		}
		if got := suspended(t, s, texts); got != "" {
			t.Errorf("%q are suspended", got)
		}
		suspend(t, s, day(100))
		if got := suspended(t, s, texts); got != "" {
			t.Errorf("of a Pro account %q are suspended", got)
		}
		// Another downgrade starts another week, and another Pro ends it.
		setPlanAt(t, s, account.Developer, day(101))
		suspend(t, s, day(101))
		setPlanAt(t, s, account.Pro, day(102))
		setPlanAt(t, s, account.Developer, day(107))
		suspend(t, s, day(107))
		suspend(t, s, day(108))
		if got := suspended(t, s, texts); got != "" {
			t.Errorf("%q are suspended by a week that was broken off", got)
		}
		suspend(t, s, day(114))
		if got := suspended(t, s, texts); got != "1 2 5" {
			t.Errorf("%q are suspended", got)
		}
	})
}

func TestSeveralNodesSuspendOnce(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		texts, ids := overfull(t, s)
		suspend(t, s, day(0))
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				if err := s.Keys.SuspendExcess(t.Context(), day(7)); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Go(func() { // and meanwhile the owner revokes one of the three
			if err := s.Keys.Revoke(t.Context(), account.AnyOwner(), ids[4], day(7)); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		if got := strings.Fields(suspended(t, s, texts)); len(got) != 2 {
			t.Errorf("%q are suspended; want two of five", got)
		}
	})
}
