package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/deskdb"
)

// make chaos has many more.
var secretRequests = flag.Int("secret-requests", 300, "how many requests with secrets are sent before files and logs are searched for them")

const stranger, strangerV6 = "203.0.113.77", "2001:db8:77::1"

// settings are secrets of the operator. Nobody listens at the mail server's address: that it is
// unreachable is logged again and again.
var settings = map[string]string{
	"PALMARES_SMTP":                  "smtp://courrier:courrier7gWqZ2xKv@127.0.0.1:1",
	"PALMARES_STRIPE_KEY":            "sk_test_51LeakTestQmZ8vR2",
	"PALMARES_STRIPE_WEBHOOK_SECRET": "whsec_LeakTestPz7Wc1Xs",
	"PALMARES_STRIPE_PRICE":          "price_1",
}

// TestNothingSecretIsLeftBehind sends requests with secrets of every kind, and looks for them
// in every file that servers and commands wrote, in logs, metrics and profiles.
func TestNothingSecretIsLeftBehind(t *testing.T) {
	for name, value := range settings { // not as options, which every user of the machine can read
		t.Setenv(name, value)
	}
	databases.EachDSN(t, func(t *testing.T, database string) {
		l := newLeakTest(t, database)
		begin := time.Now()
		l.load()
		took := time.Since(begin)
		l.collect()
		l.scan("while it runs")
		l.server.stop()
		files, size := l.scan("after its end")
		if t.Failed() {
			return
		}
		t.Logf("none of %d secrets is left after %d requests in %s: %d records of requests in the log and %d files of %d MB were searched",
			len(l.secrets), l.sent.Load(), took.Round(time.Second), l.server.log.Count(`"msg":"request"`), files, size>>20)
	})
}

// A leakTest is a server and the secrets that it is told.
type leakTest struct {
	t        *testing.T
	database string
	ops      string
	server   *process
	secrets  map[string]string
	texts    map[string]string // what was served or printed, by where
	sent     atomic.Int64
}

func newLeakTest(t *testing.T, database string) *leakTest {
	t.Helper()
	l := &leakTest{t: t, database: database, ops: freeAddress(t), texts: map[string]string{}}
	print := func(args ...string) string {
		return strings.TrimSpace(must(t, append(args, "--database", database)...))
	}
	print("account", "create", "ada@example.org", "--plan", "pro")
	print("account", "create", "bob@example.org", "--plan", "developer")
	print("publish", marked(t, "A", 20))
	l.secrets = map[string]string{
		"a Pro key":                   print("key", "create", "ada@example.org", "--name", "x"),
		"a Developer key":             print("key", "create", "bob@example.org", "--name", "x"),
		"an unknown key":              strings.TrimPrefix(unknownKey(), "Authorization: Bearer "),
		"a publishing token":          print("token", "create", "--name", "ci"),
		"a webhook secret":            print("webhook", "add", "ada@example.org", "http://127.0.0.1:1/hooks", "--webhook-allow", "127.0.0.0/8"),
		"the password of the mail":    "courrier7gWqZ2xKv",
		"the Stripe key":              settings["PALMARES_STRIPE_KEY"],
		"the secret of Stripe's hook": settings["PALMARES_STRIPE_WEBHOOK_SECRET"],
		"the secret key":              secretKey('0'),
		"an IPv4 address":             stranger,
		"an IPv6 address":             strangerV6,
	}
	l.server = serveProcess(t, "--database", database, "--trusted-proxies", "127.0.0.0/8", "--ops-listen", l.ops, "--webhook-allow", "127.0.0.0/8")
	l.signIn()
	return l
}

// signIn starts a session with a link, and asks for another link, which cannot be sent.
func (l *leakTest) signIn() {
	l.t.Helper()
	st := databases.OpenDSN(l.t, l.database)
	link, err := st.Links.Create(l.t.Context(), "ada@example.org", account.LinkSignIn, time.Now())
	if err != nil {
		l.t.Fatal(err)
	}
	l.secrets["a link"] = link
	l.post("/compte", url.Values{"email": {"ada@example.org"}}.Encode(), "")
	cookies := l.post("/compte/connexion", url.Values{"jeton": {link}}.Encode(), "").Cookies()
	if len(cookies) != 1 {
		l.t.Fatalf("%d cookies\n%s", len(cookies), l.server.log)
	}
	l.secrets["a session"] = cookies[0].Value
	l.texts["cookie"] = cookies[0].Name
	draft, err := st.Copies.Create(l.t.Context(), deskdb.WorkingCopy{Path: "outils/t1.md", Author: "ada@example.org"}, time.Now())
	if err != nil {
		l.t.Fatal(err)
	}
	l.secrets["a private link"], _, err = st.Shares.Create(l.t.Context(), draft.ID, draft.Author, time.Now())
	if err != nil {
		l.t.Fatal(err)
	}
}

// post sends a form, or what Stripe sends with a signature.
func (l *leakTest) post(path, body, signature string) *http.Response {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.server.url+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if signature != "" {
		req.Header.Set("Stripe-Signature", signature)
	}
	resp, err := client.Transport.RoundTrip(req) // no redirects
	if err != nil {
		l.t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// load sends all requests, many at once.
func (l *leakTest) load() {
	l.t.Helper()
	s := l.secrets
	bearer := func(what string) string { return "Authorization: Bearer " + s[what] }
	requests := [][]string{ // path and headers
		{"/api/v1/tools/t1", bearer("a Pro key")},
		{"/api/v1/stats", bearer("a Developer key")},
		{"/api/v1/stats", bearer("an unknown key")},
		{"/api/v1/stats", bearer("a Pro key") + "x"},
		{"/api/v1/stats?key=" + s["a Pro key"]},
		{"/api/v1/tools/" + s["a Pro key"]},
		{"/api/v1/stats", "X-Forwarded-For: " + stranger},
		{"/outils", "X-Forwarded-For: " + strangerV6},
		{"/outils?q=" + s["a Developer key"], bearer("a Developer key")},
		{"/avis/t1?session=" + s["a session"], "Referer: " + l.server.url + "/compte/connexion?jeton=" + s["a link"]},
		{"/data/v1/search?q=t1", bearer("a Pro key")},
		{"/webhooks/v1/endpoints", bearer("a Pro key")},
		{"/publish/v1/catalogue", bearer("a publishing token")},
		{"/api/v1/stats", bearer("a publishing token")},
		{"/compte", "Cookie: " + l.texts["cookie"] + "=" + s["a session"]},
		{"/compte/connexion?jeton=" + s["a link"]},
		{"/apercu/" + s["a private link"]},
		{"/apercu/" + s["a private link"] + "/media/a.png"},
	}
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for !l.t.Failed() {
				i := int(l.sent.Add(1))
				if i > *secretRequests {
					l.sent.Add(-1)
					return
				}
				request := requests[i%len(requests)]
				if _, _, err := l.server.try(request[0], request[1:]...); err != nil {
					l.t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if resp := l.post("/hooks/stripe", "{}", "t=1,v1="+s["the secret of Stripe's hook"]); resp.StatusCode != http.StatusBadRequest {
		l.t.Errorf("a forged event of Stripe: %s", resp.Status)
	}
}

// collect reads what servers and commands show.
func (l *leakTest) collect() {
	l.t.Helper()
	for _, path := range []string{"/metrics", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline"} {
		resp, err := client.Get("http://" + l.ops + path)
		if err != nil {
			l.t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			l.t.Fatalf("%s: %s %v", path, resp.Status, err)
		}
		l.texts[path] = body.String()
	}
	_, l.texts["/webhooks/v1/endpoints"] = l.server.get("/webhooks/v1/endpoints", "Authorization: Bearer "+l.secrets["a Pro key"])
	_, l.texts["/compte/donnees.json"] = l.server.get("/compte/donnees.json", "Cookie: "+l.texts["cookie"]+"="+l.secrets["a session"])
	for _, command := range []string{"key list ada@example.org", "webhook list ada@example.org", "token list", "account list"} {
		l.texts["palmares "+command] = must(l.t, append(strings.Fields(command), "--json", "--database", l.database)...)
	}
}

// folder returns where the files of the database are, with everything that was written in them.
func (l *leakTest) folder() (dir string) {
	l.t.Helper()
	if file, ok := strings.CutPrefix(l.database, "sqlite:"); ok {
		return filepath.Dir(file)
	}
	db, err := sql.Open("pgx", l.database)
	if err != nil {
		l.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(l.t.Context(), "CHECKPOINT"); err != nil {
		l.t.Fatal(err)
	}
	if err := db.QueryRowContext(l.t.Context(), "SHOW data_directory").Scan(&dir); err != nil {
		l.t.Fatal(err)
	}
	return dir
}

// scan looks for every secret in every text and file. It returns the number of files and
// their size.
func (l *leakTest) scan(when string) (files, size int) {
	l.t.Helper()
	l.texts["the log"] = l.server.log.String()
	for where, text := range l.texts {
		l.search(when, where, []byte(text))
	}
	accounts := 0 // files with an address, to be sure that files are readable in this way
	err := filepath.WalkDir(l.folder(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return ignoreMissing(err)
		}
		contents, err := os.ReadFile(path)
		l.search(when, path, contents)
		files, size = files+1, size+len(contents)
		if bytes.Contains(contents, []byte("ada@example.org")) {
			accounts++
		}
		return ignoreMissing(err)
	})
	if err != nil || accounts == 0 {
		l.t.Errorf("%d files, of which %d have the address of an account: %v", files, accounts, err)
	}
	return files, size
}

// ignoreMissing leaves out that a file has been removed meanwhile.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// search looks for every secret.
func (l *leakTest) search(when, where string, contents []byte) {
	l.t.Helper()
	for what, secret := range l.secrets {
		for form, bytesOf := range forms(secret) {
			if bytes.Contains(contents, bytesOf) {
				l.t.Errorf("%s, %s holds %s in %s", when, where, what, form)
			}
		}
	}
}

// forms returns how a secret may look in a file. The first 8 characters of a key and the last
// 4 are shown to its owner.
func forms(secret string) map[string][]byte {
	core := secret
	if len(secret) > 30 {
		core = secret[8 : len(secret)-4]
	}
	all := map[string][]byte{
		"clear text": []byte(core),
		"base64":     []byte(base64.RawStdEncoding.EncodeToString([]byte(secret))),
		"base64url":  []byte(base64.RawURLEncoding.EncodeToString([]byte(secret))),
		"hex":        []byte(hex.EncodeToString([]byte(secret))),
		"upper hex":  []byte(fmt.Sprintf("%X", secret)),
		"percent":    []byte(url.QueryEscape(core)),
	}
	if address, err := netip.ParseAddr(secret); err == nil && address.Is6() { // four bytes of IPv4 are found by chance
		all["bytes of its network"] = address.AsSlice()[:8]
	}
	for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		if raw, err := coding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err == nil && len(raw) >= 16 {
			all["decoded"], all["decoded and in hex"] = raw, []byte(hex.EncodeToString(raw))
		}
	}
	return all
}
