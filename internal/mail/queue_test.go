package mail_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"palmares/internal/mail"
	"palmares/internal/store"
	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// each runs a test on an empty database of both kinds.
func each(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, testkit.Postgres(t)) })
}

// An office is a node's queue on a real store: the test moves its clock and hears of
// every mail that is settled.
type office struct {
	*mail.Queue
	store   *store.Store
	settled chan mail.Verdict
	log     *journal
	mu      sync.Mutex
	now     time.Time
	links   int
	stop    func() // waits for Run to end
}

// A journal is a log that may be read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

const jeton = "https://palmares.example/compte/connexion?jeton="

func openOffice(t *testing.T, dsn string, send func(context.Context, mail.Message) error) *office {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	o := &office{store: s, settled: make(chan mail.Verdict, 1000), log: &journal{}, now: moment}
	o.Queue = mail.NewQueue(mail.Config{
		Outbox: officeOutbox{s.Mails, o}, Content: officeContent{o}, Transport: sendFunc(send),
		BaseURL: "https://palmares.example", Now: o.clock, Log: slog.New(slog.NewJSONHandler(o.log, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := o.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	o.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	t.Cleanup(func() {
		o.stop()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// officeOutbox tells the office of every mail that is finished.
type officeOutbox struct {
	*store.Mails
	office *office
}

func (o officeOutbox) Finish(ctx context.Context, c mail.Claim, v mail.Verdict) error {
	err := o.Mails.Finish(ctx, c, v)
	o.office.settled <- v
	return err
}

// officeContent numbers its links, and knows no endpoints.
type officeContent struct{ office *office }

func (c officeContent) Link(_ context.Context, to string, _ mail.Kind) (string, error) {
	o := c.office
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.HasPrefix(to, "gone") {
		return "", mail.ErrObsolete
	}
	if strings.HasPrefix(to, "broken") {
		return "", fmt.Errorf("no link for %s", to)
	}
	o.links++
	return fmt.Sprintf("%ssecret-%d", jeton, o.links), nil
}

func (officeContent) Endpoint(context.Context, string) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, mail.ErrObsolete
}

// sendFunc is a Transport.
type sendFunc func(context.Context, mail.Message) error

func (f sendFunc) Send(ctx context.Context, m mail.Message) error { return f(ctx, m) }

func (o *office) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

func (o *office) advance(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

func (o *office) ask(t *testing.T, to string, k mail.Kind) {
	t.Helper()
	if err := o.store.Mails.Queue(t.Context(), mail.Request{To: to, Kind: k}, o.clock()); err != nil {
		t.Fatal(err)
	}
	o.Wake()
}

func (o *office) oldest(t *testing.T) time.Time {
	t.Helper()
	at, err := o.store.Mails.Oldest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// counts gives palmares_mails_total by "kind outcome", as an operator's registry has it.
func (o *office) counts(t *testing.T) map[string]int {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o.Queue)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "palmares_mails_total" {
				counts[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = int(m.GetCounter().GetValue())
			}
		}
	}
	return counts
}

func TestAMailGoesOutAndLeavesNothingBehind(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		box := openPostbox(t, plain)
		o := openOffice(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "ada@example.org", mail.SignIn)
		if v := <-o.settled; v != (mail.Verdict{}) {
			t.Errorf("settled with %+v: %s", v, o.log)
		}
		got := box.all()
		if len(got) != 1 || !bytes.Contains(got[0].data, []byte("secret-1")) {
			t.Errorf("the server has %+v", got)
		}
		if at := o.oldest(t); !at.IsZero() {
			t.Errorf("a mail that was sent still waits, since %s", at)
		}
		if diff := cmp.Diff(map[string]int{"sign_in sent": 1}, o.counts(t)); diff != "" {
			t.Error(diff)
		}
		if log := o.log.String(); strings.Contains(log, "secret-") || strings.Contains(log, "ada@") || !strings.Contains(log, "a…@example.org") {
			t.Errorf("the log tells too much or too little: %s", log)
		}
	})
}

func TestAServerThatComesBackIsGivenAllThatWaited(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		down := openPostbox(t, plain)
		down.close()
		var mu sync.Mutex
		address := down.addr
		o := openOffice(t, dsn, func(ctx context.Context, m mail.Message) error {
			mu.Lock()
			s := sender(t, "smtp://"+address, nil)
			mu.Unlock()
			return s.Send(ctx, m)
		})
		const mails = 10
		for i := range mails {
			o.ask(t, fmt.Sprintf("u%d@example.org", i), mail.SignIn)
		}
		for range mails {
			if v := <-o.settled; !v.RetryAt.Equal(moment.Add(30*time.Second)) || v.Failure != "connect" {
				t.Errorf("settled with %+v while the server is down", v)
			}
		}
		if log := o.log.String(); strings.Contains(log, "secret-") || strings.Contains(log, "u1@") {
			t.Errorf("the log tells too much: %s", log)
		}

		up := openPostbox(t, plain)
		mu.Lock()
		address = up.addr
		mu.Unlock()
		o.advance(30 * time.Second)
		o.Wake()
		for range mails {
			if v := <-o.settled; v != (mail.Verdict{}) {
				t.Errorf("settled with %+v when the server was back", v)
			}
		}
		readers := map[string]bool{}
		for _, d := range up.all() {
			readers[d.to] = true
		}
		if len(readers) != mails || len(up.all()) != mails || !o.oldest(t).IsZero() {
			t.Errorf("%d mails to %d of %d readers; the oldest that waits is of %s", len(up.all()), len(readers), mails, o.oldest(t))
		}
	})
}

func TestSeveralNodesSendEveryMailOnce(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		box := openPostbox(t, plain)
		send := sender(t, "smtp://"+box.addr, box).Send
		a, b := openOffice(t, dsn, send), openOffice(t, dsn, send)
		const mails = 80
		var asking sync.WaitGroup
		for _, o := range []*office{a, b} {
			asking.Go(func() {
				for i := range mails / 2 {
					o.ask(t, fmt.Sprintf("u%d@%p.example", i, o), mail.SignIn)
				}
			})
		}
		asking.Wait()
		for range mails {
			select {
			case <-a.settled:
			case <-b.settled:
			}
		}
		readers := map[string]int{}
		for _, d := range box.all() {
			readers[d.to]++
		}
		if len(readers) != mails {
			t.Errorf("%d of %d readers got a mail", len(readers), mails)
		}
		for to, n := range readers {
			if n != 1 {
				t.Errorf("%s got %d mails", to, n)
			}
		}
		if !a.oldest(t).IsZero() {
			t.Errorf("a mail still waits, since %s", a.oldest(t))
		}
	})
}

func TestAReaderWhomTheServerRefusesIsGivenUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		box := openPostbox(t, plain, func(b *postbox) {
			b.onRcpt = func(to string) error {
				return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: to + " is unknown here"}
			}
		})
		o := openOffice(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "ada@example.org", mail.SignIn)
		if v := <-o.settled; !v.RetryAt.IsZero() || v.Failure != "refused" {
			t.Errorf("settled with %+v", v)
		}
		if !o.oldest(t).IsZero() {
			t.Error("it still waits")
		}
		if diff := cmp.Diff(map[string]int{"sign_in refused": 1}, o.counts(t)); diff != "" {
			t.Error(diff)
		}
		if log := o.log.String(); strings.Contains(log, "ada@") || strings.Contains(log, "secret-") || !strings.Contains(log, "550 5.1.1") || !strings.Contains(log, "a…@example.org") {
			t.Errorf("the log tells too much or too little: %s", log)
		}
	})
}

func TestAMailAboutWhatHasGoneIsDropped(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		o := openOffice(t, dsn, func(context.Context, mail.Message) error { return errors.New("nothing was to be sent") })
		o.ask(t, "gone@example.org", mail.ConfirmDeletion)
		o.ask(t, "ada@example.org", mail.EndpointDisabled)
		for range 2 {
			if v := <-o.settled; v != (mail.Verdict{}) {
				t.Errorf("settled with %+v", v)
			}
		}
		if diff := cmp.Diff(map[string]int{"confirm_deletion obsolete": 1, "endpoint_disabled obsolete": 1}, o.counts(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestATroubleOfOursIsLoggedWithoutTheReadersAddress(t *testing.T) {
	o := openOffice(t, "sqlite:"+filepath.Join(t.TempDir(), "palmares.db"), func(context.Context, mail.Message) error { return nil })
	o.ask(t, "broken@example.org", mail.SignIn)
	if v := <-o.settled; v.RetryAt.IsZero() || v.Failure != "internal" {
		t.Errorf("settled with %+v", v)
	}
	if log := o.log.String(); strings.Contains(log, "broken@") || !strings.Contains(log, "no link for b…@example.org") {
		t.Errorf("the log says %s", log)
	}
}

func TestOneSlowReaderDoesNotHoldTheOthers(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		release := make(chan struct{})
		box := openPostbox(t, plain, func(b *postbox) {
			b.onRcpt = func(to string) error {
				if strings.HasPrefix(to, "slow") {
					<-release
				}
				return nil
			}
		})
		o := openOffice(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "slow@example.org", mail.SignIn)
		const others = 6
		for i := range others {
			o.ask(t, fmt.Sprintf("u%d@example.org", i), mail.SignIn)
		}
		for range others {
			<-o.settled
		}
		if got := box.all(); len(got) != others {
			t.Errorf("%d mails arrived while one reader's server was slow, want %d", len(got), others)
		}
		close(release)
		<-o.settled
		if got := box.all(); len(got) != others+1 {
			t.Errorf("%d mails arrived in the end, want %d", len(got), others+1)
		}
	})
}

func TestTheAgeOfTheOldestMailIsAFigure(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	o := openOffice(t, dsn, func(context.Context, mail.Message) error { return &mail.Failure{Class: "connect"} })
	o.ask(t, "ada@example.org", mail.PlanEnded) // has no day, and waits
	<-o.settled
	o.advance(20 * time.Second)
	o.ask(t, "bob@example.org", mail.SignIn)
	<-o.settled // after the round that asked for the oldest
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o.Queue)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "palmares_mail_oldest_seconds" {
			if age := f.GetMetric()[0].GetGauge().GetValue(); age != 20 {
				t.Errorf("the oldest mail waits for %v s, want 20", age)
			}
			return
		}
	}
	t.Error("there is no such figure")
}
