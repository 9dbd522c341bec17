package mail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"mime"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/webhook"
)

var update = flag.Bool("update", false, "write the golden files anew")

var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

const link = "https://palmares.example/compte/connexion?jeton=kW3v-_0123456789abcdefghijklmnopqrstuvwxyzABC&a=1"

// inOrder is somebody whose payments and plan are in order.
const inOrder = "bob@example.org"

// written is a mail of the queue, with a link and an endpoint of the test's.
func written(t *testing.T, r Request, e webhook.Endpoint) (Message, error) {
	t.Helper()
	q := testQueue(&fakeOutbox{}, fakeContent{e}, nil)
	return q.write(t.Context(), Claim{Request: r, CreatedAt: monday}, monday)
}

// fakeContent has one link and one endpoint.
type fakeContent struct{ endpoint webhook.Endpoint }

func (fakeContent) Link(context.Context, Request) (string, error) { return link, nil }

// Copy returns a working copy in the state that mails of the kind are about.
func (fakeContent) Copy(_ context.Context, r Request) (Copy, error) {
	return Copy{
		Record: "outils/plume", Author: "Zoé Martin", Note: "Le prix a changé\u00a0:\nregardez <la source>.",
		Waiting: r.Kind == ReviewAsked, Ready: r.Kind == ReviewApproved,
	}, nil
}

func (fakeContent) Bulletin(context.Context, Request) (Bulletin, error) {
	return Bulletin{
		To: "lea@example.org", Topics: "Plume", More: 2, End: "https://palmares.example/suivre/fin?jeton=secret",
		Entries: []Entry{
			{Title: "Plume\u00a0: 12 → 14\u00a0€/mois", Page: "https://palmares.example/outils/plume"},
			{Title: "Plume\u00a0: note 7,5 → 8", Summary: "Plus rapide qu’au test précédent", Page: "https://palmares.example/outils/plume"},
		},
	}, nil
}

func (fakeContent) Reports(context.Context, Request) ([]Report, int, error) {
	return []Report{
		{Page: "https://palmares.example/outils/plume", Text: "Le prix est faux\u00a0:\nc’est <12> €.", Address: "lea@example.org"},
		{Page: "https://palmares.example", Text: "La recherche ne trouve rien."},
	}, 3, nil
}

func (c fakeContent) Endpoint(context.Context, string) (webhook.Endpoint, error) {
	return c.endpoint, nil
}

// sendFunc is a Transport.
type sendFunc func(context.Context, Message) error

func (f sendFunc) Send(ctx context.Context, m Message) error { return f(ctx, m) }

// testQueue returns a queue that logs nothing.
func testQueue(o Outbox, c Content, send sendFunc) *Queue {
	return NewQueue(Config{
		Outbox: o, Content: c, Transport: send,
		BaseURL: "https://palmares.example", Name: func() string { return "Palmarès" }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
}

var samples = []struct {
	name     string
	request  Request
	endpoint webhook.Endpoint
}{
	{name: "sign_in", request: Request{To: "ada@example.org", Kind: SignIn}},
	{name: "confirm_deletion", request: Request{To: "ada@example.org", Kind: ConfirmDeletion}},
	{
		name: "endpoint_disabled_failing", request: Request{To: "ada@example.org", Kind: EndpointDisabled, About: "whk_1"},
		endpoint: webhook.Endpoint{URL: "https://hooks.example.org/palmares?a=1&b=<2>", State: webhook.Disabled, Reason: webhook.Failing},
	},
	{
		name: "endpoint_disabled_gone", request: Request{To: "ada@example.org", Kind: EndpointDisabled, About: "whk_1"},
		endpoint: webhook.Endpoint{URL: "https://hooks.example.org/palmares", State: webhook.Disabled, Reason: webhook.Gone},
	},
	{
		name: "endpoint_failing", request: Request{To: "ada@example.org", Kind: EndpointFailing, About: "whk_1"},
		endpoint: webhook.Endpoint{
			URL: "https://hooks.example.org/palmares?a=1&b=<2>", State: webhook.Active, Failures: 10, FailingSince: monday.Add(-time.Hour), ProbeAt: monday,
			LastFailure: webhook.Failure{At: monday, Outcome: webhook.HTTPStatus, Status: 503},
		},
	},
	{name: "payment_failed", request: Request{To: "ada@example.org", Kind: PaymentFailed, About: "2026-12-06"}},
	{name: "schedule_stuck", request: Request{To: "redaction@example.org", Kind: ScheduleStuck, About: "pages/tarifs 2026-12-06T08:00:00Z"}},
	{name: "review_asked", request: Request{To: "ada@example.org", Kind: ReviewAsked, About: "cop_1"}},
	{name: "review_returned", request: Request{To: "zoe@example.org", Kind: ReviewReturned, About: "cop_1"}},
	{name: "review_approved", request: Request{To: "zoe@example.org", Kind: ReviewApproved, About: "cop_1"}},
	{name: "reports", request: Request{To: "redaction@example.org", Kind: Reports, About: "2026-11-16 2026-11-17"}},
	{name: "confirm_follow", request: Request{To: "lea@example.org", Kind: ConfirmFollow, About: "outils/plume aussitot"}},
	{name: "news", request: Request{To: "fol_1", Kind: News, About: "aussitot 3"}},
	{name: "plan_ended", request: Request{To: "ada@example.org", Kind: PlanEnded, About: "2027-01-01"}},
}

func TestTheMailsReadAsTheGoldenFilesHaveThem(t *testing.T) {
	for _, s := range samples {
		m, err := written(t, s.request, s.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		for suffix, got := range map[string]string{".txt": "Subject: " + m.Subject + "\n\n" + m.Text, ".html": m.HTML} {
			path := filepath.Join("testdata", s.name+suffix)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	}
}

func TestEveryKindOfMailHasASample(t *testing.T) {
	seen := map[Kind]bool{}
	for _, s := range samples {
		seen[s.request.Kind] = true
	}
	for _, k := range kinds {
		if !seen[k] {
			t.Errorf("nobody looks at mails of the kind %s", k)
		}
	}
}

func TestMailsAreFrenchAndLoadNothing(t *testing.T) {
	for _, s := range samples {
		m, err := written(t, s.request, s.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		if n := utf8.RuneCountInString(m.Subject); n > 60 {
			t.Errorf("%s: the subject has %d characters: telephones cut it", s.name, n)
		}
		for _, wrong := range []string{" :", " ;", " ?", " !", "'", "...", "\u00a0;", "\u00a0?", "\u00a0!", "<no value>", "ZgotmplZ"} {
			if strings.Contains(m.Subject+m.Text, wrong) {
				t.Errorf("%s holds %q", s.name, wrong)
			}
		}
		for _, remote := range []string{"<img", "<script", "<link", "<iframe", "url(", "@import", " src="} {
			if strings.Contains(m.HTML, remote) {
				t.Errorf("%s holds %s", s.name, remote)
			}
		}
		for line := range strings.Lines(m.Text) {
			if n := utf8.RuneCountInString(line); n > 73 && !strings.Contains(line, "https://") {
				t.Errorf("%s has a line of %d characters: %s", s.name, n, line)
			}
		}
	}
}

func TestALinkStandsWholeInBothParts(t *testing.T) {
	for _, k := range []Kind{SignIn, ConfirmDeletion} {
		m, err := written(t, Request{To: "ada@example.org", Kind: k}, webhook.Endpoint{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Link != link || !strings.Contains(m.Text, "\n"+link+"\n") {
			t.Errorf("%s: the text has no line with the link alone:\n%s", k, m.Text)
		}
		if !strings.Contains(m.HTML, `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`) {
			t.Errorf("%s: the HTML does not lead to the link:\n%s", k, m.HTML)
		}
	}
}

func TestAMailAboutAnEndpointThatWorksAgainIsNotWritten(t *testing.T) {
	for _, state := range []webhook.State{webhook.Active, webhook.Paused} {
		_, err := written(t, Request{To: "ada@example.org", Kind: EndpointDisabled, About: "whk_1"}, webhook.Endpoint{State: state})
		if err != ErrObsolete {
			t.Errorf("%s: %v, want ErrObsolete", state, err)
		}
	}
}

func TestAMailAboutFailuresIsNotWrittenOnceTheyEnded(t *testing.T) {
	for what, e := range map[string]webhook.Endpoint{
		"works again":        {State: webhook.Active},
		"works again, fails": {State: webhook.Active, Failures: 1, FailingSince: monday},
		"paused":             {State: webhook.Paused, Failures: 12, FailingSince: monday, ProbeAt: monday},
		"disabled":           {State: webhook.Disabled, Failures: 12, FailingSince: monday, ProbeAt: monday},
		"no longer Pro":      {State: webhook.Suspended, Failures: 12, FailingSince: monday, ProbeAt: monday},
	} {
		if _, err := written(t, Request{To: "ada@example.org", Kind: EndpointFailing, About: "whk_1"}, e); err != ErrObsolete {
			t.Errorf("%s: %v, want ErrObsolete", what, err)
		}
	}
}

func TestAMailAboutWhatIsInOrderAgainIsNotWritten(t *testing.T) {
	for _, k := range []Kind{PaymentFailed, PlanEnded} {
		if _, err := written(t, Request{To: inOrder, Kind: k, About: "2026-12-06"}, webhook.Endpoint{}); err != ErrObsolete {
			t.Errorf("%s: %v, want ErrObsolete", k, err)
		}
	}
}

// Some readers show no subject that begins on the second line of its header.
func TestASubjectBeginsOnTheFirstLineOfItsHeader(t *testing.T) {
	for _, s := range samples {
		m, err := written(t, s.request, s.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		composed, err := NewSender(SMTP{}, netmail.Address{Name: "Palmarès", Address: "no-reply@palmares.example"}).compose(m)
		if err != nil {
			t.Fatal(err)
		}
		var wire bytes.Buffer
		if _, err := composed.WriteTo(&wire); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(wire.String(), "\r\nSubject: ")
		line, _, _ := strings.Cut(rest, "\r\n")
		got, err := new(mime.WordDecoder).DecodeHeader(line)
		if got == "" || !strings.HasPrefix(m.Subject, got) || err != nil {
			t.Errorf("%s: the first line of the subject is %q: %q, %v; want %q", s.name, line, got, err, m.Subject)
		}
		received, err := netmail.ReadMessage(&wire)
		if err != nil {
			t.Fatal(err)
		}
		got, err = new(mime.WordDecoder).DecodeHeader(received.Header.Get("Subject"))
		if got != m.Subject || err != nil {
			t.Errorf("%s: the subject arrives as %q, %v; want %q", s.name, got, err, m.Subject)
		}
	}
}

func TestADayThatIsNoneMakesNoMail(t *testing.T) {
	for _, about := range []string{"", "demain", "2026-13-01", "2026-12-06T00:00:00Z"} {
		if m, err := written(t, Request{To: "ada@example.org", Kind: PaymentFailed, About: about}, webhook.Endpoint{}); err == nil {
			t.Errorf("%q makes %s", about, m.Text)
		}
	}
}

func TestWithoutAMailServerTheLinkIsInTheLogOnceAndWhole(t *testing.T) {
	for _, s := range samples {
		m, err := written(t, s.request, s.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := (LogSender{slog.New(slog.NewJSONHandler(&out, nil))}).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		var record struct{ Msg, To, Subject, Link, Text string }
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		if strings.Count(out.String(), "\n") != 1 || !strings.Contains(record.Msg, "--smtp") || record.To != m.To || record.Subject != m.Subject || record.Link != m.Link {
			t.Errorf("%s: the log says %s", s.name, out.String())
		}
		if m.Link != "" && strings.Count(out.String(), m.Link) != 1 {
			t.Errorf("%s: the link is not in the log's bytes as it is: %s", s.name, out.String())
		}
		// A webhook's path is as good as a password to some receivers.
		if text := strings.ReplaceAll(m.Text, "https://hooks.example.org/palmares?a=1&b=<2>", "https://hooks.example.org"); m.Link == "" &&
			record.Text != strings.ReplaceAll(text, "https://hooks.example.org/palmares", "https://hooks.example.org") {
			t.Errorf("%s: the log lacks the text, or has a webhook's path: %s", s.name, out.String())
		}
		if m.Hook != s.endpoint.URL || !strings.Contains(m.Text, m.Hook) {
			t.Errorf("%s: the mail itself does not name the webhook: %s", s.name, m.Text)
		}
	}
}

func TestAMaskedAddressCannotBeWrittenTo(t *testing.T) {
	for address, want := range map[string]string{
		"ada@example.org": "a…@example.org", "é@example.org": "é…@example.org", "éa@example.org": "é…@example.org", "": "…", "ada": "…", "@example.org": "…@example.org",
	} {
		if got := Mask(address); got != want {
			t.Errorf("%q is masked as %q, want %q", address, got, want)
		}
	}
}

func TestMailsAreSignedWithTheNameOfTheCatalogue(t *testing.T) {
	for _, sample := range samples {
		q := testQueue(&fakeOutbox{}, fakeContent{sample.endpoint}, nil)
		q.cfg.Name = func() string { return "L’Essai & Cie" }
		m, err := q.write(t.Context(), Claim{Request: sample.request, CreatedAt: monday}, monday)
		if err != nil {
			t.Fatal(err)
		}
		if all := m.Subject + m.Text + m.HTML; strings.Contains(all, "Palmarès") || !strings.Contains(m.Text, "\n-- \nL’Essai & Cie\n") || !strings.Contains(m.HTML, "L’Essai &amp; Cie · ") {
			t.Errorf("%s: %s\n%s\n%s", sample.name, m.Subject, m.Text, m.HTML)
		}
	}
}

// copyContent has one working copy.
type copyContent struct {
	fakeContent
	copy Copy
}

func (c copyContent) Copy(context.Context, Request) (Copy, error) { return c.copy, nil }

func TestAMailAboutAReviewThatIsOverIsNotSent(t *testing.T) {
	for state, c := range map[Kind]Copy{ReviewAsked: {Waiting: true}, ReviewReturned: {}, ReviewApproved: {Ready: true}} {
		for _, kind := range []Kind{ReviewAsked, ReviewReturned, ReviewApproved} {
			q := testQueue(&fakeOutbox{}, copyContent{copy: c}, nil)
			_, err := q.write(t.Context(), Claim{Request: Request{To: "ada@example.org", Kind: kind, About: "cop_1"}}, monday)
			if errors.Is(err, ErrObsolete) != (kind != state) {
				t.Errorf("%s, when it is as %s says: %v", kind, state, err)
			}
		}
	}
}
