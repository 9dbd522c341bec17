package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// publishEvery is the pause between publications.
const publishEvery = 2 * time.Second

// failOver kills the primary of a Patroni cluster several times.
func failOver(ctx context.Context, binary string, times int) (err error) {
	if missing := missingPrograms(); len(missing) > 0 {
		fmt.Printf("SKIPPED: the fail-over of Patroni needs %s (on Debian 12: apt-get install etcd-server patroni haproxy "+
			"pgbouncer postgresql-15)\n", strings.Join(missing, ", "))
		return nil
	}
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return err
	}
	p, err := startPatroni(ctx, dir)
	defer func() {
		p.stop()
		if err == nil { // otherwise the logs are needed
			err = os.RemoveAll(dir)
		}
	}()
	if err != nil {
		return err
	}
	c := newCluster(binary, dir, patroniURL)
	c.customers = times * customersFor(comesUpIn)
	defer func() { err = errors.Join(err, c.stop()) }()
	if err := c.start(ctx, patroniURL); err != nil {
		return err
	}
	t, err := newTrial(ctx, c)
	if err != nil {
		return err
	}
	defer t.receiver.Close()
	return t.run(ctx, p, times)
}

// A trial is what goes on while primaries are killed.
type trial struct {
	*cluster
	receiver *httptest.Server
	keyed    *waits // requests with a key

	mu       sync.Mutex
	versions []string        // that publish has reported
	failed   int             // publications
	received map[string]bool // ids of events
}

// newTrial creates two catalogues and an endpoint for webhooks.
func newTrial(ctx context.Context, c *cluster) (*trial, error) {
	t := &trial{cluster: c, keyed: &waits{}, received: map[string]bool{}}
	t.receiver = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.received[r.Header.Get("webhook-id")] = true
	}))
	for i := range 2 {
		if _, err := c.palmares(ctx, "generate", t.folder(i), "--tools", fmt.Sprint(100+i)); err != nil {
			return t, err
		}
	}
	_, err := c.palmares(ctx, "webhook", "add", "1@example.org", t.receiver.URL, "--webhook-allow", "127.0.0.0/8")
	return t, err
}

func (t *trial) folder(i int) string { return filepath.Join(t.dir, fmt.Sprint("folder", i%2)) }

func (t *trial) run(ctx context.Context, p *patroni, times int) error {
	working, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { t.publish(working) })
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "killed\tnew primary after\tall nodes well after\trequests with a key\tnot answered\tworst "+
		"wait\tunseen keys\t503\t")
	var broken error
	for i := range times {
		if err := t.killPrimary(ctx, p, i%2 == 1, out); err != nil {
			broken = errors.Join(broken, err)
			break
		}
	}
	cancel()
	work.Wait()
	return errors.Join(broken, out.Flush(), ctx.Err(), t.check(ctx))
}

// killPrimary kills the server of the primary, or everything on its machine, and waits until
// all is as before.
func (t *trial) killPrimary(ctx context.Context, p *patroni, everything bool, out *tabwriter.Writer) error {
	old, _ := p.primary(ctx)
	if old == nil {
		return errors.New("there is no primary to be killed")
	}
	var r result
	stopReading := t.read(ctx, &r)
	defer stopReading()
	what, kill := "server of "+old.name, old.killServer
	if everything {
		what, kill = "machine "+old.name, old.kill
	}
	killed := time.Now()
	if err := kill(); err != nil {
		return err
	}
	if err := p.wait(ctx, "a new primary",
		func() bool { m, _ := p.primary(ctx); return m != nil && m != old }); err != nil {
		return err
	}
	elected := time.Since(killed)
	if err := p.wait(ctx, "a well node", func() bool {
		return !slices.ContainsFunc(t.nodes, func(n *member) bool { return !t.isWell(ctx, n) })
	}); err != nil {
		return err
	}
	well := time.Since(killed)
	if everything {
		if err := p.startMachine(old); err != nil {
			return err
		}
	}
	if err := p.complete(ctx); err != nil {
		return err
	}
	stopReading()
	t.keyed = t.keyed.plus(&r.keyed)
	fmt.Fprintf(out, "%s\t%.1f s\t%.1f s\t%d\t%d\t%d ms\t%d\t%d\t\n", what, elected.Seconds(), well.Seconds(),
		r.keyed.asked, r.keyed.asked-r.keyed.answered, r.keyed.worst.Milliseconds(),
		r.strangers.asked, r.strangers.statuses[http.StatusServiceUnavailable])
	return nil
}

var publishedVersion = regexp.MustCompile(`published version (\d+)`)

// publish publishes one catalogue after the other, and notes the versions that it was told of.
func (t *trial) publish(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		out, err := t.palmares(context.Background(), "publish", t.folder(i), "--allow-removals")
		t.mu.Lock()
		if version := publishedVersion.FindStringSubmatch(out); err == nil && version != nil {
			t.versions = append(t.versions, version[1])
		} else if err != nil {
			t.failed++
		}
		t.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(publishEvery):
		}
	}
}

// check compares what callers were told with what the database has.
func (t *trial) check(ctx context.Context) error {
	db, err := sql.Open("pgx", t.database)
	if err != nil {
		return err
	}
	defer db.Close()
	var counted int
	var versions, events, missing []string
	read := func() error {
		var listed, sent string
		err := db.QueryRowContext(ctx, `SELECT (SELECT COALESCE(sum(requests), 0) FROM usage),
			(SELECT json_agg(version::text)::text FROM publications), (SELECT json_agg(event_id)::text FROM deliveries)`).Scan(&counted, &listed, &sent)
		if err != nil {
			return err
		}
		return errors.Join(json.Unmarshal([]byte(listed), &versions), json.Unmarshal([]byte(sent), &events))
	}
	until(ctx, time.Now(), func() bool { // counts are written twice a second, webhooks retried after 5 s
		err = read()
		t.mu.Lock()
		defer t.mu.Unlock()
		missing = slices.DeleteFunc(slices.Clone(events), func(id string) bool { return t.received[id] })
		return err == nil && counted >= t.keyed.answered && len(missing) == 0
	})
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(slices.Clone(t.versions), func(v string) bool { return slices.Contains(versions, v) })
	slices.Sort(t.versions)
	twice := len(t.versions) - len(slices.Compact(slices.Clone(t.versions)))
	fmt.Printf("%d requests with a key, %d answered, %d counted; %d publications reported, %d failed, %d lost; "+
		"%d webhooks due, %d missing\n",
		t.keyed.asked, t.keyed.answered, counted, len(t.versions), t.failed, len(lost)+twice, len(events), len(missing))
	if t.keyed.answered < t.keyed.asked || counted < t.keyed.answered || len(lost)+twice+len(missing) > 0 {
		return errors.New("the fail-over lost something")
	}
	return nil
}
