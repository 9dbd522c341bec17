package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"palmares/internal/catalog"
)

const (
	goodPage, dearer     = "<!doctype html><h1>Tarifs</h1><p>Pro 19 €/mois</p>", "<p>Pro<p>25 €/mois<p>Solo 9 €/mois"
	goodQuote, goodPlace = "Pro 19 €/mois", "https://plume.example/tarifs"
)

// sent returns a handler that sends a page as HTML, and no robots.txt.
func sent(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == robotsPath {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, body)
	}
}

// flood returns a handler that sends parts of a page, each as often as the number behind it says, with № for the
// number of the time. It does not keep the page in memory.
func flood(parts ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sent("")(w, r)
		for part := range slices.Chunk(parts, 2) {
			for i := 0; i < part[1].(int) && r.URL.Path != robotsPath && r.Context().Err() == nil; i++ {
				_, _ = io.WriteString(w, strings.ReplaceAll(part[0].(string), "№", fmt.Sprint(i)))
			}
		}
	}
}

func answered(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != robotsPath || status >= 500 {
			w.WriteHeader(status)
		}
	}
}

// redirected returns a handler that redirects /tarifs, and sends a page at every other address.
func redirected(to, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tarifs" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		sent(body)(w, r)
	}
}

// A web is servers in memory that write down when they were asked.
type web struct {
	mu     sync.Mutex
	asked  []string
	at     []time.Time
	busy   map[string]int
	answer http.HandlerFunc
	err    error  // of every connection
	slow   string // the path of a page that never ends
}

type body func([]byte) (int, error)

func (f body) Read(b []byte) (int, error) { return f(b) }

func (h *web) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked, h.at = append(h.asked, r.URL.Path+r.Header.Get("If-None-Match")), append(h.at, time.Now())
	if h.busy[r.URL.Host]++; h.busy[r.URL.Host] > 1 || len(h.busy) > maxHosts {
		h.asked = append(h.asked, "too many at once")
	}
	h.mu.Unlock()
	<-time.After(100 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[r.URL.Host]--; h.busy[r.URL.Host] == 0 {
		delete(h.busy, r.URL.Host)
	}
	w := httptest.NewRecorder()
	switch {
	case h.err != nil:
		return nil, h.err
	case h.answer != nil:
		h.answer(w, r)
	}
	resp := w.Result()
	if r.URL.Path == h.slow {
		resp.Body = io.NopCloser(body(func([]byte) (int, error) { <-time.After(time.Second); return 1, r.Context().Err() }))
	}
	return resp, nil
}

// newTestReader returns a reader of servers in memory, or else of those on this machine.
func newTestReader(w *web) *Reader {
	r := NewReader(ReaderConfig{Agent: "Palmares/1 (+https://essai.example)", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if w != nil {
		w.busy = map[string]int{}
		r.client.Transport, r.cfg.Allow, r.cfg.Spacing = w, nil, 2*time.Second
	}
	return r
}

// see looks at sources, and returns the first letters of the results and the proofs.
func see(t *testing.T, r *Reader, sources ...Listed) (results string, list []catalog.Proof) {
	check := &Check{Reader: r, Now: time.Now, Each: func(int, int, *catalog.Proof, func() []catalog.Proof) {}}
	list, _ = check.Run(t.Context(), sources)
	for _, p := range list {
		results += p.Result[:1]
	}
	return results, list
}

func source(address, quote string) Listed {
	return Listed{Proof: catalog.Proof{Slug: "plume", URL: address, Quote: quote}}
}

// TestAnyPageCostsLittle reads hostile pages, which confirm nothing, and long ones, of nearly 5 MB, which confirm the price.
func TestAnyPageCostsLittle(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(z, body(func(b []byte) (int, error) { return copy(b, "<p>Pro 18 €/mois "), nil }), 1<<28)
	_ = z.Close()
	for name, handler := range map[string]http.HandlerFunc{
		"endless": flood("<p>Pro 18 €/mois</p>", 1<<40), "bomb": sent(bomb.String(), "Content-Encoding", "gzip"), "wrong length": sent(goodPage, "Content-Length", "100000"),
		"robots": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /"+strings.Repeat("*a", 30_000)+"$\n"+strings.Repeat("User-agent: *\nDisallow: /*x*\n", 300_000))
		}, "nested": flood("<div>", 1_000_000, goodPage, 1), "ends": flood("<span>", 500, "</b></i>", 100_000), "flat": flood("<br>", 400_000),
		"cells": flood("<table><tr>", 1, "<td>19", 400_000), "amounts": flood("<p>Pro 18 €/mois", 100_000, "<p>Pro 17 €/mois", 10_000),
		"numbers": flood("<p>", 1, "1a", 2_600_000), "digits": flood("<p>", 1, "19 ", 1_700_000), "one word": flood("<p>", 1, "mois", 1_300_000),
		"ligatures": flood("<p>", 1, "\ufdfa", 1_700_000), "footnotes": flood("1<sup>2 ", 500, "mois ", 1_000_000), "decimals": flood("19<sup>99</sup> ", 320_000),
		"attributes": flood("<p", 1, " a№", 700_000), "classes": flood("<style>.a{display:none}</style><p class='", 1, "b ", 700_000, "'>", 1),
		"styles": flood("<p style='", 1, "display:none;", 400_000, "'>x", 1), "selectors": flood("<style>", 1, ".a№,", 600_000, ".b{display:none}</style>", 1),
		"declarations": flood("<style>", 1, ".a,", 400_000, ".b{", 1, "display:none;", 100_000, "}</style>", 1), "conditions": flood("<style>@media print{", 1, "{}", 900_000),
		"nested rules": flood("<style>", 1, ".a{.b{display:none;", 200_000, "}", 300_000), "nested selectors": flood("<style>", 1, ":is(", 1_000_000, "{display:none}</style>", 1),
		"long comment": flood("<!--", 1, "x ", 2_600_000, "-->"+goodPage, 1), "long style": flood("<style>", 1, ".a{color:red}", 400_000, "</style>"+goodPage, 1),
		"long script": flood("<script>", 1, "x='</scrip<p hidden>';", 220_000, "</script>"+goodPage, 1), "long path": flood("<svg><path d='", 1, "M 1 2 ", 850_000, "'></svg>"+goodPage, 1),
		"long picture": flood(`<img alt="x" src="data:,`, 1, "x", 5_200_000, `">`+goodPage, 1), "long text": flood(goodPage, 1, "mot ", 1_300_000),
		"long menu":       flood(goodPage, 1, "<li><a href=/№ class='a b'>Page №</a>", 100_000, "<p style='background:url(data:,", 1, "x", 500_000, ")'>", 1),
		"comments of css": flood("<style>", 1, "/*a*/", 300_000), "strings of css": flood("<style>", 1, `"a\"`, 400_000),
		"control characters": sent("<p>Pro \x00\x1b[2J18\x00 \x07€/an\u202e</p>"), "loop": redirected("/tarifs", ""),
		"huge headers": sent(goodPage, "X", strings.Repeat("x", 1<<20)), "connection lost": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			defer debug.SetGCPercent(debug.SetGCPercent(100)) // as commands run
			var list []catalog.Proof
			began := time.Now()
			memory := mostMemory(func() { _, list = see(t, newTestReader(nil), source(server.URL+"/tarifs", goodQuote)) })
			p, took := list[0], time.Since(began).Round(time.Millisecond)
			t.Logf("%s in %v with %d MB", p.Result, took, memory)
			if (p.Result == catalog.Confirmed) != strings.HasPrefix(name, "long") || memory > 50 || took > pageTime+5*time.Second || len(p.Found) > 4096 || strings.ContainsAny(p.Found, "\x00\x1b\x07\u202e") {
				t.Errorf("%+v in %v with %d MB", p, took, memory)
			}
		})
	}
}

func TestHostileRulesOfManyHostsCostLittle(t *testing.T) {
	var sources []Listed
	for range 2 * maxHosts {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "User-agent: *\nDisallow: /"+strings.Repeat("*a", 30_000)+"$\n")
		}))
		defer server.Close()
		sources = append(sources, source(server.URL+"/tarifs", goodQuote))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if memory := mostMemory(func() { see(t, newTestReader(nil), sources...) }); memory > 50 {
		t.Errorf("%d MB", memory)
	}
}

// mostMemory returns the most memory in use while do runs, above the memory in use at first, in MB.
func mostMemory(do func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	first, most, done := m.HeapAlloc, m.HeapAlloc, make(chan struct{})
	go func() { do(); close(done) }()
	for tick := time.Tick(5 * time.Millisecond); ; {
		select {
		case <-done:
			return (most - first) >> 20
		case <-tick:
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
}

// TestTheResultSaysWhatBecameOfThePage compares the result, the words that were found, and the reason if there is no page.
func TestTheResultSaysWhatBecameOfThePage(t *testing.T) {
	closed := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n") }
	for w, want := range map[*web]string{
		{answer: redirected("https://127.0.0.1/", goodPage)}: "moved , " + ErrRedirects.Error(), {answer: redirected("https://autre.example/prix", goodPage)}: "confirmed , <nil>",
		{answer: answered(304)}: "unreadable , the page answers with status 304", {answer: sent("", "Content-Type", "application/pdf")}: "unreadable , " + ErrNoPage.Error(),
		{answer: redirected("/", dearer)}: "changed Pro\n25 €/mois, <nil>", {answer: redirected("/entrer", "<input type=Password><p>Bonjour")}: "moved , <nil>",
		{answer: redirected("javascript:alert(1)", "")}: "unreadable , " + ErrRedirects.Error(), {answer: http.NotFound}: "gone , the page answers with status 404",
		{answer: redirected("https://autre.example/prix", "<p>Pro, 19 €/an")}: "moved , <nil>", {answer: redirected("/fr/", "<p>Bonjour")}: "moved , <nil>",
		{err: &net.DNSError{IsTemporary: true}}: "unreadable , " + ErrNoAnswer.Error(), {err: errors.New("reset")}: "unreadable , " + ErrNoAnswer.Error(),
		{answer: sent("<input type=password><p>Bonjour")}: "unreadable , <nil>", {answer: redirected("/prix", "<p>Bonjour")}: "unreadable , <nil>",
		{answer: sent(strings.Repeat("<i>", 2000))}: "unreadable , " + ErrTooLarge.Error(), {answer: closed}: "unreadable , " + ErrRobots.Error(),
		{answer: sent(dearer)}: "changed Pro\n25 €/mois, <nil>", {answer: sent(dearer + "<p>Pro 29 €/mois")}: "unreadable Pro\n25 €/mois, <nil>",
		{answer: sent(goodPage)}: "confirmed , <nil>", {answer: sent("<b>Pro</b><div>19 €</div>/mois")}: "confirmed Pro\n19 €\n/mois, <nil>",
		{answer: answered(502)}: "unreadable , " + ErrRobots.Error(), {err: &net.DNSError{IsNotFound: true}}: "gone , " + ErrNoHost.Error(),
		{answer: answered(410)}: "gone , the page answers with status 410", {answer: answered(403)}: "unreadable , the page answers with status 403",
		{answer: sent("<p>Pro, 19 €/an")}: "unreadable Pro, 19 €/an, <nil>", {answer: sent("<p>Pro")}: "unreadable , <nil>",
		{slow: "/tarifs"}: "unreadable , " + ErrNoAnswer.Error(), {slow: robotsPath}: "unreadable , " + ErrNoAnswer.Error(),
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, list := see(t, newTestReader(w), source(goodPlace, goodQuote))
			_, _, err := newTestReader(w).Passages(t.Context(), goodPlace, "")
			if got := fmt.Sprintf("%s %s, %v", list[0].Result, list[0].Found, err); got != want || time.Since(began) > 2*pageTime+10*time.Second {
				t.Errorf("%q after %v, want %q", got, time.Since(began), want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // without a quotation the page has to be there
		if results, list := see(t, newTestReader(&web{answer: redirected("/", goodPage)}), source(goodPlace, ""), source("https://plume.example/prix", "")); results != "mc" {
			t.Errorf("%+v", list)
		}
	})
}

func TestNothingPrivateIsAskedUnlessAllowed(t *testing.T) {
	asked := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, address := range []string{
		server.URL + "/tarifs", "https://localhost:" + port + "/", "https://[::1]:" + port + "/", "http://127.0.0.1/", "https://0x7f000001/",
		"file:///etc/passwd", "https://user:secret@plume.example/", "https://10.0.0.1/", "https://[::ffff:127.0.0.1]:" + port + "/", "nothing", "",
	} {
		if _, _, err := NewReader(ReaderConfig{}).Passages(t.Context(), address, ""); err == nil || asked > 0 {
			t.Errorf("%s: %v, %d requests", address, err, asked)
		}
	}
	open := httptest.NewServer(http.RedirectHandler("http://169.254.1.1/x", http.StatusFound)) // for robots.txt too
	defer open.Close()
	if _, _, err := newTestReader(nil).Passages(t.Context(), open.URL+"/tarifs", ""); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
}

func TestAHostIsAskedPolitely(t *testing.T) {
	const rules = "\ufeffUser-agent: *\rDisallow: /\r\rUser-agent: x\nUser-agent: palmares\nDisallow: /secret\nAllow: /secret/b\nDisallow: /*?s=*$\n"
	synctest.Test(t, func(t *testing.T) {
		h := &web{answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == robotsPath {
				_, _ = io.WriteString(w, rules)
				return
			}
			sent(goodPage, "Retry-After", map[string]string{"/c": "30", "/e": "86400"}[r.URL.Path])(w, r)
		}}
		var sources []Listed
		for _, path := range []string{"/a", "/secret/a", "/secret/b", "/c", "/d?s=1", "/d", "/e", "/f"} {
			sources = append(sources, source("https://plume.example"+path, goodQuote))
		}
		results, _ := see(t, newTestReader(h), sources...)
		if want := []string{robotsPath, "/a", "/secret/b", "/c", "/d", "/e"}; !slices.Equal(h.asked, want) || results != "cuccucc" {
			t.Errorf("asked for %q, want %q: %s", h.asked, want, results)
		}
		for i := 1; i < len(h.at); i++ {
			want := map[bool]time.Duration{false: 2 * time.Second, true: 30 * time.Second}[h.asked[i-1] == "/c"]
			if gap := h.at[i].Sub(h.at[i-1]); gap < want || gap > want+time.Second {
				t.Errorf("%v between %s and %s, want %v", gap, h.asked[i-1], h.asked[i], want)
			}
		}
		r := newTestReader(h) // which forgets hosts, and waits for nothing that is busy longer than it may
		for i := range 2 * maxKnown {
			if r.host(fmt.Sprint(i)).users.Add(-1); len(r.hosts) > maxKnown {
				t.Fatalf("%d hosts are known", len(r.hosts))
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		_ = errors.Join(r.places.Acquire(ctx, maxPages), r.host("autre.example").turn.Acquire(ctx, 1))
		for _, address := range []string{goodPlace, "https://autre.example/"} {
			if _, _, err := r.Passages(ctx, address, ""); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
	})
}

// TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent looks a second time at a page, which says that it is the same.
func TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent(t *testing.T) {
	for test := range slices.Chunk([]string{ // the tags of the page, the address of the first one, the result
		`"1"`, `"1"`, goodPlace, catalog.Confirmed, `"1"`, `W/"2"`, goodPlace, catalog.Changed, `"1"`, `"1"`, goodPlace + "/autre", catalog.Changed,
		"", "", goodPlace, catalog.Changed, "1", "1", goodPlace, catalog.Changed, `"` + strings.Repeat("1", 201) + `"`, `"2"`, goodPlace, catalog.Changed,
	}, 4) {
		synctest.Test(t, func(t *testing.T) {
			page, tag, day := goodPage, test[0], time.Now()
			reader := newTestReader(&web{answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Etag"] = []string{tag}
				http.ServeContent(w, r, "x.html", day, strings.NewReader(page))
			}})
			_, first := see(t, reader, source(goodPlace, goodQuote))
			page, tag, day, first[0].FinalURL = dearer, test[1], day.AddDate(0, 0, -6), test[2]
			_, list := see(t, reader, Listed{Proof: first[0]})
			if p := list[0]; p.Result != test[3] || p.Result == catalog.Confirmed && (!isLike(p, first[0]) || p.ConfirmedAt <= first[0].ConfirmedAt) {
				t.Errorf("%+v: %+v", test, p)
			}
		})
	}
}

// TestARunThatIsInterruptedGoesOn stops a run in the middle, and finishes it with a second one that looks at the rest first.
func TestARunThatIsInterruptedGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, sources := &web{answer: sent(goodPage)}, make([]Listed, 150)
		for i := range sources {
			sources[i].Proof = catalog.Proof{Slug: fmt.Sprint("t", i), URL: fmt.Sprintf("https://h%d.example/%d", i%30, i), Quote: goodQuote}
		}
		ctx, stop := context.WithCancel(t.Context())
		check := &Check{Reader: newTestReader(h), Now: time.Now, Each: func(n, _ int, p *catalog.Proof, all func() []catalog.Proof) {
			if n == 50 {
				stop()
			}
			if p.Result != catalog.Confirmed || len(all()) != n && ctx.Err() == nil {
				t.Errorf("%d proofs after %d looks: %+v", len(all()), n, p)
			}
		}}
		part, total := check.Run(ctx, sources)
		check.Limit = total - len(part)
		all, _ := check.Run(t.Context(), sources)
		if total != 150 || len(part) < 50 || len(part) > 50+maxHosts || len(all) != total || slices.Contains(h.asked, "too many at once") {
			t.Errorf("%d and %d of %d proofs, asked for %q", len(part), len(all), total, h.asked)
		}
	})
}

// A model is a page of prices before it is written as HTML. The second plan is the quoted one.
type model struct {
	*rand.Rand
	plans  []plan
	layout string
}

type plan struct{ name, number, currency, period string }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// layouts are ways to write a plan: name, amount, period.
var layouts = []string{
	"<div class=card><h3>%s</h3><p><span class=n>%s</span> <span>%s</span></p><ul><li>7 projets</ul></div>", "<dl><dt>%s<dd>%s <small>%s</small></dl>", "<p>%s %s %s. 3 projets.</p>",
	"<section><h2>%s</h2>\n<div><strong>%s</strong></div>\n<div>%s</div><p>Tout compris</p></section>", "<table><tr><td>%s<td>%s %s</table>",
	"<article>%s<br>%s<br>%s<details><summary>Plus</summary>8 projets</details></article>",
}

func newModel(seed uint64) *model {
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1))}
	m.layout = pick(m.Rand, layouts...)
	names := pick(m.Rand, []string{"Solo", "Pro", "Équipe"}, []string{"Basique", "Pro+", "L’Illimité"}, []string{"Free 2", "Team 5", "Org 20"})
	currency, period := pick(m.Rand, "%s\u00a0€", "$%s", "£%s", "CHF\u00a0%s", "%s CHF"), pick(m.Rand, "par mois", "/mois", "/ month, billed yearly", "HT / an")
	for i, name := range names {
		number := fmt.Sprint((i+1)*10 + m.IntN(9))
		number = pick(m.Rand, number, number, number+",99", number+".50", "1 "+fmt.Sprint(100+i*37))
		m.plans = append(m.plans, plan{name, number, currency, period})
	}
	return m
}

// write returns the page; style changes the HTML of the quoted plan.
func (m *model) write(style func(string) string) string {
	text := "<!doctype html><html lang=fr><head><meta charset=utf-8><title>Tarifs</title><style>.x{color:red}</style></head><body><ul>" +
		"<li><a href=/x>Tarifs</a></ul><main><h1>Nos prix</h1><p>Déjà 1000 clients</p>"
	for i, p := range m.plans {
		one := fmt.Sprintf(m.layout, p.name, fmt.Sprintf(p.currency, p.number), p.period)
		if i == 1 && style != nil {
			one = style(one)
		}
		text += one
	}
	return text + "</main><footer><p>© 2026 Essai SAS, capital de 10 000 €</footer></body></html>"
}

// quote returns the words that a person marks.
func (m *model) quote() string {
	return fmt.Sprintf("%s "+m.plans[1].currency+" %s", m.plans[1].name, m.plans[1].number, m.plans[1].period)
}

type mutation func(*model) string

func changed(change func(*model)) mutation {
	return func(m *model) string { change(m); return m.write(nil) }
}

func styled(style func(string) string) mutation {
	return func(m *model) string { return m.write(style) }
}

func replaced(pairs ...string) mutation {
	return func(m *model) string { return strings.NewReplacer(pairs...).Replace(m.write(nil)) }
}

func wrapped(before, after string) mutation {
	return styled(func(s string) string { return before + s + after })
}

func number(change func(string) string) mutation {
	return func(m *model) string { return replaced(m.plans[1].number, change(m.plans[1].number))(m) }
}

func parsed(t *testing.T, document string) *page {
	p, err := parsePage(t.Context(), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// neutral are changes of a page that do not matter to the quoted price.
var neutral = map[string]mutation{
	"unstruck":    wrapped("<style>.n{text-decoration:line-through}.n{text-decoration:none}</style><p style='display:none;display:block;text-decoration:line-through;text-decoration-line:none'>", ""),
	"shown later": wrapped("<style>.n,.card{display:none}.n{visibility:hidden!important}.x{}.n{visibility:visible !important}</style>", "<style>.a{}.n,.card{Display:block}</style>"),
	"spans":       number(func(n string) string { return "<span><b>" + n[:1] + "</b>" + n[1:] + "</span>" }), "struck price": number(func(n string) string { return "<s>99 €</s> " + n }),
	"print":           wrapped("<style media=print>*,.card,.n{display:none}</style><style>@media print{.card,.n{display:none}} @media (max-width:9px){#a{}.n{display:none}}</style>", ""),
	"strings of css":  wrapped(`<style>.x{content:"} .n,.card{display:none}"}.x{content:'\'} .n{display:none}'}.x{background:url(x;}.n{display:none})}</style>`, ""),
	"a template":      wrapped("<template><style>.n,.card{display:none}</style></template><svg><path/><path/><title>x</title></svg>", "<script>x='29 €'</script>"),
	"other selectors": wrapped(`<style>.md\:hidden,.card p,p.n,:is(.x,.card,.n,.y):not(.z),section div{display:none}</style><noscript><style>.n{display:none}</style></noscript>`, ""),
	"white space":     replaced("> ", ">\n\t ", " par ", "\r\n par  ", "\u00a0", pick(rand.New(rand.NewPCG(1, 1)), "&#8239;", "&nbsp;", " ")),
	"decimals":        replaced(",99", "<sup><b>99</b></sup>", ".50", "\n <sup>50</sup>", ",90", "<sup> 90</sup>", ".75", "<sup>75</sup>"),
	"hidden price":    number(func(n string) string { return "<span class=u>99</span>" + n + "<style>.u{display:none}</style>" }),
	"attributes":      replaced("<span", `<span data-v="19 €" class="a b" style="color: red"`, "<div", "<div hidden-x"),
	"open elements":   wrapped("<table><tr hidden><td>x<tr><td><p hidden>x<p><ul><li hidden>x<li>", "</ul></table>"),
	"other plans": changed(func(m *model) {
		m.plans[0].number, m.plans = "77", append(m.plans, plan{"Max", "490", "%s €", "par mois"})
	}),
	"menus and counters": replaced("</a>", "</a><li>Nouveau<li>49 €", "1000", "87654"), "nothing": replaced(),
	"order":       func(m *model) string { s := m.write(nil); return s[:strings.Index(s, "<main>")] + s },
	"entities":    replaced("€", "&euro;", "É", "&Eacute;", "’", "&#39;", "+", "&#43;", "$", "&#x24;"),
	"sloppy ends": wrapped("<b><i>x</b></i></div></p><div><span hidden>x</div>", "</section></b>"), "invisible": replaced(" par ", " p&shy;ar ", "mois", "mo\u200bis", "€", "<!-- 19 € -->€"),
}

// TestTheFiguresOfQuotationsHold changes pages, and then the price too.
func TestTheFiguresOfQuotationsHold(t *testing.T) {
	pages, confirmed, right := 40*len(neutral), 0, 0
	for name, mutate := range neutral {
		for seed := range uint64(40) {
			m := newModel(seed)
			quote := m.quote()
			if result, _ := parsed(t, mutate(m)).compare(t.Context(), quote); result == catalog.Confirmed {
				confirmed++
			}
			m = newModel(seed)
			m.plans[1].number = pick(m.Rand, "87", "87,90", "2 345", "8.75", "7")
			result, found := parsed(t, mutate(m)).compare(t.Context(), quote)
			if result == catalog.Confirmed {
				t.Errorf("%s, %d: confirmed", name, seed)
			}
			if again, _ := parsed(t, found).compare(t.Context(), m.quote()); result == catalog.Changed && again == catalog.Confirmed {
				right++
			}
		}
	}
	if confirmed*100 < pages*99 || right*100 < pages*95 {
		t.Errorf("of %d pages, %d are confirmed, and %d new prices are found", pages, confirmed, right)
	}
}

// lies are changes after which the quotation must not be confirmed.
var lies = map[string]mutation{
	"error page": func(*model) string { return "<h1>Erreur 404</h1><p>Cette page n’existe pas.</p>" }, "period": changed(func(m *model) { m.plans[1].period = "par semaine" }),
	"words inside": changed(func(m *model) { m.plans[1].name += ", à partir du 1er mars et pour les associations :" }), "no plan": styled(func(string) string { return "" }),
	"amount": changed(func(m *model) { m.plans[1].number = "9" + m.plans[1].number }), "cents": changed(func(m *model) { m.plans[1].number += ",01" }),
	"sup": number(func(n string) string { return n + "<sup>95</sup>" }), "sup, apart": number(func(n string) string { return n + "\n<sup>95 </sup>" }),
	"currency": changed(func(m *model) { m.plans[1].currency = "%s ¥" }), "plan": changed(func(m *model) { m.plans[1].name += " Max" }),
}

// unseen are lies too: what stands before and behind a plan that nobody sees.
var unseen = []string{
	`<style>@layer x{@media screen{.gone{display:none!important}}}.gone{display:block}</style><div class=gone>`, "</div>", `<div style="color:red; Display : none ! important">`, "</div>",
	`<style>.was{text-decoration-line:line-through;text-decoration-color:red}</style><div class=was>`, "</div>", "<div style='display:block;background:url(;);display:none'>", "</div>",
	`<div style="text-decoration:none;text-decoration:line-through!important;text-decoration:none">`, "</div>", `<style>/* { */#promo{display:none}</style><div id=promo>`, "</div>",
	`<style>.k{content:"{"}.k{display:none;&:hover{display:block}}</style><div class=k>`, "</div>", `<style media=screen>.sm\:gone{display:none}</style><div class=sm:gone>`, "</div>",
	`<div class="gone">`, "</div><style>@import 'x';p{}.gone{visibility:hidden;}</style>", `<style/><!-- .a, .gone {display:none} --></style><div class="b gone c">`, "</div>",
	`<div style="text-decoration: 2px line-through">`, "</div>", "<span hidden><div></span></b></body>", "</div></span>", `<div style="visibility:/**/hidden">`, "</div>", "<!--", "-->",
	`<script type="text/plain">`, "</script>", "<details open hidden>", "</details>", `<div aria-hidden="TRUE">`, "</div>", "<select><option>", "</select>", "<del><div>", "</div></del>",
	"<svg><text>", "</text></svg>", "<template>", "</template>", "<noscript>", "</noscript>", "<textarea>", "</textarea>", "<my-x hidden/>", "", "<div hidden>", "</div>", "<style>#y{display:none</style><div id=y>", "</div>",
	"<dialog>", "</dialog>", "<strike>", "</strike>", "<input value='", "'>", "<ul><li><s>x</li></ul>", "", "<p><i hidden>x</p>", "", "<span>x<s>y</span>", "</s>",
}

func TestNoLieIsConfirmed(t *testing.T) {
	for pair := range slices.Chunk(unseen, 2) {
		lies[pair[0]] = wrapped(pair[0], pair[1])
	}
	for name, lie := range lies {
		for seed := range uint64(40) {
			m := newModel(seed)
			quote := m.quote()
			document := lie(m)
			if result, _ := parsed(t, document).compare(t.Context(), quote); result == catalog.Confirmed {
				t.Errorf("%s, %d: %q is confirmed in %s", name, seed, quote, document)
			}
		}
	}
}

func TestTextsAreComparedAsDocumented(t *testing.T) {
	for test := range slices.Chunk([]string{ // page, quotation, result and words
		"Team 5 : 29 € par mois<p>Team 10 : 49 € par mois", "Team 5 : 19 € par mois", "unreadable Team 5 : 29 € par mois", "<button>Pro</button>19 €", "Pro 19 €", "confirmed Pro\n19 €",
		"« L’offre » – 1\u202f200\u00a0€ / mois", `"L'offre" - 1 200€/mois`, "confirmed « L’offre » – 1 200 € / mois", "19<sup>9<b>9</b></sup> €", "19.99 €", "confirmed 19,99 €",
		"<details><summary>Prix</summary>Pro 19 €</details>", "Prix Pro 19 €", "confirmed Prix\nPro 19 €", "Pro</br>19 €<hr>par mois", "Pro 19 € par mois", "confirmed Pro\n19 €\npar mois",
		"Gratuit pour tous", "Gratuit pour toujours", "unreadable Gratuit pour tous", "<td>19<td><sup>99</sup> €", "19,99 €", "changed 19\n99 €", "Pro 19 €uros", "Pro 19 €", "confirmed ",
		"Pro CHF 19´000", "Pro CHF 19", "changed Pro CHF 19'000", "9,99<sup>12</sup> €", "9,99 €", "unreadable ", "<td>1<td>9 €/mois", "9 €/mois", "changed 1\n9 €/mois",
		"19<sup>99 €</sup>/mois", "19,99 €/mois", "confirmed ", "P<b>r</b>o<x-y>19</x-y> €", "Pro19 €", "confirmed ", "19,99 €/mois", "99 €/mois", "changed 19,99 €/mois",
		"19 <sup>1</sup> €", "19 1 €", "unreadable ", "Pro $19 000", "Pro $19", "changed Pro $19 000", "APro 19 €", "Pro 19 €", "unreadable APro 19 €",
		"19<sup>995</sup> €", "19 995 €", "unreadable ", "19\n <sup>99</sup> €", "19,99 €", "confirmed ", "1<sup>er</sup> mars", "1er mars", "confirmed ",
		"Pro <s>29 €</s>19 €", "Pro 19 €", "confirmed ", "1 9 €/mois", "9 €/mois", "changed 1 9 €/mois", "Pro $19.50", "Pro $19", "changed Pro $19.50", "US$19/mo", "$19/mo", "confirmed ",
		"1\u2009200\u00a0€", "1 200  €", "confirmed ", "pro 19 €", "Pro 19 €", "unreadable pro 19 €", "19 €/mois", "9 €/mois", "changed 19 €/mois", "ﬁn ① Pro", "fin 1 Pro", "confirmed ",
		"Pro $19. Puis $20", "Pro $19", "confirmed ", "19<sup>99</sup> €", "19,99 €", "confirmed ", "19 €<sup>99</sup>", "19 €99", "confirmed ", "Pro 19k", "Pro 19", "unreadable Pro 19k",
		"19<sup>1</sup> €", "191 €", "unreadable ", "mois<sup>1</sup>", "mois1", "confirmed ", "Pro 19٫5", "Pro 19", "changed Pro 19٫5",
	}, 3) {
		if result, found := parsed(t, test[0]).compare(t.Context(), test[1]); result+" "+found != test[2] {
			t.Errorf("%q in %q: %s %q, want %q", test[1], test[0], result, found, test[2])
		}
	}
}

// TestPassagesAreQuotationsNearestToThePriceFirst compares the quotations for a price of 19 €, and their amounts.
func TestPassagesAreQuotationsNearestToThePriceFirst(t *testing.T) {
	for test := range slices.Chunk([]string{ // page, quotations and amounts
		"<p>Depuis 2019<h2>Solo</h2><p>9\u00a0€<p>par mois<h2><div>Pro</div></h2><div><b>19 €</b> HT / mois, 5 projets</div><div>7 jours<p>CHF 1'200.50 par an<p>HTML 5<p>Essai de 19 jours",
		"Pro 19 € HT / mois, 5 projets = 19* | Essai de 19 jours = * | Solo 9 € par mois = 9 | CHF 1'200.50 par an = ",
		"<h1>Plans & pricing</h1><p>1234 clients<p>Plan Max 5x (€5 …)<p>Creator (€29 …)<p>Team (€1,290 …)", "Creator (€29 ...) = 29 | Plan Max 5x (€5 ...) = 5 | Team (€1,290 ...) = 1 290",
		"<table><tr><th>Offre<th>Prix<tr><td>Solo<td>$9<td>/mo<tr><th>Pro<td>$19<td>/mo</table>", "Pro $19 /mo =  | Solo $9 /mo = ",
		"<table><tr><td>Mensuel<td>19 €<tr><td>Annuel<td>190 €</table>soit 5 €", "Mensuel 19 € = 19* | soit 5 € = 5 | Annuel 190 € = 190",
		"<p>Solo 9 € par mois, Pro 19 € par mois, Max 49 € par mois.", "par mois, Pro 19 € par mois = 19* | Solo 9 € par mois = 9 | par mois, Max 49 € par mois. = 49",
		"<span>Büro 2</span> <span>19</span> € / Monat", "Büro 2 19 € / Monat = 19*", "<b>Team 5</b> <i>49</i> €/mo", "Team 5 49 €/mo = 49",
		"<p>$49 2 users<p>Pack 10 199 €", "$49 2 users =  | Pack 10 199 € = 10 199", "<p>Pro 19<sup>99 €</sup>/mois", "Pro 19,99 €/mois = 19,99", "<p>Pro 19<sup>1</sup> €/mois", "", "<p>Pro 19 €90<p>Duo 19€900", "", "<p>Solo 12€90<h2>Pro</h2><p>19€ par mois<p>Max 129€90/mois", "Pro 19€ par mois = 19* | Solo 12€90 = 12,90 | Max 129€90/mois = 129,90",
	}, 2) {
		var got []string
		for _, one := range parsed(t, test[0]).passages(t.Context(), "19 €/mois") {
			got = append(got, one.Quote+" = "+strings.TrimSuffix(one.Price, " €/mois")+map[bool]string{true: "*"}[one.IsOwn])
		}
		if strings.Join(got, " | ") != test[1] {
			t.Errorf("%q is %q", test, strings.Join(got, " | "))
		}
	}
}

func TestSourcesAreListedWithTheirStates(t *testing.T) {
	same, other := []catalog.Announcement{{Source: goodPlace, PriceQuote: goodQuote}}, []catalog.Announcement{{PriceSource: "https://x.example", PriceQuote: "25 €"}}
	for _, test := range []struct {
		change       func(*catalog.Tool, *catalog.Proof)
		result, want string // number of sources, state, new price
	}{
		{func(*catalog.Tool, *catalog.Proof) {}, catalog.Changed, "1 changed 1 250,50 €/mois"},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.PriceCheckedAt = "2026-01-01" }, "", "1 stale "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.Draft = true }, "", "0  "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.PriceQuote = "" }, "", "0  "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.PriceQuote = "19 €" }, catalog.Changed, "1  "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.PriceCheckedAt = "2026-11-11" }, catalog.Changed, "1 changed "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.PriceDisplay = "Dès 19 €" }, catalog.Changed, "1 changed "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.Price, t.PriceQuote = catalog.NoPrice, "" }, "", "1  "},
		{func(_ *catalog.Tool, p *catalog.Proof) { p.Found = "Pro $21/mois" }, catalog.Changed, "1 changed "},
		{func(_ *catalog.Tool, p *catalog.Proof) { p.Found = "Pro\n21€90 /mois" }, catalog.Changed, "1 changed "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.Announced = other }, "", "2  "},
		{func(t *catalog.Tool, _ *catalog.Proof) { t.Announced = same }, "", "1  "},
	} {
		tool := catalog.Tool{Slug: "plume", Pricing: "payant", Price: "19 €/mois", PriceSource: goodPlace, PriceQuote: goodQuote, PriceCheckedAt: "2026-11-01"}
		seen := catalog.Proof{Slug: "plume", URL: goodPlace, Quote: goodQuote, Result: test.result, Found: "Pro\n1 250,5 €/mois", CheckedAt: "2026-11-10T03:00:00Z"}
		test.change(&tool, &seen)
		list := append(List(&catalog.Catalog{Tools: []*catalog.Tool{&tool}}, []catalog.Proof{seen}, "2026-11-12"), Listed{})
		if got := fmt.Sprintf("%d %s %s", len(list)-1, list[0].State, list[0].NewPrice()); got != test.want {
			t.Errorf("%+v: %q, want %q", tool, got, test.want)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add(newModel(1).write(nil), newModel(1).quote())
	f.Fuzz(func(t *testing.T, document, quote string) {
		p, _ := parsePage(t.Context(), []byte(document))
		if result, found := p.compare(t.Context(), quote); !utf8.ValidString(found) || result == catalog.Changed && found == "" {
			t.Errorf("%s %q", result, found)
		}
		for _, one := range p.passages(t.Context(), "19 €/mois") {
			if result, _ := p.compare(t.Context(), one.Quote); result != catalog.Confirmed {
				t.Errorf("%+v is %s", one, result)
			}
		}
	})
}
