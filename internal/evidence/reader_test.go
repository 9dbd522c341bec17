package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

const goodPage = "<!doctype html><h1>Tarifs</h1><p>19 €/mois</p>"

// serve runs a server without a robots.txt of its own.
func serve(t *testing.T, page http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func newTestReader(t *testing.T) *Reader {
	t.Helper()
	r := NewReader(ReaderConfig{Agent: "Palmares/1 (+https://essai.example)", Allow: loopback})
	t.Cleanup(r.Close)
	return r
}

// run looks at pages, and returns their proofs by address.
func run(ctx context.Context, r *Reader, before []Proof, addresses ...string) map[string]Proof {
	var sources []Source
	for _, a := range addresses {
		hint := ""
		if strings.HasSuffix(a, "#pro") {
			hint = "Pro"
		}
		sources = append(sources, Source{Slug: "plume", URL: a, Claim: Claim{Name: "Plume", Pricing: "payant", Price: "19 €/mois", Hint: hint}, IsPrice: true})
	}
	check := &Check{Reader: r, Now: time.Now, Each: func(int, int, Proof) {}}
	list, _ := check.Run(ctx, sources, before)
	found := map[string]Proof{}
	for _, p := range list {
		found[p.URL] = p
	}
	return found
}

// sent returns a handler that sends a page as HTML.
func sent(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// TestAHostilePageCostsLittleAndConfirmsNothing asks servers that want to do harm. What is in memory
// at once stays below 100 MB.
func TestAHostilePageCostsLittleAndConfirmsNothing(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range 200 {
			_, _ = z.Write(bytes.Repeat([]byte("<p>19 €/mois "), 80_000))
		}
		_ = z.Close()
		return b.Bytes()
	}()
	for name, handler := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("<p>19 €/mois</p>"), 4096)); err != nil {
					return
				}
			}
		},
		"bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(bomb)
		},
		"nested":          sent(strings.Repeat("<div>", 1_000_000) + goodPage),
		"nested less":     sent(strings.Repeat("<div>", 190_000) + goodPage),
		"formatted":       sent(strings.Repeat("<b><i><a>", 60_000) + goodPage),
		"flat":            sent(strings.Repeat("<br>", 1_000_000) + goodPage),
		"links":           sent(strings.Repeat("<a href=/x>19 €/mois</a>", 100_000)),
		"cells":           sent("<table><tr>" + strings.Repeat("<td>19", 150_000)),
		"amounts":         sent(strings.Repeat("<p>19 €/mois", 150_000)),
		"digits":          sent("<p>" + strings.Repeat("19 ", 1_500_000)),
		"rules":           sent("<style>" + strings.Repeat(".a .b .c{display:none}", 100_000) + "</style>" + strings.Repeat("<p class='a b c'>x", 50_000)),
		"comments of css": sent("<style>" + strings.Repeat("/*a*/", 800_000) + "</style>" + "<p>x"),
		"deep table":      sent("<table><tr>" + strings.Repeat("<td>21 €/mois", 150) + "<td>" + strings.Repeat("<div>", 400) + strings.Repeat("<span>x</span>", 28_000) + strings.Repeat("<p>20 €", 140)),
		"one block":       sent("<p>" + strings.Repeat("19 €/mois "+strings.Repeat("x ", 600)+"21 €/mois ", 140)),
		"one plan":        sent(strings.Repeat("<p>Pro</p>", 25_000) + strings.Repeat("<p>21 €/mois", 250)),
		"structured":      sent(`<script type="application/ld+json">` + strings.Repeat("[", 1_000_000) + "</script>"),
		"wrong length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, goodPage)
		},
		"control characters": sent("<p>\x00\x1b[2J19\x00 \x07€/an\u202e</p>"),
		"no such charset": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=\"x\x01y\"")
			_, _ = io.WriteString(w, goodPage)
		},
		"no page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, goodPage)
		},
		"loop":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/tarifs", http.StatusFound) },
		"chain": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) },
		"javascript": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "javascript:alert(1)")
			w.WriteHeader(302)
		},
		"huge headers":    func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
		"start page":      func(w http.ResponseWriter, r *http.Request) { redirectOnce(w, r, "/") },
		"sign-in":         func(w http.ResponseWriter, r *http.Request) { redirectOnce(w, r, "/login?next=tarifs") },
		"not there":       http.NotFound,
		"failing":         func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "19 €/mois", http.StatusBadGateway) },
		"connection lost": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, handler)
			defer debug.SetGCPercent(debug.SetGCPercent(100)) // as servers and commands run
			runtime.GC()
			var most atomic.Uint64
			stop, watched := make(chan struct{}), make(chan struct{})
			go watchMemory(&most, stop, watched)
			began := time.Now()
			address := server.URL + "/tarifs"
			if name == "one plan" {
				address += "#pro"
			}
			p := run(t.Context(), newTestReader(t), nil, address)[address]
			close(stop)
			<-watched
			if p.Result == Confirmed || p.Result == "" || p.FinalURL != "" && !strings.HasPrefix(p.FinalURL, server.URL) {
				t.Errorf("%+v", p)
			}
			t.Logf("%s: %s in %v with %d MB", name, p.Result, time.Since(began).Round(time.Millisecond), most.Load()>>20)
			if most.Load() > 100<<20 {
				t.Errorf("%d MB in memory", most.Load()>>20)
			}
			if _, err := ReadProofs(bytes.NewReader(p.line()), "2999-12-31"); err != nil || bytes.Count(p.line(), []byte("\n")) != 1 {
				t.Errorf("the line %q cannot be read: %v", p.line(), err)
			}
		})
	}
}

func redirectOnce(w http.ResponseWriter, r *http.Request, to string) {
	if r.URL.Path == "/tarifs" {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	sent(goodPage)(w, r)
}

// watchMemory keeps the most memory in use above what was in use at first.
func watchMemory(most *atomic.Uint64, stop, done chan struct{}) {
	defer close(done)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	first := m.HeapAlloc
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > first {
				most.Store(max(most.Load(), m.HeapAlloc-first))
			}
		}
	}
}

func TestNothingPrivateIsAskedUnlessAllowed(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		sent(goodPage)(w, r)
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	r := NewReader(ReaderConfig{Agent: "x"})
	defer r.Close()
	for _, address := range []string{
		server.URL + "/tarifs", "https://localhost:" + port + "/tarifs", "https://[::1]:" + port + "/", "http://127.0.0.1/", "https://0x7f000001/", "https://2130706433/",
		"file:///etc/passwd", "https://user:secret@plume.example/", "https://10.0.0.1/", "https://[::ffff:127.0.0.1]:" + port + "/", "nothing", "",
	} {
		if p := run(t.Context(), r, nil, address)[address]; p.Result == Confirmed || p.Result == Changed || p.Status != 0 {
			t.Errorf("%s: %+v", address, p)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a private address was asked %d times", asked.Load())
	}
	// A redirect from an allowed address does not open others.
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.1.1/tarifs", http.StatusFound)
	})
	if p := run(t.Context(), newTestReader(t), nil, first.URL+"/tarifs")[first.URL+"/tarifs"]; p.Result != Moved {
		t.Errorf("%+v", p)
	}
}

// A politeHost is a server in memory that writes down when it was asked.
type politeHost struct {
	mu     sync.Mutex
	asked  []string
	at     []time.Time
	since  []string
	answer http.HandlerFunc
	busy   atomic.Int32
	worst  atomic.Int32
}

func (h *politeHost) RoundTrip(r *http.Request) (*http.Response, error) {
	h.worst.Store(max(h.worst.Load(), h.busy.Add(1)))
	defer h.busy.Add(-1)
	h.mu.Lock()
	h.asked, h.at, h.since = append(h.asked, r.URL.Path), append(h.at, time.Now()), append(h.since, r.Header.Get("If-None-Match"))
	h.mu.Unlock()
	time.Sleep(100 * time.Millisecond) // of the bubble's clock
	w := httptest.NewRecorder()
	h.answer(w, r)
	return w.Result(), nil
}

// TestAHostIsAskedPolitely runs in virtual time, against a transport in memory.
func TestAHostIsAskedPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := true
		h := &politeHost{answer: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/robots.txt":
				_, _ = io.WriteString(w, "User-agent: *\nDisallow: /prive\n\nUser-agent: palmares\nDisallow: /secret\nDisallow: /*?session=\n")
			case strings.HasPrefix(r.URL.Path, "/secret"):
				t.Error("robots.txt was not obeyed")
			case r.URL.Path == "/c" && limited:
				limited = false
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusTooManyRequests)
			case r.Header.Get("If-None-Match") == `"1"`:
				w.WriteHeader(http.StatusNotModified)
			default:
				w.Header().Set("ETag", `"1"`)
				sent(goodPage)(w, r)
			}
		}}
		reader := NewReader(ReaderConfig{Agent: "Palmares/1 (+https://essai.example)", Spacing: 2 * time.Second})
		reader.client.Transport = h
		addresses := []string{
			"https://plume.example/a", "https://plume.example/b", "https://plume.example/c", "https://plume.example/d", "https://plume.example/secret/tarifs",
		}
		found := run(t.Context(), reader, nil, addresses...)
		if !slices.Equal(h.asked, []string{"/robots.txt", "/a", "/b", "/c", "/d"}) {
			t.Errorf("asked for %q", h.asked)
		}
		for i := 1; i < len(h.at); i++ {
			want := 2 * time.Second
			if h.asked[i-1] == "/c" {
				want = 30 * time.Second
			}
			if gap := h.at[i].Sub(h.at[i-1]); gap < want || gap > want+time.Second {
				t.Errorf("%v between %s and %s, want %v", gap, h.asked[i-1], h.asked[i], want)
			}
		}
		for path, want := range map[string]Result{"/a": Confirmed, "/c": Unreadable, "/d": Confirmed, "/secret/tarifs": Unreadable} {
			if got := found["https://plume.example"+path].Result; got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		// The second time only what is new is sent, and proofs stay as they are but for their times.
		h.asked, h.since = nil, nil
		again := NewReader(reader.cfg)
		again.client.Transport = h
		first := found["https://plume.example/a"]
		second := run(t.Context(), again, []Proof{first}, "https://plume.example/a")["https://plume.example/a"]
		if len(h.since) != 2 || h.since[1] == "" || second.Result != Confirmed || !second.ConfirmedAt.After(first.ConfirmedAt) {
			t.Errorf("the second look: %+v, asked since %q", second, h.since)
		}
		if !second.isLike(&first) {
			t.Errorf("%+v became %+v", first, second)
		}
		if h.worst.Load() != 1 {
			t.Errorf("%d requests at once", h.worst.Load())
		}
	})
}

// TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent looks a second time at a page that answers conditional requests.
func TestOnlyThePageThatConfirmedAPriceConfirmsItUnsent(t *testing.T) {
	const dearer = "<!doctype html><h1>Tarifs</h1><p>25 €/mois</p>"
	for name, test := range map[string]struct {
		first, second string // the tags of the page
		page          string // the second time
		change        func(*Proof)
		want          Result
		isSent        bool
	}{
		"the same":                          {`"1"`, `"1"`, goodPage, nil, Confirmed, false},
		"another one":                       {`"1"`, `W/"2"`, dearer, nil, Changed, true},
		"another one, of an older date":     {"", "", dearer, nil, Changed, true},
		"a tag that is none":                {"1", "1", dearer, nil, Changed, true},
		"a tag that is too long":            {`"` + strings.Repeat("1", 201) + `"`, `"2"`, dearer, nil, Changed, true},
		"another price was looked for":      {`"1"`, `"1"`, dearer, func(p *Proof) { p.Price = "25 €/mois" }, Changed, true},
		"another plan was looked for":       {`"1"`, `"1"`, dearer, func(p *Proof) { p.Price += "; ; Pro" }, Changed, true},
		"it was not confirmed":              {`"1"`, `"1"`, goodPage, func(p *Proof) { p.Result = Changed }, Confirmed, true},
		"the tag is that of another page":   {`"1"`, `"1"`, dearer, func(p *Proof) { p.FinalURL += "/autre" }, Changed, true},
		"unsent, although there was no tag": {"", "unsent", "", nil, Unreadable, false},
	} {
		t.Run(name, func(t *testing.T) {
			page, tag, day, isSent := goodPage, test.first, time.Now(), false
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if tag == "unsent" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header()["Etag"] = []string{tag}
				isSent = tag == "" || r.Header.Get("If-None-Match") != tag
				http.ServeContent(w, r, "", day, strings.NewReader(page))
			})
			address := server.URL + "/tarifs"
			first := run(t.Context(), newTestReader(t), nil, address)[address]
			if first.Result != Confirmed {
				t.Fatalf("%+v", first)
			}
			confirmed := first.ConfirmedAt
			if test.change != nil {
				test.change(&first)
			}
			page, tag, day, isSent = test.page, test.second, day.AddDate(0, 0, -6), false
			second := run(t.Context(), newTestReader(t), []Proof{first}, address)[address]
			if second.Result != test.want || isSent != test.isSent {
				t.Errorf("it was sent: %v, %+v", isSent, second)
			}
			if isOther := first.Price != second.Price; test.want != Confirmed && second.ConfirmedAt.Equal(confirmed) == isOther {
				t.Errorf("confirmed at %v", second.ConfirmedAt)
			}
		})
	}
}

func TestAHostThatDoesNotExistIsGone(t *testing.T) {
	for _, test := range []struct {
		err  net.DNSError
		want Result
	}{
		{net.DNSError{Err: "no such host", IsNotFound: true}, Gone},
		{net.DNSError{Err: "server misbehaving", IsTemporary: true}, Unreadable},
		{net.DNSError{Err: "i/o timeout", IsTimeout: true}, Unreadable},
	} {
		reader := newTestReader(t)
		reader.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &test.err}
		})
		const address = "https://plume.example/tarifs"
		if p := run(t.Context(), reader, nil, address)[address]; p.Result != test.want {
			t.Errorf("%s: %s, want %s", test.err.Err, p.Result, test.want)
		}
	}
}

func TestAHostThatWantsToBeLeftAloneIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &politeHost{answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusServiceUnavailable)
		}}
		reader := NewReader(ReaderConfig{Agent: "x", Spacing: 2 * time.Second})
		reader.client.Transport = h
		found := run(t.Context(), reader, nil, "https://plume.example/a", "https://plume.example/b", "https://plume.example/c")
		if len(h.asked) != 2 || len(found) != 1 {
			t.Errorf("asked for %q, %d proofs", h.asked, len(found))
		}
	})
}

// TestSlowBytesEnd sends a byte a second for ever; the page ends at its limit.
func TestSlowBytesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := NewReader(ReaderConfig{Agent: "x"})
		reader.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/robots.txt" {
				return &http.Response{StatusCode: 404, Body: http.NoBody}, nil
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(slow{r.Context()})}, nil
		})
		began := time.Now()
		p := run(t.Context(), reader, nil, "https://plume.example/")["https://plume.example/"]
		if took := time.Since(began); p.Result != Unreadable || took > pageTime+time.Second {
			t.Errorf("%s after %v", p.Result, took)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type slow struct{ ctx context.Context }

func (s slow) Read(b []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		b[0] = ' '
		return 1, nil
	}
}

func TestMalformedRobotsFilesHarmNobody(t *testing.T) {
	for name, text := range map[string]string{
		"binary": "\x00\xff\xfe\x01", "huge": strings.Repeat("Disallow: /x\n", 500_000), "open": "User-agent", "wild": "User-agent: *\nDisallow: /" + strings.Repeat("*a", 5000) + "$",
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					_, _ = io.WriteString(w, text)
					return
				}
				sent(goodPage)(w, r)
			}))
			defer server.Close()
			if p := run(t.Context(), newTestReader(t), nil, server.URL+"/tarifs")[server.URL+"/tarifs"]; p.Result != Confirmed {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestARunThatIsInterruptedGoesOn stops a run in the middle, and finishes it with a second one that looks at the rest first.
func TestARunThatIsInterruptedGoesOn(t *testing.T) {
	const hosts, each = 30, 5
	h := &politeHost{answer: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		sent(goodPage)(w, r)
	}}
	var sources []Source
	for i := range hosts * each {
		address := fmt.Sprintf("https://h%d.example/%d", i%hosts, i)
		sources = append(sources, Source{Slug: fmt.Sprintf("t%04d", i), URL: address, Claim: Claim{Pricing: "payant", Price: "19 €/mois"}})
	}
	synctest.Test(t, func(t *testing.T) {
		reader := NewReader(ReaderConfig{Agent: "x", Spacing: 2 * time.Second})
		reader.client.Transport = h
		ctx, stop := context.WithCancel(t.Context())
		done := 0
		check := &Check{Reader: reader, Now: time.Now, Each: func(n, total int, _ Proof) {
			if done = n; n == hosts*each/3 {
				stop()
			}
		}}
		part, total := check.Run(ctx, sources, nil)
		if total != hosts*each || len(part) != done || done >= total {
			t.Errorf("%d of %d, %d proofs", done, total, len(part))
		}
		for _, p := range part {
			if p.Result != Confirmed {
				t.Errorf("what was interrupted is kept: %+v", p)
			}
		}
		check.Limit, check.Each = total-len(part), func(int, int, Proof) {}
		all, _ := check.Run(t.Context(), sources, part)
		if len(all) != total {
			t.Errorf("%d of %d", len(all), total)
		}
		if h.worst.Load() > maxHosts {
			t.Errorf("%d requests at once", h.worst.Load())
		}
		check.OnlyChanges, check.Limit = true, 0
		if same, _ := check.Run(t.Context(), sources, all); !slices.EqualFunc(same, all, func(a, b Proof) bool { return bytes.Equal(a.line(), b.line()) }) {
			t.Error("a run that found nothing new changed something")
		}
	})
}

func FuzzPage(f *testing.F) {
	for _, s := range readCorpus(f, "true.txt", false) {
		f.Add(s.page)
	}
	claim := Claim{Name: "Plume", Pricing: "payant", Price: "19 €/mois", Hint: "Pro"}
	f.Fuzz(func(t *testing.T, text string) {
		result, found, _ := judgeAt(&claim, []byte(text), "https://plume.example/tarifs")
		p := Proof{Slug: "a", URL: "b", Result: result, Found: found, CheckedAt: time.Unix(1, 0).UTC()}
		if again, err := ReadProofs(bytes.NewReader(p.line()), "2999-12-31"); err != nil || len(again) != 1 || len(found) > 10 {
			t.Errorf("%q: %v", p.line(), err)
		}
	})
}

func FuzzAmounts(f *testing.F) {
	for _, text := range []string{"19,99 €/mois", "$20 per user/month, billed annually", "A19 €", "1 9 €", "1 200 € par an", "€30k"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, a := range findAmounts(text) {
			if a.start < last || a.end <= a.start || a.end > len(text) || a.value < 0 {
				t.Fatalf("%q: %+v", text, a)
			}
			last = a.end
		}
	})
}

func FuzzProofs(f *testing.F) {
	p := Proof{Slug: "a", URL: "b", Result: Changed, CheckedAt: time.Unix(1, 0).UTC()}
	f.Add(p.line())
	f.Add([]byte("<<<<<<< HEAD\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ReadProofs(bytes.NewReader(text), "2999-12-31")
		if err != nil {
			return
		}
		var b bytes.Buffer
		for i := range list {
			b.Write(list[i].line())
		}
		if b.String() != strings.TrimSuffix(string(text), "\n")+"\n" && len(list) > 0 {
			t.Errorf("%q became %q", text, b.String())
		}
	})
}
