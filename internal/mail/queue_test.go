package mail_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"palmares/internal/accountdb"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/webhook"
)

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

// each runs a test on a database of both kinds.
func each(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	databases.EachDSN(t, test)
}

// A node is a queue on a real store: the test moves its clock and receives every
// verdict.
type node struct {
	*mail.Queue
	store    *testdb.DB
	finished chan mail.Verdict
	log      *testkit.Log
	clock    *testkit.Clock
	links    atomic.Int64
	stop     func() // waits for Run to return
}

const linkURL = "https://palmares.example/compte/connexion?jeton="

func startNode(t *testing.T, dsn string, send func(context.Context, mail.Message) error) *node {
	t.Helper()
	n := &node{store: databases.OpenDSN(t, dsn), finished: make(chan mail.Verdict, 1000), log: &testkit.Log{}, clock: testkit.NewClock(monday)}
	n.Queue = mail.NewQueue(mail.Config{
		Outbox: nodeOutbox{n.store.Mails, n}, Content: nodeContent{n}, Transport: sendFunc(send),
		BaseURL: "https://palmares.example", Name: func() string { return "Le banc d’essai" }, Now: n.clock.Now, Log: slog.New(slog.NewJSONHandler(n.log, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := n.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	n.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	t.Cleanup(n.stop)
	return n
}

// nodeOutbox sends verdicts to the node.
type nodeOutbox struct {
	*accountdb.Mails
	node *node
}

func (o nodeOutbox) Finish(ctx context.Context, c mail.Claim, v mail.Verdict) error {
	// A busy machine may need longer than a queue waits for the store, and two nodes on
	// one SQLite file longer than a write waits for the other.
	var err error
	testkit.Await(func() bool {
		err = o.Mails.Finish(context.WithoutCancel(ctx), c, v)
		return !errors.Is(err, sqldb.ErrBusy)
	})
	o.node.finished <- v
	return err
}

// nodeContent numbers its links, and knows no endpoints.
type nodeContent struct{ node *node }

func (c nodeContent) Link(_ context.Context, r mail.Request) (string, error) {
	if strings.HasPrefix(r.To, "gone") {
		return "", mail.ErrObsolete
	}
	if strings.HasPrefix(r.To, "broken") {
		return "", fmt.Errorf("no link for %s", r.To)
	}
	return fmt.Sprintf("%ssecret-%d", linkURL, c.node.links.Add(1)), nil
}

func (nodeContent) Endpoint(context.Context, string) (webhook.Endpoint, error) {
	return webhook.Endpoint{}, mail.ErrObsolete
}

func (nodeContent) Bulletin(context.Context, mail.Request) (mail.Bulletin, error) {
	return mail.Bulletin{}, mail.ErrObsolete
}

func (nodeContent) Reports(context.Context, mail.Request) ([]mail.Report, int, error) {
	return nil, 0, mail.ErrObsolete
}

func (nodeContent) Copy(context.Context, mail.Request) (mail.Copy, error) {
	return mail.Copy{}, mail.ErrObsolete
}

// sendFunc is a Transport.
type sendFunc func(context.Context, mail.Message) error

func (f sendFunc) Send(ctx context.Context, m mail.Message) error { return f(ctx, m) }

func (o *node) ask(t *testing.T, to string, k mail.Kind) {
	t.Helper()
	if err := o.store.Mails.Queue(t.Context(), mail.Request{To: to, Kind: k}, o.clock.Now()); err != nil {
		t.Fatal(err)
	}
	o.Wake()
}

// nextVerdict waits until one of the nodes has finished a mail.
func nextVerdict(t *testing.T, nodes ...*node) (v mail.Verdict) {
	t.Helper()
	testkit.Until(t, "the verdict on a mail", func() bool {
		for _, o := range nodes {
			select {
			case v = <-o.finished:
				return true
			default:
			}
		}
		return false
	})
	return v
}

func (o *node) oldest(t *testing.T) time.Time {
	t.Helper()
	at, err := o.store.Mails.Oldest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// counts returns palmares_mails_total by "kind outcome", as a registry collects it.
func (o *node) counts(t *testing.T) map[string]int {
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
		box := startMailServer(t, plain)
		o := startNode(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "ada@example.org", mail.SignIn)
		if v := nextVerdict(t, o); v != (mail.Verdict{}) {
			t.Errorf("finished with %+v: %s", v, o.log)
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
			t.Errorf("the log contains too much or too little: %s", log)
		}
	})
}

func TestARecipientThatTheServerRejectsIsGivenUpAtOnce(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		box := startMailServer(t, plain, func(b *mailServer) {
			b.onRcpt = func(to string) error {
				return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: to + " is unknown here"}
			}
		})
		o := startNode(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "ada@example.org", mail.SignIn)
		if v := nextVerdict(t, o); !v.RetryAt.IsZero() || v.Failure != "refused" {
			t.Errorf("finished with %+v", v)
		}
		if !o.oldest(t).IsZero() {
			t.Error("it still waits")
		}
		if diff := cmp.Diff(map[string]int{"sign_in refused": 1}, o.counts(t)); diff != "" {
			t.Error(diff)
		}
		if log := o.log.String(); strings.Contains(log, "ada@") || strings.Contains(log, "secret-") || !strings.Contains(log, "550 5.1.1") || !strings.Contains(log, "a…@example.org") {
			t.Errorf("the log contains too much or too little: %s", log)
		}
	})
}

func TestAMailWhoseReasonIsGoneIsDropped(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		o := startNode(t, dsn, func(context.Context, mail.Message) error { return errors.New("nothing was to be sent") })
		o.ask(t, "gone@example.org", mail.ConfirmDeletion)
		o.ask(t, "ada@example.org", mail.EndpointDisabled)
		for range 2 {
			if v := nextVerdict(t, o); v != (mail.Verdict{}) {
				t.Errorf("finished with %+v", v)
			}
		}
		if diff := cmp.Diff(map[string]int{"confirm_deletion obsolete": 1, "endpoint_disabled obsolete": 1}, o.counts(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnInternalErrorIsLoggedWithoutTheRecipientsAddress(t *testing.T) {
	o := startNode(t, databases.SQLite(t), func(context.Context, mail.Message) error { return nil })
	o.ask(t, "broken@example.org", mail.SignIn)
	if v := nextVerdict(t, o); v.RetryAt.IsZero() || v.Failure != "internal" {
		t.Errorf("finished with %+v", v)
	}
	if log := o.log.String(); strings.Contains(log, "broken@") || !strings.Contains(log, "no link for b…@example.org") {
		t.Errorf("the log says %s", log)
	}
}

func TestOneSlowRecipientDoesNotDelayTheOthers(t *testing.T) {
	each(t, func(t *testing.T, dsn string) {
		release := make(chan struct{})
		box := startMailServer(t, plain, func(b *mailServer) {
			b.onRcpt = func(to string) error {
				if strings.HasPrefix(to, "slow") {
					<-release
				}
				return nil
			}
		})
		o := startNode(t, dsn, sender(t, "smtp://"+box.addr, box).Send)
		o.ask(t, "slow@example.org", mail.SignIn)
		const others = 6
		for i := range others {
			o.ask(t, fmt.Sprintf("u%d@example.org", i), mail.SignIn)
		}
		for range others {
			nextVerdict(t, o)
		}
		if got := box.all(); len(got) != others {
			t.Errorf("%d mails arrived while one reader's server was slow, want %d", len(got), others)
		}
		close(release)
		nextVerdict(t, o)
		if got := box.all(); len(got) != others+1 {
			t.Errorf("%d mails arrived in the end, want %d", len(got), others+1)
		}
	})
}

func TestTheAgeOfTheOldestMailIsAFigure(t *testing.T) {
	dsn := databases.SQLite(t)
	o := startNode(t, dsn, func(context.Context, mail.Message) error { return &mail.Failure{Class: "connect"} })
	o.ask(t, "ada@example.org", mail.PlanEnded) // has no day, and waits
	nextVerdict(t, o)
	o.clock.Advance(20 * time.Second)
	o.ask(t, "bob@example.org", mail.SignIn)
	nextVerdict(t, o) // after the round that asked for the oldest
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
