package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/node"
	"palmares/internal/webhook"
)

func TestAListWithoutRecordsHasItsColumns(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	must(t, "account", "create", "ada@example.org", "--database", database)
	for _, list := range []string{"key list ada@example.org", "webhook list ada@example.org", "token list", "log"} {
		args := append(strings.Fields(list), "--database", database)
		if out := must(t, args...); strings.Count(out, "\n") != 1 || !strings.Contains(out, "  CREATED_AT") && !strings.HasPrefix(out, "VERSION  PUBLISHED_AT") {
			t.Errorf("%s prints %q", list, out)
		}
		if out := must(t, append(args, "--json")...); out != "" {
			t.Errorf("%s --json prints %q", list, out)
		}
	}
}

func TestTheListOfEndpointsShowsWhichFailSinceWhenAndWhy(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	must(t, "account", "create", "ada@example.org", "--plan", "pro", "--database", database)
	must(t, "webhook", "add", "ada@example.org", "https://hooks.example", "--database", database)
	list := func(flags ...string) string {
		return must(t, append([]string{"webhook", "list", "ada@example.org", "--database", database}, flags...)...)
	}
	id := firstID(t, "webhook", "list", "ada@example.org", "--database", database)
	if out := list("--json"); !strings.Contains(out, `"state":"active"`) || !strings.Contains(out, `"failures":0`) || !strings.Contains(out, `"failing_since":null`) || !strings.Contains(out, `"last_error":null`) {
		t.Errorf("one that has received nothing: %s", out)
	}

	st, err := node.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)
	for _, a := range []webhook.Attempt{{Status: 503, Outcome: webhook.HTTPStatus}, {Outcome: webhook.Timeout}} {
		if _, err := st.Deliveries.Ping(t.Context(), account.AnyOwner(), id, now); err != nil {
			t.Fatal(err)
		}
		claims, err := st.Deliveries.Claim(t.Context(), now, webhook.Lease, 9)
		if err != nil || len(claims) != 1 {
			t.Fatal(claims, err)
		}
		a.At = now
		if err := st.Deliveries.Finish(t.Context(), claims[0], webhook.Verdict{Attempt: a, State: webhook.Pending, NextAt: now.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(fmt.Sprint(a.Outcome, " ", map[webhook.Status]string{503: "503"}[a.Status]))
		if out := list(); !strings.Contains(out, "  failing  ") || strings.Contains(out, "  active  ") || !strings.HasSuffix(out, "  2026-11-16T09:30:00Z  "+want+"\n") {
			t.Errorf("after %s:\n%s", want, out)
		}
		if out := list("--json"); !strings.Contains(out, `"state":"failing"`) || !strings.Contains(out, `"failing_since":"2026-11-16T09:30:00Z"`) || !strings.Contains(out, `"last_error":"`+want+`"`) {
			t.Errorf("after %s: %s", want, out)
		}
		now = now.Add(time.Minute)
	}
	deliveries := must(t, "webhook", "deliveries", id, "--json", "--database", database)
	for _, number := range []string{`"attempts":1`, `"duration_ms":0`, `"status":503`, `"status":null`} {
		if !strings.Contains(deliveries, number) {
			t.Errorf("no %s in %s", number, deliveries)
		}
	}
}
