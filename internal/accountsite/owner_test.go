package accountsite_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/quota"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// tick advances the clock: ids of the same millisecond have no order.
func (p *server) tick() { p.now = p.now.Add(time.Millisecond) }

func (p *server) account(email string) account.Account {
	p.t.Helper()
	a, err := p.store.Accounts.Find(p.t.Context(), email)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func (p *server) pro(email string) {
	p.t.Helper()
	if err := p.store.Accounts.SetPlan(p.t.Context(), email, account.Pro, p.now); err != nil {
		p.t.Fatal(err)
	}
}

// hidden returns the value of a hidden field of a page.
func hidden(r *testkit.Reply, name string) string {
	r.T.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)">`).FindStringSubmatch(r.Body)
	if found == nil {
		r.T.Fatalf("%s has no hidden field %q: %s", r, name, r.Body)
	}
	return html.UnescapeString(found[1])
}

var keyText = regexp.MustCompile(`plm_[0-9A-Za-z]{38}`)

// createKey creates a key through the form and returns it.
func (b *browser) createKey(name string) string {
	b.t.Helper()
	b.tick()
	newest := hidden(b.get("/compte/cles").Is(200), "derniere")
	made := b.post("/compte/cles", "nom", name, "derniere", newest).Is(200)
	text := keyText.FindString(made.Body)
	if !account.CheckKey(text) {
		b.t.Fatalf("no key is shown: %s", made.Body)
	}
	return text
}

// stored returns a key as stored.
func (p *server) stored(text string) account.Key {
	p.t.Helper()
	k, err := p.store.Keys.ByHash(p.t.Context(), account.HashKey(text))
	if err != nil {
		p.t.Fatal(err)
	}
	return k
}

var secretText = regexp.MustCompile(`whsec_[0-9A-Za-z+/=]+`)

// createEndpoint creates an endpoint through the form and returns its id and secret.
func (b *browser) createEndpoint(address string, types ...string) (id, secret string) {
	b.t.Helper()
	b.tick()
	fields := []string{"url", address, "portee", "tous", "dernier", hidden(b.get("/compte/webhooks").Is(200), "dernier")}
	if len(types) > 0 {
		fields[3] = "choix"
		for _, name := range types {
			fields = append(fields, "type", name)
		}
	}
	made := b.post("/compte/webhooks", fields...).Is(200)
	found := regexp.MustCompile(`href="/compte/webhooks/(whk_[0-9a-z]{26})"`).FindStringSubmatch(made.Body)
	if secret = html.UnescapeString(secretText.FindString(html.UnescapeString(made.Body))); found == nil || secret == "" {
		b.t.Fatalf("the endpoint is not shown: %s", made.Body)
	}
	return found[1], secret
}

// publish publishes a catalogue with these tools: alternating slugs and prices.
func (p *server) publish(tools ...string) {
	p.t.Helper()
	p.tick()
	c := &catalog.Catalog{Name: "Essai", URL: "https://essai.example", Categories: []catalog.Category{{Slug: "code", Label: "Code"}}}
	for i := 0; i < len(tools); i += 2 {
		c.Tools = append(c.Tools, &catalog.Tool{
			Slug: tools[i], Name: "Outil <é>", Domain: tools[i] + ".example", Category: "code", ICP: "mixte", Pricing: "payant", Price: tools[i+1], Tagline: "Un outil", Tier: 3,
		})
	}
	c.Sort()
	if _, err := p.store.Catalogue.Publish(p.t.Context(), c, catalogdb.PublishOptions{Now: func() time.Time { return p.now }}); err != nil {
		p.t.Fatal(err)
	}
}

// attempt claims what is due, as the dispatcher does, and records the verdict.
func (p *server) attempt(v webhook.Verdict) {
	p.t.Helper()
	p.tick()
	if err := p.attemptAt(p.now, v); err != nil {
		p.t.Fatal(err)
	}
}

// attemptAt is attempt at a time.
func (p *server) attemptAt(at time.Time, v webhook.Verdict) error {
	claims, err := p.store.Deliveries.Claim(p.t.Context(), at, webhook.Lease, 100)
	if err != nil || len(claims) == 0 {
		return fmt.Errorf("nothing is due: %w", err)
	}
	for _, c := range claims {
		v.Attempt.Number, v.Attempt.At = c.Attempt, at
		if err := p.store.Deliveries.Finish(p.t.Context(), c, v); err != nil {
			return err
		}
	}
	return nil
}

func delivered(answer string) webhook.Verdict {
	return webhook.Verdict{Attempt: webhook.Attempt{Duration: 12 * time.Millisecond, Status: 200, Outcome: webhook.OK, Response: answer}, State: webhook.Delivered}
}

// newest returns the deliveries of an endpoint, newest first.
func (p *server) newest(endpoint string) []webhook.Delivery {
	p.t.Helper()
	list, err := p.store.Deliveries.List(p.t.Context(), account.AnyOwner(), endpoint, accountdb.DeliveryFilter{Limit: 200})
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// A fullAccount is an account with something to show on every page.
type fullAccount struct {
	*browser
	pages   []string // of the account
	posts   []string // that change the account
	secrets []string // that must not be shown again
}

func (p *server) newFullAccount() *fullAccount {
	p.t.Helper()
	h := &fullAccount{browser: p.signedIn("ada@example.org")}
	p.pro("ada@example.org")
	key, other := h.createKey("production"), h.createKey("<b>portable</b>")
	p.tick()
	rotated := h.post("/compte/cles/" + p.stored(other).ID + "/remplacement").Is(200)
	gone := h.createKey("ancienne")
	h.post("/compte/cles/" + p.stored(gone).ID + "/revocation").Is(303)
	endpoint, secret := h.createEndpoint("https://hooks.example/in?a=%3Cb%3E&c")
	p.publish("plume", "10 €/mois")
	p.attempt(delivered("<script>alert(1)</script>"))
	h.post("/compte/webhooks/"+endpoint+"/reprise", "depuis", "2026-11-10").Is(303)
	day := quota.Usage{Accounts: []quota.AccountCount{{Account: p.account("ada@example.org").ID, Requests: 7}}}
	if err := p.store.Usage.Save(p.t.Context(), "2026-11-16", day); err != nil {
		p.t.Fatal(err)
	}
	one, delivery := "/compte/cles/"+p.stored(key).ID, "/compte/envois/"+p.newest(endpoint)[0].ID
	hook := "/compte/webhooks/" + endpoint
	h.pages = []string{
		"/compte", "/compte/cles", one, one + "/revocation", "/compte/cles/" + p.stored(other).ID, "/compte/cles/" + p.stored(gone).ID, "/compte/usage",
		"/compte/webhooks", hook, hook + "/suppression", hook + "/envois", hook + "/envois?etat=delivered&type=tool.created", delivery,
		"/compte/pro", "/compte/pro?session_id=cs_x", "/compte/sessions", "/compte/donnees", "/compte/suppression", "/compte/donnees.json",
	}
	h.posts = []string{
		one + "/nom", one + "/remplacement", one + "/revocation", hook, hook + "/etat", hook + "/secret", hook + "/essai", hook + "/reprise", hook + "/suppression", delivery + "/renvoi",
	}
	h.secrets = []string{key, other, gone, keyText.FindString(rotated.Body), secret, h.cookie.Value}
	return h
}

func TestSecretsAreShownOnceAndNeverCached(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		h := p.newFullAccount()
		for _, path := range h.pages {
			r := h.get(path).Is(200).Lacks(h.secrets...).Lacks("<b>portable", "<script>alert")
			if got := r.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s may be cached: %q", path, got)
			}
			if got := r.Header.Get("X-Robots-Tag"); got != "noindex" {
				t.Errorf("%s may be indexed: %q", path, got)
			}
		}
		for _, r := range []*testkit.Reply{h.post(h.posts[0], "nom", "a"), h.post(h.posts[1]), h.post(h.posts[5])} {
			if got := r.Header.Get("Cache-Control"); got != "no-store" || r.Status >= 400 {
				t.Errorf("%s answers %d and may be cached: %q", r, r.Status, got)
			}
		}
		if log := p.log.String(); slices.ContainsFunc(h.secrets, func(s string) bool { return strings.Contains(log, s) }) {
			t.Errorf("the log holds a secret: %s", log)
		}
	})
}

func TestHostileFormsAreRejected(t *testing.T) {
	each(t, publicURL, func(t *testing.T, p *server) {
		h := p.newFullAccount()
		poor := p.signedIn("eve@example.org")
		ids := regexp.MustCompile(`[a-z]{3}_[0-9a-z]{26}`)
		for _, bad := range []string{"%00", "%ff", "%C3%A9", "%27", "key_%00", strings.Repeat("a", 3000), "%3Cscript%3E", "KEY_X"} {
			var replies []*testkit.Reply
			for _, path := range h.pages {
				if ids.MatchString(path) {
					replies = append(replies, h.get(ids.ReplaceAllString(path, bad)))
				}
			}
			value, err := url.QueryUnescape(bad)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range h.posts {
				replies = append(replies, h.post(ids.ReplaceAllString(path, bad)), h.post(path+"x", "nom", value))
			}
			for _, query := range []string{"/compte?fait=", "/compte/suppression?jeton=", "/compte/pro?session_id="} {
				h.get(query + bad) // any status is fine
			}
			for _, name := range []string{"avant", "etat", "type"} {
				replies = append(replies, h.get(h.pages[10]+"?"+name+"="+bad))
			}
			replies = append(
				replies, h.post("/compte/webhooks", "url", value, "portee", value, "type", value, "dernier", value),
				h.post("/compte/webhooks", "url", "https://hooks.example/", "portee", "choix", "type", value, "dernier", value),
				poor.post("/compte/webhooks", "url", value, "portee", "choix", "type", value),
				h.post(h.posts[5], "ancien", value), h.post(h.posts[7], "depuis", value), h.post(h.posts[4], "etat", value),
				h.post("/compte/suppression", "jeton", value),
			)
			for _, r := range replies {
				if r.Status < 400 || r.Status >= 500 || strings.Contains(r.Body, "<script>") {
					t.Errorf("%s with %.20q answers %d", r, bad, r.Status)
				}
			}
		}
		if log := p.log.String(); log != "" {
			t.Errorf("the log says %s", log)
		}
	})
}

var (
	openTag   = regexp.MustCompile(`<([a-z0-9]+)((?:\s[^<>]*)?)>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z][\w:-]*)(?:="([^"]*)")?`)
)

func TestPagesAreValidAndAccessible(t *testing.T) {
	p := open(t, "sqlite:"+t.TempDir()+"/palmares.db", publicURL)
	h := p.newFullAccount()
	seen := map[string]bool{}
	check := func(r *testkit.Reply) {
		t.Helper()
		ids, wanted := map[string]bool{}, map[string]string{}
		for _, m := range openTag.FindAllStringSubmatch(r.Body, -1) {
			attributes := map[string]string{}
			for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
				if _, twice := attributes[a[1]]; twice {
					t.Errorf("%s: <%s> has %s twice", r, m[1], a[1])
				}
				attributes[a[1]] = html.UnescapeString(a[2])
			}
			if id := attributes["id"]; id != "" {
				if ids[id] {
					t.Errorf("%s: the id %q occurs twice", r, id)
				}
				ids[id] = true
			}
			for _, name := range []string{"for", "aria-labelledby", "aria-describedby", "data-copy"} {
				for _, id := range strings.Fields(attributes[name]) {
					wanted[id] = m[1] + " " + name
				}
			}
			if href := attributes["href"]; m[1] == "a" && strings.HasPrefix(href, "/compte") && !seen[href] {
				seen[href] = true
				h.get(href).Is(200)
			}
			if m[1] == "form" && attributes["method"] == "" {
				t.Errorf("%s: a form has no method", r)
			}
		}
		for id, who := range wanted {
			if !ids[id] {
				t.Errorf("%s: %s refers to %q, which does not exist", r, who, id)
			}
		}
		// French typography: no plain space before high punctuation, no straight apostrophe.
		text := openTag.ReplaceAllString(regexp.MustCompile(`(?s)<(pre|code|title|script|style)\b.*?</(pre|code|title|script|style)>|</[a-z0-9]+>`).ReplaceAllString(r.Body, ""), "")
		if bad := regexp.MustCompile(`.{0,30}(?: [;:!?»]|« |\p{L}'\p{L}).{0,30}`).FindString(html.UnescapeString(text)); bad != "" {
			t.Errorf("%s has bad typography: %q", r, bad)
		}
	}
	for _, path := range h.pages[:len(h.pages)-1] {
		check(h.get(path).Is(200))
	}
	check(h.post("/compte/cles", "nom", "").Is(400))
	check(h.post("/compte/webhooks", "url", "ftp://x", "portee", "choix").Is(400))
	check(h.post(h.posts[3], "url", "x", "portee", "choix").Is(400))
	check(h.post(h.posts[7], "depuis", "hier").Is(400))
	check(h.post(h.posts[0], "nom", "").Is(400))
	check(h.get("/compte/nulle-part").Is(404))
}
