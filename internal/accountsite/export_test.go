package accountsite_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/webhook"
)

func TestTheExportContainsEverythingButSecrets(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		c := p.withStripe()
		h := p.newFullAccount()
		h.post("/compte/pro/abonnement").Is(303)
		c.subscribe("active", monday.AddDate(0, 1, 0), false)
		h.get("/compte/pro?session_id=cs_1").Is(200)

		r := h.get("/compte/donnees.json").Is(200).Lacks(h.secrets...).Lacks("hash")
		if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="palmares-compte.json"` || r.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("the headers are %v", r.Header)
		}
		var file struct {
			Account      struct{ Email, Plan string }
			Subscription struct {
				Customer string `json:"stripe_customer_id"`
				Status   string
			}
			Keys  []struct{ Name, First_characters, Revoked_at, Expires_at string }
			Usage []struct {
				Day      string
				Requests int
			}
			Sessions  []struct{ Browser string }
			Endpoints []struct {
				URL        string
				Recoveries []struct{ Since string }
			}
			Deliveries []struct {
				Type, State string
				Attempts    []struct {
					Number, Status, Duration_ms int
					Response                    string
				}
			}
		}
		if err := json.Unmarshal([]byte(r.Body), &file); err != nil {
			t.Fatalf("%v: %s", err, r.Body)
		}
		var names []string
		for _, k := range file.Keys {
			names = append(names, fmt.Sprint(k.Name, " ", k.First_characters != "", " ", k.Revoked_at != "", " ", k.Expires_at != ""))
		}
		want := []string{"production true false false", "<b>portable</b> true false true", "<b>portable</b> true false false", "ancienne true true false"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("the keys: %s", diff)
		}
		if file.Account.Email != "ada@example.org" || file.Account.Plan != "pro" || file.Subscription.Customer != "cus_1" || file.Subscription.Status != "active" ||
			len(file.Usage) != 1 || file.Usage[0].Requests != 7 || len(file.Sessions) != 1 || !strings.HasPrefix(file.Sessions[0].Browser, "Firefox") ||
			len(file.Endpoints) != 1 || len(file.Endpoints[0].Recoveries) != 1 || len(file.Deliveries) != 2 {
			t.Fatalf("the file is %s", r.Body)
		}
		for _, d := range file.Deliveries {
			if d.State != "delivered" || len(d.Attempts) != 1 || d.Attempts[0].Status != 200 || d.Attempts[0].Duration_ms != 12 || d.Attempts[0].Response != "<script>alert(1)</script>" {
				t.Errorf("a delivery is %+v", d)
			}
		}
	})
}

func TestALongDeliveryLogIsExportedCompletely(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		b := p.signedIn("ada@example.org")
		p.pro("ada@example.org")
		ids := []string{}
		for i := range 2 {
			id, _ := b.createEndpoint(fmt.Sprintf("https://hooks.example/%d", i))
			ids = append(ids, id)
		}
		var tools []string
		for i := range 399 {
			tools = append(tools, fmt.Sprint("outil-", i), "10 €/mois")
		}
		p.publish(tools...) // four hundred events: two full steps
		for range 3 {
			p.attempt(webhook.Verdict{Attempt: webhook.Attempt{Status: 500, Outcome: webhook.HTTPStatus}, State: webhook.Pending, NextAt: p.now.Add(-time.Second)})
		}
		var file struct {
			Deliveries []struct {
				ID, Endpoint_id string
				Attempts        []struct{ Number int }
			}
		}
		if err := json.Unmarshal([]byte(b.get("/compte/donnees.json").Is(200).Body), &file); err != nil {
			t.Fatal(err)
		}
		seen, attempts := map[string]int{}, 0
		for _, d := range file.Deliveries {
			seen[d.ID]++
			seen[d.Endpoint_id]++
			attempts += len(d.Attempts)
			for i, a := range d.Attempts {
				if a.Number != i+1 {
					t.Errorf("the attempts of %s are %v", d.ID, d.Attempts)
				}
			}
		}
		if len(seen) != 802 || seen[ids[0]] != 400 || seen[ids[1]] != 400 || attempts != 3*2*webhook.MaxInFlight {
			t.Errorf("%d different deliveries and endpoints, %d and %d of each, %d attempts", len(seen), seen[ids[0]], seen[ids[1]], attempts)
		}
		// An empty account can be exported too.
		eve := p.signedIn("eve@example.org").get("/compte/donnees.json").Is(200)
		if !json.Valid([]byte(eve.Body)) || !strings.Contains(eve.Body, `"subscription": null`) || strings.Contains(eve.Body, "outil") {
			t.Errorf("an empty account has the file %s", eve.Body)
		}
	})
}
