package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
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

	"palmares/internal/catalog"
)

const (
	goodPage, dearer     = "<!doctype html><h1>Tarifs</h1><p>Pro 19 €/mois</p>", "<p>Pro<p>25 €/mois<p>Solo 9 €/mois"
	goodQuote, goodPlace = "Pro 19 €/mois", "https://plume.example/tarifs"
)

// sent returns a handler that sends a page as HTML, and no robots.txt.
func sent(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == robotsPath {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, body)
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

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// A web is servers in memory that write down when they were asked.
type web struct {
	mu     sync.Mutex
	asked  []string
	at     []time.Time
	busy   map[string]int
	answer http.HandlerFunc
	err    error // of every connection
}

func (h *web) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked, h.at = append(h.asked, r.URL.Path+r.Header.Get("If-None-Match")), append(h.at, time.Now())
	if h.busy == nil {
		h.busy = map[string]int{}
	}
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
	if h.err != nil {
		return nil, h.err
	}
	w := httptest.NewRecorder()
	h.answer(w, r)
	return w.Result(), nil
}

func newTestReader(t *testing.T, w http.RoundTripper) *Reader {
	t.Helper()
	r := NewReader(ReaderConfig{Agent: "Palmares/1 (+https://essai.example)", Spacing: 2 * time.Second})
	if w != nil {
		r.client.Transport = w
	} else {
		r.cfg.Allow, r.cfg.Spacing = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, 0
		r = NewReader(r.cfg)
	}
	t.Cleanup(r.Close)
	return r
}

// see looks at pages, again at those of proofs, and returns the proofs.
func see(t *testing.T, r *Reader, quote string, before []catalog.Proof, addresses ...string) []catalog.Proof {
	t.Helper()
	sources := make([]Listed, len(addresses))
	for i, address := range addresses {
		sources[i].Proof = catalog.Proof{Slug: "plume", URL: address, Quote: quote}
	}
	for _, p := range before {
		sources = append(sources, Listed{Proof: p})
	}
	list, _ := (&Check{Reader: r, Now: time.Now, Each: func(int, int, *catalog.Proof, func() []catalog.Proof) {}}).Run(t.Context(), sources)
	return list
}

// TestAHostilePageCostsLittleAndConfirmsNothing asks servers that want to do harm.
func TestAHostilePageCostsLittleAndConfirmsNothing(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 200 {
		_, _ = z.Write(bytes.Repeat([]byte("<p>Pro 18 €/mois "), 80_000))
	}
	_ = z.Close()
	var attributes strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&attributes, " a%x", i)
	}
	robots := "User-agent: *\nDisallow: /" + strings.Repeat("*a", 30_000) + "$\n" + strings.Repeat("User-agent: *\nDisallow: /*x*\n", 300_000)
	for name, handler := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(bytes.Repeat([]byte("<p>Pro 18 €/mois</p>"), 4096))
			}
		},
		"bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(bomb.Bytes())
		},
		"robots":             func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, robots) },
		"nested":             sent(strings.Repeat("<div>", 1_000_000) + goodPage),
		"ends":               sent(strings.Repeat("<span>", 900) + strings.Repeat("</b></i>", 600_000)),
		"flat":               sent(strings.Repeat("<br>", 1_200_000)),
		"cells":              sent("<table><tr>" + strings.Repeat("<td>19", 700_000)),
		"amounts":            sent(strings.Repeat("<p>Pro 18 €/mois", 50_000) + strings.Repeat("<p>Pro 17 €/mois", 5_000)),
		"numbers":            sent("<p>" + strings.Repeat("1a", 250_000)),
		"digits":             sent("<p>" + strings.Repeat("19 ", 170_000)),
		"words":              sent(strings.Repeat("<p>Pro €/mois ", 60_000)),
		"one word":           sent("<p>" + strings.Repeat("mois", 1_200_000)),
		"one word, in parts": sent("<p>" + strings.Repeat(strings.Repeat("mois", 12_000)+"<b>", 20)),
		"ligatures":          sent("<p>" + strings.Repeat("\ufdfa", 170_000)),
		"attributes":         sent("<div" + attributes.String() + ">" + strings.Repeat("<a x>", 500_000)),
		"rules":              sent("<style>" + strings.Repeat(".a .b .c{display:none}", 20_000) + "</style>" + strings.Repeat("<p class='a b c'>x", 50_000)),
		"selectors":          sent(strings.Repeat("<style>"+strings.Repeat(".a,", 100_000)+".b{display:none}</style>", 12)),
		"conditions":         sent("<style>@media print{" + strings.Repeat("{}", 200_000) + "</style>"),
		"comments of css":    sent("<style>" + strings.Repeat("/*a*/", 90_000) + "</style><p>x"),
		"scripts":            sent("<script>" + strings.Repeat("'</scrip'", 500_000)),
		"control characters": sent("<p>Pro \x00\x1b[2J18\x00 \x07€/an\u202e</p>"),
		"wrong length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			sent(goodPage)(w, r)
		},
		"loop":            redirected("/tarifs", ""),
		"chain":           func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) },
		"huge headers":    func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
		"connection lost": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			defer debug.SetGCPercent(debug.SetGCPercent(100)) // as commands run
			runtime.GC()
			began, most := time.Now(), watchMemory()
			p := see(t, newTestReader(t, nil), goodQuote, nil, server.URL+"/tarifs")[0]
			took, memory := time.Since(began).Round(time.Millisecond), most()>>20
			t.Logf("%s in %v with %d MB", p.Result, took, memory)
			if p.Result == catalog.Confirmed || memory > 50 || took > pageTime+5*time.Second || len(p.Found) > 4096 || strings.ContainsAny(p.Found, "\x00\x1b\x07\u202e") {
				t.Errorf("%+v in %v with %d MB", p, took, memory)
			}
		})
	}
}

// watchMemory returns a function that returns the most memory in use since, above the memory in use at first.
func watchMemory() func() uint64 {
	end, result := make(chan struct{}), make(chan uint64)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	go func() {
		first, most := m.HeapAlloc, m.HeapAlloc
		for tick := time.Tick(5 * time.Millisecond); ; {
			select {
			case <-end:
				result <- most - first
				return
			case <-tick:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	return func() uint64 { close(end); return <-result }
}

// TestTheResultSaysWhatBecameOfThePage compares the result, the words that were found, and the reason if there is no page.
func TestTheResultSaysWhatBecameOfThePage(t *testing.T) {
	file := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
	}
	rules := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "User-agent: *\nDisallow: /\n") }
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		err    error
		want   string
	}{
		"there":                       {sent(goodPage), nil, "confirmed , <nil>"},
		"there, in blocks":            {sent("<b>Pro</b><div>19 €</div>/mois"), nil, "confirmed Pro\n19 €\n/mois, <nil>"},
		"dearer":                      {sent(dearer), nil, "changed Pro\n25 €/mois, <nil>"},
		"dearer in two ways":          {sent(dearer + "<p>Pro 29 €/mois"), nil, "unreadable Pro\n25 €/mois, <nil>"},
		"other words":                 {sent("<p>Pro, 19 €/an"), nil, "unreadable Pro, 19 €/an, <nil>"},
		"less than half of the words": {sent("<p>Pro"), nil, "unreadable , <nil>"},
		"at another host":             {redirected("https://autre.example/prix", goodPage), nil, "confirmed , <nil>"},
		"not at another host":         {redirected("https://autre.example/prix", "<p>Pro, 19 €/an"), nil, "moved , <nil>"},
		"not at the start page":       {redirected("/fr/", "<p>Bonjour"), nil, "moved , <nil>"},
		"dearer at the start page":    {redirected("/", dearer), nil, "changed Pro\n25 €/mois, <nil>"},
		"behind a password":           {redirected("/entrer", "<input type=Password><p>Bonjour"), nil, "moved , <nil>"},
		"beside a password":           {sent("<input type=password><p>Bonjour"), nil, "unreadable , <nil>"},
		"not at another path":         {redirected("/prix", "<p>Bonjour"), nil, "unreadable , <nil>"},
		"at a private address":        {redirected("https://127.0.0.1/", goodPage), nil, "moved , " + ErrRedirects.Error()},
		"in a script":                 {redirected("javascript:alert(1)", ""), nil, "unreadable , " + ErrRedirects.Error()},
		"not found":                   {http.NotFound, nil, "gone , " + StatusError(404).Error()},
		"gone":                        {status(http.StatusGone), nil, "gone , " + StatusError(410).Error()},
		"forbidden":                   {status(http.StatusForbidden), nil, "unreadable , " + StatusError(403).Error()},
		"not modified, unasked":       {status(http.StatusNotModified), nil, "unreadable , " + StatusError(304).Error()},
		"a file":                      {file, nil, "unreadable , " + ErrNoPage.Error()},
		"too deep":                    {sent(strings.Repeat("<i>", 2000)), nil, "unreadable , " + ErrTooLarge.Error()},
		"not for programs":            {rules, nil, "unreadable , " + ErrRobots.Error()},
		"without rules to read":       {status(http.StatusBadGateway), nil, "unreadable , " + ErrRobots.Error()},
		"no host":                     {nil, &net.DNSError{IsNotFound: true}, "gone , " + ErrNoHost.Error()},
		"no resolver":                 {nil, &net.DNSError{IsTemporary: true}, "unreadable , " + ErrNoAnswer.Error()},
		"no connection":               {nil, errors.New("reset"), "unreadable , " + ErrNoAnswer.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{answer: test.answer, err: test.err}
			p := see(t, newTestReader(t, w), goodQuote, nil, goodPlace)[0]
			_, err := newTestReader(t, w).Passages(t.Context(), goodPlace, "")
			if got := fmt.Sprintf("%s %s, %v", p.Result, p.Found, err); got != test.want {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // without a quotation the page has to be there
		r := newTestReader(t, &web{answer: redirected("/", goodPage)})
		if list := see(t, r, "", nil, goodPlace, "https://plume.example/prix"); list[0].Result != catalog.Moved || list[1].Result != catalog.Confirmed {
			t.Errorf("%+v", list)
		}
	})
}

func TestNothingPrivateIsAskedUnlessAllowed(t *testing.T) {
	asked := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	r := NewReader(ReaderConfig{Agent: "x"})
	defer r.Close()
	for _, address := range []string{
		server.URL + "/tarifs", "https://localhost:" + port + "/", "https://[::1]:" + port + "/", "http://127.0.0.1/", "https://0x7f000001/",
		"file:///etc/passwd", "https://user:secret@plume.example/", "https://10.0.0.1/", "https://[::ffff:127.0.0.1]:" + port + "/", "nothing", "",
	} {
		if _, err := r.Passages(t.Context(), address, ""); err == nil || asked > 0 {
			t.Errorf("%s: %v, %d requests", address, err, asked)
		}
	}
	open := httptest.NewServer(http.RedirectHandler("http://169.254.1.1/x", http.StatusFound)) // for robots.txt too
	defer open.Close()
	if p := see(t, newTestReader(t, nil), goodQuote, nil, open.URL+"/tarifs")[0]; p.Result != catalog.Unreadable {
		t.Errorf("%+v", p)
	}
}

// TestAHostIsAskedPolitely runs in virtual time.
func TestAHostIsAskedPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := map[string]string{"/c": "30", "/e": "86400"}
		h := &web{answer: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == robotsPath:
				_, _ = io.WriteString(w, "\ufeffUser-agent: *\rDisallow: /\r\rUser-agent: x\nUser-agent: palmares\nDisallow: /secret\nAllow: /secret/b\nDisallow: /*?s=*$\n")
			case waits[r.URL.Path] != "":
				w.Header().Set("Retry-After", waits[r.URL.Path])
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				sent(goodPage)(w, r)
			}
		}}
		var addresses []string
		for _, path := range []string{"/a", "/secret/a", "/secret/b", "/c", "/d?s=1", "/d", "/e", "/f"} {
			addresses = append(addresses, "https://plume.example"+path)
		}
		results := ""
		for _, p := range see(t, newTestReader(t, h), goodQuote, nil, addresses...) {
			results += p.Result[:1]
		}
		if want := []string{robotsPath, "/a", "/secret/b", "/c", "/d", "/e"}; !slices.Equal(h.asked, want) || results != "cucuucu" {
			t.Errorf("asked for %q, want %q: %s", h.asked, want, results)
		}
		for i := 1; i < len(h.at); i++ {
			want := map[bool]time.Duration{false: 2 * time.Second, true: 30 * time.Second}[h.asked[i-1] == "/c"]
			if gap := h.at[i].Sub(h.at[i-1]); gap < want || gap > want+time.Second {
				t.Errorf("%v between %s and %s, want %v", gap, h.asked[i-1], h.asked[i], want)
			}
		}
	})
}

// TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent looks a second time at a page that answers conditional requests.
func TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent(t *testing.T) {
	for name, test := range map[string]struct {
		first, second string // the tags of the page
		change        func(*catalog.Proof)
		want          string
	}{
		"the same":                        {`"1"`, `"1"`, nil, catalog.Confirmed}, // although the page is another one
		"another one":                     {`"1"`, `W/"2"`, nil, catalog.Changed},
		"another one, of an older date":   {"", "", nil, catalog.Changed},
		"a tag that is none":              {"1", "1", nil, catalog.Changed},
		"a tag that is too long":          {`"` + strings.Repeat("1", 201) + `"`, `"2"`, nil, catalog.Changed},
		"the tag is that of another page": {`"1"`, `"1"`, func(p *catalog.Proof) { p.FinalURL += "/autre" }, catalog.Changed},
	} {
		synctest.Test(t, func(t *testing.T) {
			page, tag, day := goodPage, test.first, time.Now()
			reader := newTestReader(t, &web{answer: func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Etag"] = []string{tag}
				if r.URL.Path != robotsPath {
					http.ServeContent(w, r, "x.html", day, strings.NewReader(page))
				}
			}})
			first := see(t, reader, goodQuote, nil, goodPlace)
			if test.change != nil {
				test.change(&first[0])
			}
			page, tag, day = dearer, test.second, day.AddDate(0, 0, -6)
			second := see(t, reader, "", first)[0]
			if second.Result != test.want || (test.want == catalog.Confirmed) != (isLike(second, first[0]) && second.ConfirmedAt > first[0].ConfirmedAt) {
				t.Errorf("%s: %+v", name, second)
			}
		})
	}
}

// TestSlowBytesEnd sends a byte a second for ever; the page ends at its limit, the file of rules too.
func TestSlowBytesEnd(t *testing.T) {
	for _, slow := range []string{"/tarifs", robotsPath} {
		synctest.Test(t, func(t *testing.T) {
			reader := newTestReader(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path != slow {
					return &http.Response{StatusCode: 404, Body: http.NoBody}, nil
				}
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(slowBody{r.Context()})}, nil
			}))
			began := time.Now()
			_, err := reader.Passages(t.Context(), goodPlace, "")
			if took := time.Since(began); fmt.Sprint(err) != ErrNoAnswer.Error() || took > pageTime+3*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type slowBody struct{ ctx context.Context }

func (s slowBody) Read(b []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		b[0] = ' '
		return 1, nil
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
		check := &Check{Reader: newTestReader(t, h), Now: time.Now, Each: func(n, total int, _ *catalog.Proof, all func() []catalog.Proof) {
			if n == 50 {
				stop()
			}
			if len(all()) != n && ctx.Err() == nil {
				t.Errorf("%d proofs after %d looks", len(all()), n)
			}
		}}
		part, total := check.Run(ctx, sources)
		isOther := func(p catalog.Proof) bool { return p.Result != catalog.Confirmed }
		if total != 150 || len(part) < 50 || len(part) > 50+maxHosts || slices.ContainsFunc(part, isOther) {
			t.Errorf("%d of %d proofs: %+v", len(part), total, part)
		}
		check.Limit = total - len(part)
		all, _ := check.Run(t.Context(), sources)
		if len(all) != total || slices.Contains(h.asked, "too many at once") {
			t.Errorf("%d of %d, asked for %q", len(all), total, h.asked)
		}
		check.OnlyChanges, check.Limit = true, 0
		if same, _ := check.Run(t.Context(), sources); !slices.Equal(same, all) {
			t.Error("a run that found nothing new changed something")
		}
	})
}
