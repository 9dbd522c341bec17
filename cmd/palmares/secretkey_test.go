package main

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

func secretKey(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(b), vault.KeySize)))
}

// TestTheSecretKeyIsChangedInThreeSteps follows docs/operating.md:
// the new key beside the old one, then before it, then alone.
func TestTheSecretKeyIsChangedInThreeSteps(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		k1, k2 := secretKey('1'), secretKey('2')
		key := customer(t, database, "ada@example.org", "pro", 1)[0]
		r := newReceiver(t, accept)
		r.add("ada@example.org", database, "--secret-key", k1)
		id := firstID(t, "webhook", "list", "ada@example.org", "--database", database)
		for step, keys := range []string{k1, k1 + "," + k2, k2 + "," + k1, k2} {
			server := serveProcess(t, "--database", database, "--quota", "off", "--webhook-allow", "127.0.0.0/8", "--secret-key", keys)
			s := &subscriber{receiver: r, server: server, database: database, key: key, endpoint: "/webhooks/v1/endpoints/" + id}
			if ping := s.ping(); ping.State != webhook.Delivered {
				t.Errorf("step %d: %+v", step, ping)
			}
			const message = "were resealed"
			if step == 2 {
				server.logs(message)
			}
			server.stop()
			if server.log.Contains(message) != (step == 2) || step == 2 && !server.log.Contains(`"resealed":1`) {
				t.Errorf("step %d: %s", step, server.log)
			}
		}
		if n := len(r.all()); n != 4 {
			t.Errorf("%d pings were received", n)
		}
		for _, args := range [][]string{
			{"serve", "--listen", "localhost:0"}, {"webhook", "add", "ada@example.org", "https://hooks.example"},
		} {
			out, err := palmares(t.Context(), append(args, "--database", database, "--secret-key", k1)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--secret-key") || !strings.Contains(string(out), id) || strings.Contains(string(out), k1) {
				t.Errorf("%s with the old key alone: %v, %s", args[0], err, out)
			}
		}
	})
}

func TestAServerThatIsAskedToStopBeginsNoDelivery(t *testing.T) {
	t.Parallel()
	databases.EachDSN(t, func(t *testing.T, database string) {
		customer(t, database, "ada@example.org", "pro", 0)
		r := newReceiver(t, accept)
		r.add("ada@example.org", database)
		server := serveProcess(t, "--database", database, "--quota", "off", "--webhook-allow", "127.0.0.0/8", "--drain", "2s")
		st := databases.OpenDSN(t, database)
		endpoints, err := st.Endpoints.List(t.Context(), account.AnyOwner())
		if err != nil || len(endpoints) != 1 {
			t.Fatal(endpoints, err)
		}
		ping := func() webhook.Delivery {
			t.Helper()
			d, err := st.Deliveries.Ping(t.Context(), account.AnyOwner(), endpoints[0].ID, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		before := ping()
		r.until(1)
		server.signal()
		// It goes on answering for two seconds, in which a dispatcher polls twice.
		server.logs("asked to stop")
		late := ping()
		if <-server.ended; server.err != nil { // a second signal would cut the two seconds short
			t.Errorf("%v\n%s", server.err, server.log)
		}
		for id, want := range map[string]webhook.DeliveryState{before.ID: webhook.Delivered, late.ID: webhook.Pending} {
			if d, err := st.Deliveries.Find(t.Context(), account.AnyOwner(), id); err != nil || d.State != want {
				t.Errorf("%+v, %v; want it to be %s", d, err, want)
			}
		}
	})
}
