package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"palmares/internal/accountsite"
	"palmares/internal/api"
	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/mail"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

const readersURL = "https://essai.example"

// A letter is a mail as the server received it.
type letter struct{ to, text string }

// readers is a server with its pages, the queue of its mails, and a mail server.
type readers struct {
	t       *testing.T
	st      *Database
	live    *snapshot.Live
	mail    *readerMail
	queue   *mail.Queue
	pages   http.Handler
	now     time.Time
	retired []catalog.Retired
	refused map[string]*smtp.SMTPError // by recipient

	mu      sync.Mutex
	letters []letter
}

// A mailSession is one connection to the mail server.
type mailSession struct {
	*readers
	to string
}

func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
	if refused := s.refused[to]; refused != nil {
		s.letters = append(s.letters, letter{to, "refused"})
		return refused
	}
	return nil
}

func (s *mailSession) Data(body io.Reader) error {
	sent, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	header, text, _ := bytes.Cut(sent, []byte("\r\n\r\n")) // a secret in the header may look encoded
	raw, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(text)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letters = append(s.letters, letter{s.to, string(header) + "\r\n\r\n" + string(raw)})
	return err
}

func newReaders(t *testing.T) *readers {
	t.Helper()
	r := &readers{t: t, st: openOffline(t, testkit.SQLite(t)), now: time.Date(2026, 11, 17, 9, 30, 0, 0, time.UTC), refused: map[string]*smtp.SMTPError{}}
	clock, log := func() time.Time { return r.now }, slog.New(slog.NewTextHandler(t.Output(), nil))
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{readers: r}, nil }))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // until it is closed
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	sealer, err := webhook.ParseKeys("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	pages := site.New(site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: readersURL, Document: api.Document()})
	r.publish("12")
	r.live, err = snapshot.NewLive(t.Context(), func(ctx context.Context, _ *snapshot.Snapshot) (*snapshot.Snapshot, error) {
		p, _, err := r.st.Catalogue.LoadAfter(ctx, nil)
		if err != nil {
			return nil, err
		}
		s := snapshot.Build(p.Catalog, p.Version, p.ChangedOn)
		s.Events = p.Events
		if err := s.BuildIndex(ctx); err != nil {
			return nil, err
		}
		pages.Show(s)
		return s, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	transport, err := mail.ParseSMTP("smtp://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r.mail = &readerMail{store: r.st, live: r.live, pages: pages, now: clock, log: log, wake: func() {}}
	r.queue = mail.NewQueue(mail.Config{
		Outbox: r.st.Mails, Content: &mailContent{store: r.st, sealer: sealer, live: r.live, pages: pages, baseURL: readersURL, now: clock},
		Transport: mail.NewSender(transport, netmail.Address{Address: "no-reply@essai.example"}),
		BaseURL:   readersURL, Name: func() string { return "Essai" }, Now: clock, Log: log,
	})
	payments, err := billing.New(billing.Config{Ledger: r.st.Subscriptions, Keys: r.st.Keys, BaseURL: readersURL, Now: clock, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	r.pages = accountsite.New(accountsite.Config{
		Store: r.st.accounts, Site: pages, BaseURL: readersURL, Now: clock, Log: log, WakeMail: func() {}, WakeWebhooks: func() {}, Sealer: sealer, Billing: payments,
	})
	return r
}

// priced returns a tool at a price.
func priced(slug, name, category, price string) *catalog.Tool {
	return &catalog.Tool{
		Slug: slug, Name: name, Domain: slug + ".example", Category: category, ICP: "mixte", Pricing: "payant", Price: price + " €/mois", Tagline: "Écrit " + price, Tier: 3,
	}
}

// publish publishes two tools, the second at a price.
func (r *readers) publish(price string) {
	r.t.Helper()
	r.publishTools(priced("encre", "Encre", "code", "5"), priced("plume", "Plume", "code", price))
}

func (r *readers) publishTools(tools ...*catalog.Tool) {
	r.t.Helper()
	slices.SortFunc(tools, func(a, b *catalog.Tool) int { return strings.Compare(a.Slug, b.Slug) })
	c := &catalog.Catalog{
		Name: "Essai", URL: readersURL, Tools: tools, Retired: r.retired,
		Categories: []catalog.Category{{Slug: "code", Label: "Code"}, {Slug: "texte", Label: "Texte"}},
	}
	options := catalogdb.PublishOptions{Now: func() time.Time { return r.now }, AllowRemovals: true}
	if _, err := r.st.Catalogue.Publish(r.t.Context(), c, options); err != nil {
		r.t.Fatal(err)
	}
	if r.live != nil {
		if err := r.live.Refresh(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
}

// post sends what a provider of mailboxes or a form sends, without a cookie.
func (r *readers) post(path string, form url.Values) int {
	r.t.Helper()
	q := httptest.NewRequestWithContext(r.t.Context(), http.MethodPost, readersURL+path, strings.NewReader(form.Encode()))
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	r.pages.ServeHTTP(w, q)
	return w.Code
}

func (r *readers) get(path string) string {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.pages.ServeHTTP(w, httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, readersURL+path, nil))
	return w.Body.String()
}

// sent queues what is due, twice as two nodes would, and returns what the mail server got.
func (r *readers) sent() []letter {
	r.t.Helper()
	for range 2 {
		if err := r.mail.queue(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(r.t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = r.queue.Run(ctx) })
	testkit.Until(r.t, "a queue with nothing due", func() bool {
		due, err := sqldb.Get[bool](ctx, r.st.SQL, `SELECT EXISTS (SELECT 1 FROM mails WHERE due_at <= $1 OR lease <> '')`, sqldb.FormatTime(r.now))
		return err == nil && !due
	})
	stop()
	running.Wait()
	defer func() { r.letters = nil }()
	return r.letters
}

var secretLink = regexp.MustCompile(`https://essai\.example(/suivre/\S+)`)

// follow has an address follow a topic, and returns the path of the link that it was sent.
func (r *readers) follow(email, topic, pace string) string {
	r.t.Helper()
	if code := r.post("/suivre", url.Values{"email": {email}, "quoi": {topic}, "quand": {pace}}); code != http.StatusSeeOther {
		r.t.Fatal(code)
	}
	got := r.sent()
	if len(got) != 1 || got[0].to != strings.ToLower(email) {
		r.t.Fatalf("%+v", got)
	}
	path := secretLink.FindStringSubmatch(got[0].text)[1]
	u, err := url.Parse(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if page := r.get(path); !strings.Contains(page, strings.ToLower(email)) || len(r.sent()) > 0 {
		r.t.Errorf("the page of the link is %s", page)
	}
	if code := r.post("/suivre/confirmation", u.Query()); code != http.StatusSeeOther {
		r.t.Fatalf("%d for %s", code, path)
	}
	return path
}

func TestReadersFollowByMail(t *testing.T) {
	r := newReaders(t)
	r.follow("Lea@example.org", "outils/plume", "aussitot")
	r.follow("max@example.org", "categories/code", "semaine")
	r.follow("zoe@example.org", "", "aussitot")
	r.follow("eve@example.org", "outils/encre", "aussitot")
	if got := r.sent(); len(got) != 0 {
		t.Fatalf("before anything happened: %+v", got)
	}
	r.now = r.now.Add(time.Hour)
	r.publish("14")
	got := r.sent()
	if len(got) != 2 || got[0].to == got[1].to || len(r.sent()) != 0 {
		t.Fatalf("of a price were told: %+v", got)
	}
	var end string
	for _, l := range got {
		m, err := netmail.ReadMessage(strings.NewReader(l.text))
		if err != nil {
			t.Fatal(err)
		}
		end = strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
		if !strings.Contains(l.text, "12\u00a0€/mois → 14\u00a0€/mois") || strings.Contains(l.text, "Encre") ||
			m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.Contains(l.text, end) {
			t.Errorf("%s", l.text)
		}
	}
	// Scanners open links; a mailbox posts to them without a cookie.
	path := strings.TrimPrefix(end, readersURL)
	for range 2 {
		if page := r.get(path); !strings.Contains(page, "Ne plus suivre") {
			t.Errorf("the page that ends it is %s", page)
		}
	}
	if code := r.post(path, nil); code != http.StatusOK || !strings.Contains(r.get(path), "Ne plus suivre") {
		t.Errorf("%d for a POST that is none of one click", code)
	}
	for range 2 {
		if code := r.post(path, url.Values{"List-Unsubscribe": {"One-Click"}}); code != http.StatusOK {
			t.Errorf("%d for one click", code)
		}
	}
	for _, gone := range []string{path, path[:len(path)-5], "/suivre/fin?jeton=", "/suivre/fin"} {
		page := r.get(gone)
		if strings.Contains(page, "@example.org") || strings.Contains(page, "C’est fini") || !strings.Contains(page, "Il n’est pas complet, ou ce qu’il arrêtait est déjà fini") {
			t.Errorf("%s after the end: %s", gone, page)
		}
	}
	// Of those that are left, one does not exist, and a server that relays nothing refuses the other.
	r.refused["zoe@example.org"] = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	r.refused["lea@example.org"] = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "relaying denied"}
	for i, price := range []string{"15", "16"} {
		r.now = r.now.Add(time.Hour)
		r.publish(price)
		got := r.sent()
		isRelay := len(got) == 1 && got[0].to == "lea@example.org"
		if isGone := len(got) == 1-i && (len(got) == 0 || got[0].to == "zoe@example.org"); !isRelay && !isGone {
			t.Errorf("price %d went to %+v", i, got)
		}
	}
	// On Monday the week is told, once.
	r.now = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	week := r.sent()
	if len(week) != 1 || week[0].to != "max@example.org" || !strings.Contains(week[0].text, "Plume") || strings.Contains(week[0].text, "refused") {
		t.Fatalf("the week was told as %+v", week)
	}
	for range 7 {
		r.now = r.now.Add(23 * time.Hour)
		if got := r.sent(); len(got) != 0 {
			t.Errorf("a week was told twice: %+v", got)
		}
	}
}

func TestAReaderIsToldOfEveryChangeInOneMail(t *testing.T) {
	r := newReaders(t)
	for _, topic := range []string{"outils/plume", "categories/code", ""} {
		r.follow("lea@example.org", topic, "aussitot")
	}
	for price := range 11 {
		r.now = r.now.Add(time.Minute)
		r.publish(fmt.Sprint(20 + price))
		got := r.sent()
		if len(got) != min(1, 10-price) {
			t.Fatalf("change %d is told in %d mails", price, len(got))
		}
		if price == 0 && (strings.Count(got[0].text, "20\u00a0€/mois") != 2 || !strings.Contains(got[0].text, "&tout=")) { // as text and as HTML
			t.Errorf("%s", got[0].text)
		}
	}
	r.now = r.now.Add(24 * time.Hour)
	if got := r.sent(); len(got) != 1 || !strings.Contains(got[0].text, "→ 30\u00a0€/mois") || len(r.sent()) != 0 {
		t.Errorf("what was too much for a day is told as %+v", got)
	}
	r.follow("max@example.org", "categories/code", "aussitot")
	r.follow("zoe@example.org", "outils/plume", "aussitot")
	r.publishTools(priced("encre", "Encre", "code", "5"))
	got := r.sent()
	for _, l := range got {
		if !strings.Contains(l.text, "Plume\u00a0: retiré") || strings.Contains(l.text, "Tout le") != (l.to == "lea@example.org") {
			t.Errorf("a removal is told as %s", l.text)
		}
	}
	if len(got) != 3 {
		t.Errorf("a removal is told to %d readers of 3", len(got))
	}
	// A publication with more changes than are read at once, of which the oldest is of a category.
	for _, price := range []string{"6", "7"} {
		tools := []*catalog.Tool{priced("encre", "Encre", "code", price)}
		for i := range catalogdb.MaxBetween + 100 {
			tools = append(tools, priced(fmt.Sprint("t", i), fmt.Sprint("T", i), "texte", price))
		}
		r.now = r.now.Add(time.Hour)
		r.publishTools(tools...)
		got = r.sent()
	}
	for _, l := range got {
		if isAll := l.to == "lea@example.org"; strings.Contains(l.text, "Encre") == isAll || strings.Contains(l.text, "(plus de 450)") != isAll {
			t.Errorf("%s", l.text)
		}
	}
	if len(got) != 2 {
		t.Errorf("a large publication is told to %d readers of 2", len(got))
	}
}

// A typo that is corrected on its day leaves no trace in the price history, but in the mailbox of who was told of it.
func TestWhoWasMailedAPriceThatWasATypoGetsOneCorrection(t *testing.T) {
	r := newReaders(t)
	r.follow("lea@example.org", "outils/plume", "aussitot")
	r.follow("zoe@example.org", "outils/encre", "aussitot")
	r.follow("ida@example.org", "", "semaine")
	publish := func(prices ...string) {
		for _, price := range prices {
			r.now = r.now.Add(time.Minute)
			r.publish(price)
		}
	}
	told := func(what string, want ...string) {
		t.Helper()
		got := r.sent()
		if len(got) != len(want) {
			t.Fatalf("%s: %d mails: %+v", what, len(got), got)
		}
		for i, l := range got {
			if l.to != "lea@example.org" || !strings.Contains(l.text, want[i]) {
				t.Errorf("%s is told to %s as %s", what, l.to, l.text)
			}
		}
	}
	const correction = "Plume\u00a0: correction, toujours 12\u00a0€/mois"
	publish("1200")
	told("a typo", "12\u00a0€/mois → 1200\u00a0€/mois")
	r.follow("max@example.org", "outils/plume", "aussitot") // who was not mailed the typo
	r.follow("lea@example.org", "categories/code", "aussitot")
	publish("12")
	told("its correction", correction)
	told("nothing new")
	publish("1300", "12")
	told("a typo that nobody was mailed")
	publish("1400")
	if err := r.mail.queue(t.Context()); err != nil {
		t.Fatal(err)
	}
	publish("12")
	told("a typo whose mail had not left")
	// At the end of a day, the correction leaves on the next.
	publish("1500")
	if got := r.sent(); len(got) != 2 {
		t.Fatalf("a typo is told to %+v", got)
	}
	r.now = time.Date(2026, 11, 17, 23, 59, 58, 0, time.UTC)
	r.publish("12")
	r.now = r.now.Add(time.Hour)
	if got := r.sent(); len(got) != 2 || !strings.Contains(got[0].text, correction) || !strings.Contains(got[1].text, correction) {
		t.Errorf("the next day, a typo is corrected by %+v", got)
	}
	publish("13")
	if got := r.sent(); len(got) != 2 || !strings.Contains(got[0].text, "12\u00a0€/mois → 13\u00a0€/mois") {
		t.Errorf("a new price is told as %+v", got)
	}
}

// pounds returns a tool whose price in pounds is converted.
func pounds(price, euros string) *catalog.Tool {
	t := priced("plume", "Plume", "code", euros)
	t.PriceDisplay = "£" + price + "/mois"
	return t
}

func TestAPriceIsMailedOnce(t *testing.T) {
	r := newReaders(t)
	told := func(what string, tool *catalog.Tool, want ...string) {
		t.Helper()
		r.now = r.now.Add(time.Minute)
		r.publishTools(tool)
		got := r.sent()
		if len(got) != len(want) {
			t.Fatalf("%s: %d mails: %+v", what, len(got), got)
		}
		for i, l := range got {
			if !strings.Contains(l.text, want[i]) {
				t.Errorf("%s is told as %s", what, l.text)
			}
		}
	}
	r.publishTools(pounds("10", "12"))
	r.now = r.now.Add(24 * time.Hour)
	r.follow("lea@example.org", "outils/plume", "aussitot")
	const change, correction = "£10/mois → £12/mois", "Plume\u00a0: correction, toujours £10/mois"
	told("a price", pounds("12", "14,40"), change)
	told("its conversion", pounds("12", "14,60"))
	told("another price", pounds("13", "15"), "£10/mois → £13/mois")
	told("the one before", pounds("12", "14,60"), change)
	told("its return with other euros", pounds("10", "12,30"), correction)
	told("a conversion", pounds("10", "12,40"))
	told("the price again", pounds("12", "14,40"), change)
	told("its return", pounds("10", "12"), correction)
	told("the price once more", pounds("12", "14,40"), change)
	// A server that puts off mails gets those of two publications together.
	r.now = r.now.Add(24 * time.Hour)
	r.refused["lea@example.org"] = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted"}
	told("a price that is put off", pounds("14", "16"), "refused")
	told("the next", pounds("15", "17"), "refused", "refused")
	clear(r.refused)
	r.now = r.now.Add(time.Hour)
	told("the last", pounds("16", "18"), "£12/mois → £16/mois")
	// What is mailed on another day than it changed on is neither taken back nor held back by what changes on that.
	r.refused["lea@example.org"] = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted"}
	told("a price that waits for the next day", pounds("17", "19"), "refused")
	clear(r.refused)
	r.now = r.now.Add(24 * time.Hour)
	told("a conversion of the next day", pounds("17", "20"), "£12/mois → £17/mois")
	told("another conversion", pounds("17", "21"))
}

func TestWhoWasToldThatAToolIsRetiredIsToldThatItIsBack(t *testing.T) {
	r := newReaders(t)
	r.follow("lea@example.org", "outils/plume", "aussitot")
	told := func(want string) {
		t.Helper()
		if got := r.sent(); len(got) != 1 || !strings.Contains(got[0].text, want) {
			t.Errorf("%q is told as %+v", want, got)
		}
	}
	r.now = r.now.Add(time.Minute)
	r.retired = []catalog.Retired{{Slug: "plume", Name: "Plume", Category: "code", Reason: "mort", RetiredAt: "2026-11-17"}}
	r.publishTools(priced("encre", "Encre", "code", "5"))
	told("Plume\u00a0: retiré")
	r.now, r.retired = r.now.Add(time.Minute), nil
	r.publish("12")
	told("Plume\u00a0: de retour")
}

// A mailbox may click as a form of several parts, the form that RFC 8058 recommends.
func TestOneClickMayHaveSeveralParts(t *testing.T) {
	r := newReaders(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) // nothing is written there
	r.follow("lea@example.org", "outils/plume", "aussitot")
	r.now = r.now.Add(time.Minute)
	r.publish("20")
	m, err := netmail.ReadMessage(strings.NewReader(r.sent()[0].text))
	if err != nil {
		t.Fatal(err)
	}
	end := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
	click := func(parts, size int, value string) int {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for i := range parts {
			part, err := form.CreateFormFile(fmt.Sprint("f", i), "f")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write(make([]byte, size)) // to memory
		}
		if err := errors.Join(form.WriteField("List-Unsubscribe", value), form.Close()); err != nil {
			t.Fatal(err)
		}
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, end, &body)
		q.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		r.pages.ServeHTTP(w, q)
		return w.Code
	}
	path := strings.TrimPrefix(end, readersURL)
	if code := click(1, 65<<10, "One-Click"); code != http.StatusBadRequest {
		t.Errorf("%d for a form that is too large", code)
	}
	if code := click(0, 0, "no"); code != http.StatusOK || !strings.Contains(r.get(path), "Ne plus suivre") {
		t.Errorf("%d for a POST that is none of one click", code)
	}
	if code := click(1, 63<<10, "no"); code != http.StatusOK {
		t.Errorf("%d for a large form", code)
	}
	if code := click(300, 1, "One-Click"); code != http.StatusOK || !strings.Contains(r.get(path), "Ce lien n’arrête rien") {
		t.Errorf("%d for one click", code)
	}
}

// A mailbox ends what a mail was about also after its reader has ended a part of it.
func TestOneClickEndsAllThatAMailWasAbout(t *testing.T) {
	r := newReaders(t)
	for _, topic := range []string{"outils/plume", "categories/code", ""} {
		r.follow("lea@example.org", topic, "aussitot")
	}
	r.now = r.now.Add(time.Minute)
	r.publish("20")
	m, err := netmail.ReadMessage(strings.NewReader(r.sent()[0].text))
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(strings.Trim(m.Header.Get("List-Unsubscribe"), "<>"), readersURL)
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	if page := r.get(path); strings.Count(page, "<button") != 1+strings.Count(r.get("/suivre/fin"), "<button") || !strings.Contains(page, "Tout le catalogue\u00a0», «\u00a0Code\u00a0», «\u00a0Plume") {
		t.Errorf("the page of the mail is %s", page)
	}
	if code := r.post("/suivre/fin", url.Values{"jeton": u.Query()["jeton"]}); code != http.StatusOK {
		t.Fatal(code)
	}
	for _, code := range []int{r.post(path, url.Values{"List-Unsubscribe": {"One-Click"}}), r.post(path, url.Values{"List-Unsubscribe": {"One-Click"}})} {
		if code != http.StatusOK {
			t.Errorf("%d for one click", code)
		}
	}
	r.publish("21")
	if got := r.sent(); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
}

func TestATopicThatIsGoneKeepsItsName(t *testing.T) {
	r := newReaders(t)
	for topic, want := range map[string]string{
		"": "Tout le catalogue", "categories/code": "Code", "outils/plume": "Plume", "categories/voix": "voix (n’existe plus)",
	} {
		if got := r.mail.pages.TopicName(topic); got != want {
			t.Errorf("%q is named %q, want %q", topic, got, want)
		}
	}
}

// Ten mails a day are those of an address, whatever it follows, also something that it follows since then.
func TestAnAddressGetsTenMailsADay(t *testing.T) {
	r := newReaders(t)
	tools := []*catalog.Tool{priced("encre", "Encre", "code", "5"), priced("plume", "Plume", "texte", "12")}
	r.publishTools(tools...)
	for _, topic := range []string{"outils/encre", "outils/plume"} {
		r.follow("lea@example.org", topic, "aussitot")
	}
	mails := 0
	for i := range 14 {
		if i == 12 {
			r.follow("lea@example.org", "categories/code", "aussitot")
		}
		r.now = r.now.Add(time.Minute)
		tools[i%2] = priced(tools[i%2].Slug, tools[i%2].Name, tools[i%2].Category, fmt.Sprint(20+i))
		r.publishTools(slices.Clone(tools)...)
		mails += len(r.sent())
	}
	r.now = r.now.Add(24 * time.Hour)
	got := r.sent()
	if mails != 10 || len(got) != 1 || !strings.Contains(got[0].text, "→ 32\u00a0€/mois") || !strings.Contains(got[0].text, "→ 33\u00a0€/mois") || len(r.sent()) != 0 {
		t.Errorf("%d mails on a day, and on the next %+v", mails, got)
	}
	// The mail names what has changed of all that is followed.
	tools[1] = priced("plume", "Plume", "texte", "50")
	r.publishTools(slices.Clone(tools)...)
	got = r.sent()
	if len(got) != 1 || !strings.Contains(got[0].text, "«\u00a0Plume\u00a0»") || strings.Contains(got[0].text, "Encre") {
		t.Errorf("%+v", got)
	}
}

// A mail that was not sent, since nothing was left to tell, is none of the ten.
func TestAMailThatIsDroppedDoesNotCount(t *testing.T) {
	r := newReaders(t)
	r.follow("lea@example.org", "outils/plume", "aussitot")
	r.publishTools(pounds("10", "12"))
	mails := len(r.sent())
	for i := range 30 {
		r.now = r.now.Add(time.Minute)
		r.publishTools(pounds(fmt.Sprint(20+i/2), fmt.Sprint(30+i))) // every second is a conversion
		mails += len(r.sent())
	}
	if mails != 10 {
		t.Errorf("%d mails on a day", mails)
	}
	r.now = r.now.Add(24 * time.Hour)
	if got := r.sent(); len(got) != 1 || !strings.Contains(got[0].text, "→ £34/mois") || len(r.sent()) != 0 {
		t.Errorf("the next day, the rest is told as %+v", got)
	}
}

func TestEventsAreNotReadWhileNobodyFollows(t *testing.T) {
	r := newReaders(t)
	rename := func(from, to string) {
		t.Helper()
		if err := sqldb.WriteOnce(t.Context(), r.st.SQL, `ALTER TABLE `+from+` RENAME TO `+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("events", "hidden")
	for range 8 {
		r.now = r.now.Add(24 * time.Hour)
		if err := r.mail.queue(t.Context()); err != nil {
			t.Error(err)
		}
	}
	rename("hidden", "events")
	r.follow("lea@example.org", "outils/plume", "aussitot")
	r.publish("14")
	if got := r.sent(); len(got) != 1 {
		t.Errorf("the first who follows gets %+v", got)
	}
}

func TestNobodyLearnsWhoFollowsOrSubscribesSomebodyElse(t *testing.T) {
	r := newReaders(t)
	r.follow("lea@example.org", "outils/plume", "aussitot")
	ask := func(email string) string {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, readersURL+"/suivre", strings.NewReader("quoi=outils%2Fplume&email="+url.QueryEscape(email)))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		r.pages.ServeHTTP(w, q)
		return w.Result().Status + w.Header().Get("Location") + w.Body.String()
	}
	known := ask("lea@example.org")
	if unknown := ask("bob@example.org"); known != unknown {
		t.Errorf("%q is not %q", known, unknown)
	}
	r.sent()
	r.now = r.now.Add(time.Hour)
	r.publish("20")
	if got := r.sent(); len(got) != 1 || got[0].to != "lea@example.org" {
		t.Errorf("who has not confirmed is told: %+v", got)
	}
	for range 30 {
		ask("bob@example.org")
	}
	if got := r.sent(); len(got) > 3 {
		t.Errorf("%d mails flood a mailbox", len(got))
	}
	if code := r.post("/suivre", url.Values{"email": {"bob@example.org"}, "quoi": {"outils/unknown"}}); code != http.StatusNotFound {
		t.Errorf("%d for a tool that does not exist", code)
	}
	if code := r.post("/suivre", url.Values{"email": {"bob@example.org"}, "quand": {"jamais"}}); code != http.StatusBadRequest {
		t.Errorf("%d for a pace that does not exist", code)
	}
	if code := r.post("/suivre/confirmation", url.Values{"jeton": {"x"}, "quoi": {""}}); code != http.StatusGone {
		t.Errorf("%d for a made-up link", code)
	}
}
