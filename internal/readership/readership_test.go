package readership

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/pseudonym"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"

// A memory is a Store that fails when it is told to.
type memory struct {
	views    map[Name]int64
	last     map[string]int64 // number by writer
	searches []Search
	begun    []string
	before   int // saves that fail before they are committed
	behind   int // saves that are committed, and seem to fail
}

func (m *memory) Begin(_ context.Context, oldest, week string, _ pseudonym.Key) (pseudonym.Key, error) {
	m.begun = append(m.begun, oldest+" "+week)
	return [32]byte{1}, nil
}

func (m *memory) Save(_ context.Context, b *Batch) error {
	if m.before > 0 {
		m.before--
		return errors.New("the store is away")
	}
	if m.last[b.Writer] < b.Number {
		m.last[b.Writer] = b.Number
		for name, n := range b.Views {
			m.views[name] += n
		}
		m.searches = append(m.searches, b.Searches...)
	}
	if m.behind > 0 {
		m.behind--
		return errors.New("the connection broke")
	}
	return nil
}

func newCounter() (*Counter, *memory) {
	m := &memory{views: map[Name]int64{}, last: map[string]int64{}}
	return New(Config{
		Store: m, BaseURL: "https://www.essai.example", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, // of httptest
	}), m
}

// request returns one of a browser, with more headers.
func request(path string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "essai.example"
	r.Header.Set("User-Agent", firefox)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestReadersAreCountedAndRobotsAreNot(t *testing.T) {
	for _, test := range []struct {
		name, value string
		isReader    bool
	}{
		{"User-Agent", firefox, true},
		{"User-Agent", "Mozilla/5.0 (Linux; Android 14; CUBOT X70) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36", true},
		{"Sec-Fetch-Dest", "document", true},
		{"Sec-Fetch-Dest", "empty", false},
		{"Sec-Purpose", "prefetch;prerender", false},
		{"Purpose", "prefetch", false},
		{"X-Moz", "prefetch", false},
		{"X-Purpose", "preview", false},
		{"User-Agent", "", false},
		{"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", false},
		{"User-Agent", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", false},
		{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0 Safari/537.36", false},
		{"User-Agent", "curl/8.14.1", false},
		{"User-Agent", "Claude-User/1.0", false},
		{"User-Agent", "WhatsApp/2.23.20.0", false},
		{"User-Agent", "Go-http-client/1.1", false},
	} {
		c, m := newCounter()
		c.View(request("/", test.name, test.value))
		if err := c.save(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(m.views) == 1; got != test.isReader {
			t.Errorf("%s: %s: counted %t", test.name, test.value, got)
		}
	}
}

func TestAReaderComesFromTheHostOfAnotherSite(t *testing.T) {
	for referer, want := range map[string]string{
		"https://www.moteur.example/recherche?q=secret": "moteur.example",
		"http://Forum.example:8080/ada":                 "forum.example",
		"https://essai.example/outils":                  "",
		"https://www.essai.example/outils":              "",
		"https://ESSAI.example:443/":                    "",
		"android-app://com.example.app/":                "",
		"outils":                                        "",
		"https://203.0.113.7/":                          Others,
		"https://[2001:db8::7]:8443/":                   Others,
		"http://poste-de-ada/":                          Others,
		"https://ada:secret@forum.example/":             Others,
		"https://é.example\x00/":                        Others,
	} {
		if got := hostOf(referer, "essai.example", "https://www.essai.example"); got != want {
			t.Errorf("%q: %q, want %q", referer, got, want)
		}
	}
}

func TestAMillionAddressesTakeTheRoomOfFiveThousand(t *testing.T) {
	c, m := newCounter()
	r := request("/")
	for i := range 1_000_000 {
		r.URL.Path = fmt.Sprint("/outils/", i)
		r.Header["Referer"] = []string{fmt.Sprintf("https://%d.example/", i)}
		c.View(r)
	}
	if err := c.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	day := catalog.Day(time.Now())
	for kind, most := range Most {
		if n := m.views[Name{day, kind, Others}]; n != 1_000_000-most {
			t.Errorf("%s: %d other views", kind, n)
		}
	}
	if want := int(Most[Pages] + 1 + Most[Hosts] + 1); len(m.views) != want {
		t.Errorf("%d names are kept; want %d", len(m.views), want)
	}
	for range 2 { // in the next round there is room again
		if err := c.round(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		c.View(request("/", "Referer", "https://journal.example/"))
	}
	if n := m.views[Name{day, Hosts, "journal.example"}]; n != 1 {
		t.Errorf("%d readers came from the newspaper", n)
	}
}

// Saves fail, before and behind their commit, while many requests are counted around midnight.
func TestEveryViewIsSavedOnceOnItsDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at midnight, on 2000-01-01
		c, m := newCounter()
		m.before, m.behind = 2, 3 // of the first rounds
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				for range 48 { // every hour of two days
					time.Sleep(30 * time.Minute)
					c.View(request("/"))
					time.Sleep(30 * time.Minute)
				}
			})
		}
		all.Wait()
		synctest.Wait()           // for the third day to begin
		m.before, m.behind = 1, 1 // the last save is tried again
		c.View(request("/fin"))
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		want := map[Name]int64{{"2000-01-01", Pages, "/"}: 1200, {"2000-01-02", Pages, "/"}: 1200, {"2000-01-03", Pages, "/fin"}: 1}
		if diff := cmp.Diff(want, m.views); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"1998-01-01 1999-12-27", "1998-01-02 1999-12-27", "1998-01-03 2000-01-03"}, m.begun); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASearchOfANetworkIsKeptAsDigestsThatDoNotTellIt(t *testing.T) {
	c, m := newCounter()
	if err := c.round(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	from := func(address, text string) {
		c.Missed(request("/outils?q=x", "X-Forwarded-For", address), text)
	}
	from("203.0.113.7", "Outil  Perdu")
	from("203.0.113.7", "outil perdu")
	from("203.0.113.7", "autre")
	from("203.0.113.8", "outil perdu")
	for _, personal := range []string{"ada@example.org", "06 12 34 56 78", "a\x00b", strings.Repeat("long ", 17), "  "} {
		from("203.0.113.9", personal)
	}
	for i := range 1000 { // somebody who floods
		from("203.0.113.10", fmt.Sprint("mot ", i))
	}
	if err := c.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(m.searches) != 4+maxAsked {
		t.Errorf("%d searches are kept: %v", len(m.searches), m.searches)
	}
	a, again, other, b := m.searches[0], m.searches[1], m.searches[2], m.searches[3]
	if a != again || a.Words != "outil perdu" || a.Digest != b.Digest || a.Network == b.Network || a.Network == other.Network {
		t.Errorf("%v", m.searches[:4])
	}
}
