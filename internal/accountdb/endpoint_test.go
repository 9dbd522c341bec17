package accountdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

// sealedAs returns a fake sealed secret; the store treats it as opaque.
func sealedAs(text string) func(string) string {
	return func(endpointID string) string { return text + " for " + endpointID }
}

// endpoint creates an endpoint that takes all events, or those given.
func endpoint(t testing.TB, s *kit, accountID string, events ...string) webhook.Endpoint {
	t.Helper()
	w, err := s.Endpoints.Create(t.Context(), accountID, "https://hooks.example/in", events, sealedAs("first"),
		nil, monday)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func endpointNow(t testing.TB, s *kit, id string) webhook.Endpoint {
	t.Helper()
	w, err := s.Endpoints.Find(t.Context(), account.AnyOwner(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func changeState(t testing.TB, s *kit, id string, state webhook.State) webhook.Endpoint {
	t.Helper()
	w, err := s.Endpoints.Change(t.Context(), account.AnyOwner(), id, webhook.Change{State: &state}, monday)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAnEndpointIsStoredAsItsOwnerSetIt(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		all := endpoint(t, s, a.ID)
		some := endpoint(t, s, a.ID, catalog.ToolUpdated, catalog.PricingUpdated, catalog.ToolUpdated)
		want := webhook.Endpoint{
			ID: some.ID, AccountID: a.ID, URL: "https://hooks.example/in", Events: []string{catalog.PricingUpdated, catalog.ToolUpdated},
			State: webhook.Active, CreatedAt: monday,
		}
		if diff := cmp.Diff(want, some); diff != "" {
			t.Errorf("made (-want +got):\n%s", diff)
		}
		if !strings.HasPrefix(some.ID, account.EndpointID) || all.Events != nil {
			t.Errorf("made %+v and %+v", all, some)
		}
		list, err := s.Endpoints.List(t.Context(), a.Owner())
		if diff := cmp.Diff([]webhook.Endpoint{older(all, some), newer(all, some)}, list); err != nil || diff != "" {
			t.Errorf("listed (-want +got):\n%s%v", diff, err)
		}

		url, none, paused := "https://other.example/", []string(nil), webhook.Paused
		want.URL, want.Events, want.State = url, none, paused
		got, err := s.Endpoints.Change(t.Context(), a.Owner(), some.ID, webhook.Change{URL: &url, Events: &none, State: &paused}, day(1))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("changed (-want +got):\n%s%v", diff, err)
		}
		if diff := cmp.Diff(want, endpointNow(t, s, some.ID)); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}

		if err := s.Endpoints.Delete(t.Context(), a.Owner(), some.ID); err != nil {
			t.Fatal(err)
		}
		_, err = s.Endpoints.Find(t.Context(), a.Owner(), some.ID)
		testkit.Fails(t, err, ErrNoEndpoint, some.ID)
		if list, err := s.Endpoints.List(t.Context(), account.AnyOwner()); err != nil || len(list) != 1 || list[0].ID != all.ID {
			t.Errorf("left: %+v, %v", list, err)
		}
	})
}

func older(a, b webhook.Endpoint) webhook.Endpoint {
	if a.ID < b.ID {
		return a
	}
	return b
}

func newer(a, b webhook.Endpoint) webhook.Endpoint {
	if a.ID < b.ID {
		return b
	}
	return a
}

func TestAnEndpointTakesOnlyKnownEventsAndStates(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		a := create(t, s, "ada@example.org", account.Pro)
		_, err := s.Endpoints.Create(t.Context(), a.ID, "https://hooks.example/", []string{"tool.exploded"}, sealedAs("x"),
			nil, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid, "tool.exploded", "tool.created")
		_, err = s.Endpoints.Create(t.Context(), a.ID, "https://hooks.example/", []string{}, sealedAs("x"), nil, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid, "pause", "tool.created")
		w := endpoint(t, s, a.ID)
		for _, state := range []webhook.State{webhook.Disabled, webhook.Suspended, "off"} {
			_, err = s.Endpoints.Change(t.Context(), a.Owner(), w.ID, webhook.Change{State: &state}, monday)
			testkit.Fails(t, err, sqldb.ErrInvalid, string(state), "active or paused")
		}
		ping := []string{webhook.Ping}
		_, err = s.Endpoints.Change(t.Context(), a.Owner(), w.ID, webhook.Change{Events: &ping}, monday)
		testkit.Fails(t, err, sqldb.ErrInvalid, webhook.Ping)
		if got := endpointNow(t, s, w.ID); !cmp.Equal(got, w) {
			t.Errorf("what was refused changed it: %+v", got)
		}
	})
}

func TestAnAccountHasTenEndpointsUnderConcurrency(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		nodes := []*kit{open(t, dsn), open(t, dsn)}
		a := create(t, nodes[0], "ada@example.org", account.Pro)
		poor := create(t, nodes[0], "bob@example.org", account.Developer)
		var made atomic.Int64
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				url := fmt.Sprint("https://hooks.example/", i)
				_, err := nodes[i%2].Endpoints.Create(t.Context(), a.ID, url, nil, sealedAs("x"),
					nil, monday)
				if err == nil {
					made.Add(1)
				} else if !errors.Is(err, ErrEndpointLimit) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if list, err := nodes[1].Endpoints.List(t.Context(), a.Owner()); err != nil || len(list) != webhook.MaxEndpoints || made.Load() != webhook.MaxEndpoints {
			t.Errorf("%d were made, %d are there, %v", made.Load(), len(list), err)
		}
		_, err := nodes[0].Endpoints.Create(t.Context(), a.ID, "https://hooks.example/", nil, sealedAs("x"), nil, monday)
		testkit.Fails(t, err, ErrEndpointLimit, "ada@example.org", "10", "delete one")
		_, err = nodes[0].Endpoints.Create(t.Context(), poor.ID, "https://hooks.example/", nil, sealedAs("x"), nil, monday)
		testkit.Fails(t, err, ErrPlan, "developer", "bob@example.org")
		_, err = nodes[0].Endpoints.Create(t.Context(), "acc_nobody", "https://hooks.example/", nil, sealedAs("x"),
			nil, monday)
		testkit.Fails(t, err, ErrNoAccount, "acc_nobody")
	})
}

// ownedCalls are the calls that only the owner of an endpoint, or the operator, may make.
func ownedCalls(ctx context.Context, s *kit, w webhook.Endpoint, d webhook.Delivery) map[string]func(account.Owner) error {
	paused := webhook.Paused
	return map[string]func(account.Owner) error{
		"Endpoints.Find": func(owner account.Owner) error {
			_, err := s.Endpoints.Find(ctx, owner, w.ID)
			return err
		},
		"Endpoints.Change": func(owner account.Owner) error {
			_, err := s.Endpoints.Change(ctx, owner, w.ID, webhook.Change{State: &paused}, monday)
			return err
		},
		"Endpoints.RotateSecret": func(owner account.Owner) error {
			_, err := s.Endpoints.RotateSecret(ctx, owner, w.ID, "x", nil, monday)
			return err
		},
		"Deliveries.List": func(owner account.Owner) error {
			_, err := s.Deliveries.List(ctx, owner, w.ID, DeliveryFilter{})
			return err
		},
		"Deliveries.Find": func(owner account.Owner) error {
			_, err := s.Deliveries.Find(ctx, owner, d.ID)
			return err
		},
		"Deliveries.Resend": func(owner account.Owner) error {
			_, err := s.Deliveries.Resend(ctx, owner, d.ID, monday)
			return err
		},
		"Deliveries.Ping": func(owner account.Owner) error {
			_, err := s.Deliveries.Ping(ctx, owner, w.ID, monday)
			return err
		},
		"Deliveries.Recover": func(owner account.Owner) error {
			_, err := s.Deliveries.Recover(ctx, owner, w.ID, monday, monday)
			return err
		},
		"Deliveries.Recoveries": func(owner account.Owner) error {
			_, err := s.Deliveries.Recoveries(ctx, owner, w.ID)
			return err
		},
		"Endpoints.Delete": func(owner account.Owner) error { return s.Endpoints.Delete(ctx, owner, w.ID) },
		"Endpoints.RotateNextSecret": func(owner account.Owner) error {
			_, err := s.Endpoints.RotateSecret(ctx, owner, w.ID, "x", new(time.Time{}), monday)
			return err
		},
		"Deliveries.Each": func(owner account.Owner) error {
			return s.Deliveries.Each(ctx, owner, w.ID, func(webhook.Delivery) error { return nil })
		},
	}
}

func TestAnotherAccountAndAForgottenOwnerFindNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a, eve := create(t, s, "ada@example.org", account.Pro), create(t, s, "eve@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		d, err := s.Deliveries.Ping(ctx, a.Owner(), w.ID, monday)
		if err != nil {
			t.Fatal(err)
		}
		_, k := createKey(t, s, a.Email, "Production")
		calls := ownedCalls(ctx, s, w, d)
		calls["Keys.Find"] = func(owner account.Owner) error { _, err := s.Keys.Find(ctx, owner, k.ID); return err }
		calls["Keys.Rotate"] = func(owner account.Owner) error { _, _, err := s.Keys.Rotate(ctx, owner, k.ID, monday); return err }
		calls["Keys.Rename"] = func(owner account.Owner) error { return s.Keys.Rename(ctx, owner, k.ID, "x") }
		calls["Keys.Revoke"] = func(owner account.Owner) error { return s.Keys.Revoke(ctx, owner, k.ID, monday) }
		before := dump(t, s)
		for name, try := range calls {
			for _, owner := range []account.Owner{{}, account.OwnedBy(""), eve.Owner()} {
				if err := try(owner); !errors.Is(err, sqldb.ErrNotFound) {
					t.Errorf("%s with %+v: %v; want sqldb.ErrNotFound", name, owner, err)
				}
			}
		}
		for _, owner := range []account.Owner{{}, eve.Owner()} {
			if list, err := s.Endpoints.List(ctx, owner); err != nil || len(list) != 0 {
				t.Errorf("Endpoints.List = %+v, %v; want none", list, err)
			}
		}
		if after := dump(t, s); after != before {
			t.Error("what was refused changed something")
		}
		for name, find := range map[string]func(account.Owner) error{"Endpoints.Find": calls["Endpoints.Find"], "Deliveries.Find": calls["Deliveries.Find"], "Keys.Find": calls["Keys.Find"]} {
			if err := find(account.AnyOwner()); err != nil {
				t.Errorf("%s by the operator: %v", name, err)
			}
		}
	})
}

func TestARotatedSecretSignsForADayBesideItsSuccessor(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		ctx := t.Context()
		a := create(t, s, "ada@example.org", account.Pro)
		w := endpoint(t, s, a.ID)
		got, err := s.Endpoints.RotateSecret(ctx, a.Owner(), w.ID, "second", nil, day(1))
		if err != nil || !got.OldSecretUntil.Equal(day(2)) || !cmp.Equal(got, endpointNow(t, s, w.ID)) {
			t.Fatalf("rotated: %+v, %v", got, err)
		}
		secrets := func(at time.Time) string {
			t.Helper()
			if _, err := s.Deliveries.Ping(ctx, a.Owner(), w.ID, at); err != nil {
				t.Fatal(err)
			}
			claims := claim(t, s, at, 1)
			if len(claims) != 1 {
				t.Fatalf("claimed %d", len(claims))
			}
			finish(t, s, claims[0], success(at))
			return claims[0].Secret + ", " + claims[0].OldSecret
		}
		if got := secrets(day(2).Add(-time.Millisecond)); got != "second, first for "+w.ID {
			t.Errorf("during the overlap: %s", got)
		}
		if got := secrets(day(2)); got != "second, " {
			t.Errorf("after it: %s", got)
		}

		// Both are replaced, unless they have changed meanwhile.
		if _, err := s.Endpoints.RotateSecret(ctx, a.Owner(), w.ID, "third", nil, day(3)); err != nil {
			t.Fatal(err)
		}
		for _, change := range [][2]string{{"second", "second, anew"}, {"third", "third, anew"}, {"first for " + w.ID, "lost"}} {
			for _, column := range s.Endpoints.Secrets() {
				if err := column.ReplaceSecret(ctx, vault.Sealed{Owner: w.ID, Text: change[0]}, change[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := secrets(day(3)); got != "third, anew, second, anew" {
			t.Errorf("after replacing: %s", got)
		}
		all, err := s.Endpoints.Secrets().Sealed(ctx)
		if diff := cmp.Diff([]vault.Sealed{{Owner: w.ID, Text: "third, anew"}, {Owner: w.ID, Text: "second, anew"}}, all); err != nil || diff != "" {
			t.Errorf("SealedSecrets (-want +got):\n%s%v", diff, err)
		}
	})
}

// dumpWebhooks returns every row of the tables of webhooks.
func dumpWebhooks(t testing.TB, s *kit) string {
	t.Helper()
	return testkit.Dump(t, s.SQL.Reads(), "endpoints", "deliveries", "attempts", "recoveries")
}
