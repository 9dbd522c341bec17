// Command chaos breaks the connection between three nodes and their PostgreSQL in every
// way in which it breaks in production, while callers read. For each fault it prints the
// share of reads that were answered, how long the slowest waited, and how long after the
// end of the fault everything was as before. During each fault a key is revoked and a
// catalogue published, and it prints how long after that the last node knew.
//
// It fails when a promise was broken: a read that was not answered, a wait of more
// than 250 ms, a recovery of more than 2 s, a revocation or publication that did not
// arrive, a connection or goroutine left over.
//
// Everything is real: the binary as it is shipped, PostgreSQL, and Toxiproxy between
// them. It takes about three minutes, or more with faults that last longer. `make chaos`
// runs it.
//
// With -failovers it kills the primary of a Patroni cluster instead, configured by the files
// of deploy/, while callers with keys read, catalogues are published and webhooks are sent. It
// fails when such a caller was refused, or when a request was not counted, a publication was
// lost or a webhook did not arrive. A minute for each.
//
// With -revocations it revokes keys, and with -hanging it lets one of many endpoints for
// webhooks hang: see revoke and hang. With -losses it loses the disk of a server on SQLite, which
// Litestream copies: see lose.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"palmares/internal/testkit"
)

const (
	recoversIn = 30 * time.Second // or never

	mayWait    = 250 * time.Millisecond
	mayRecover = 2 * time.Second
	mayRevoke  = 5 * time.Second // where the database is reached
	// allowance is for the processor, which callers, nodes, proxy and database share.
	allowance = 150 * time.Millisecond
)

// lasts is how long each fault lasts.
var lasts = 8 * time.Second

func main() {
	binary := flag.String("binary", "bin/palmares", "the palmares to run")
	flag.DurationVar(&lasts, "lasts", lasts, "how long each fault lasts")
	only := flag.String("only", "", "the faults, separated by commas, instead of all")
	failovers := flag.Int("failovers", 0, "instead of the faults, kill the primary of a Patroni cluster this often")
	revocations := flag.Int("revocations", 0, "instead of the faults, revoke this many keys")
	hanging := flag.Int("hanging", 0, "instead of the faults, publish this often while one endpoint for webhooks hangs")
	endpoints := flag.Int("endpoints", 100, "how many endpoints there are then")
	losses := flag.Int("losses", 0, "instead of the faults, lose the disk with the SQLite database this often")
	litestream := flag.String("litestream", "bin/litestream", "the Litestream that copies it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	path, err := filepath.Abs(*binary)
	switch {
	case err != nil:
	case *failovers > 0:
		err = failOver(ctx, path, *failovers)
	case *revocations > 0:
		err = revoke(ctx, path, *revocations)
	case *hanging > 0:
		err = hang(ctx, path, *endpoints, *hanging)
	case *losses > 0:
		err = lose(ctx, path, *litestream, *losses)
	default:
		err = run(ctx, path, *only)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// A fault is something that goes wrong, and how it ends.
type fault struct {
	name  string
	begin func(context.Context) error
	end   func(context.Context) error
	brief bool // it is over when begin returns
	near  bool // the database stays reachable: a revocation must not wait for the end
	down  bool // the database serves nobody: key and catalogue change after the end
}

// withPostgres calls f with a folder and a server of its own.
func withPostgres(f func(dir string, db *testkit.PostgresServer) error) (err error) {
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := testkit.StartPostgres(testkit.PostgresOptions{TCP: true, Durable: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Stop()) }()
	return f(dir, db)
}

// run lets all faults happen, or only some: first those of the connection, then those of the
// server.
func run(ctx context.Context, binary, only string) error {
	names := slices.DeleteFunc(strings.Split(only, ","), func(name string) bool { return name == "" })
	for _, name := range names {
		if !slices.ContainsFunc(faults(nil, nil), func(f fault) bool { return f.name == name }) {
			return fmt.Errorf("there is no fault %q", name)
		}
	}
	return errors.Join(runSome(ctx, binary, names, false), runSome(ctx, binary, names, true))
}

// runSome lets those of the named faults happen that are of the connection, or those that are of
// the server, which nodes then reach without the proxy: it waits for a server that is frozen,
// and waits on when it is not any more.
func runSome(ctx context.Context, binary string, names []string, down bool) error {
	return withPostgres(func(dir string, db *testkit.PostgresServer) (err error) {
		address, err := testkit.FreeAddress()
		if err != nil {
			return err
		}
		proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "postgres",
			address, db.Address())
		chosen := slices.DeleteFunc(faults(proxy, db), func(f fault) bool {
			return f.down != down || len(names) > 0 && !slices.Contains(names, f.name)
		})
		if len(chosen) == 0 {
			return nil
		}
		c := newCluster(binary, dir, db.URL(databaseName)) // commands do not go through the proxy
		c.locate = func() string { return db.URL(databaseName) }
		database := c.database
		if !down {
			if err := proxy.Start(); err != nil {
				return err
			}
			defer proxy.Stop()
			database = "postgres://postgres@" + proxy.Listen + "/" + databaseName
		}
		c.customers = len(chosen) * customersFor(lasts+recoversIn)
		c.spares = len(chosen)
		defer func() { err = errors.Join(err, c.stop()) }()
		if err := c.start(ctx, database); err != nil {
			return err
		}
		return c.sufferAll(ctx, chosen)
	})
}

// faults lists everything that happens to the connection between nodes and database.
func faults(proxy *toxiproxy.Proxy, db *testkit.PostgresServer) []fault {
	nothing := func(context.Context) error { return nil }
	toxic := func(name, kind, attributes string) fault {
		return fault{
			name: name,
			begin: func(context.Context) error {
				_, err := proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name":"fault","type":%q,"stream":"upstream","attributes":%s}`, kind, attributes)))
				return err
			},
			end: func(ctx context.Context) error { return proxy.Toxics.RemoveToxic(ctx, "fault") },
		}
	}
	slow := func(ms int) fault {
		f := toxic(fmt.Sprintf("slow, %d ms", ms), "latency", fmt.Sprintf(`{"latency":%d}`, ms))
		f.near = true
		return f
	}
	return []fault{
		{name: "none", begin: nothing, end: nothing, near: true},
		slow(100), slow(150), slow(300), slow(600),
		{
			name: "refused", begin: func(context.Context) error { proxy.Stop(); return nil },
			end: func(context.Context) error { return proxy.Start() },
		},
		toxic("black hole", "timeout", `{"timeout":0}`),
		toxic("slow, 1 s", "latency", `{"latency":1000}`),
		toxic("reset in mid-query", "reset_peer", `{"timeout":0}`),
		{name: "restart", begin: func(context.Context) error { return db.Restart() }, end: nothing, brief: true},
		{
			name: "frozen", begin: func(context.Context) error { return db.Freeze() },
			end: func(context.Context) error { return db.Thaw() }, down: true,
		},
		{
			name: "killed", begin: func(context.Context) error { return db.Kill() },
			end: func(context.Context) error { return db.Resume() }, down: true,
		},
		{name: "failover", begin: func(context.Context) error {
			proxy.Stop()
			return db.Move()
		}, end: func(context.Context) error {
			proxy.Upstream = db.Address()
			return proxy.Start()
		}},
	}
}

// sufferAll lets one fault happen after the other and prints a line for each. It
// returns the promises that were broken.
func (c *cluster) sufferAll(ctx context.Context, faults []fault) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "fault\treads\tanswered\tworst wait\tunknown keys\tworst wait\trecovered after\trevoked "+
		"after\tpublished after\t")
	before, err := c.weigh(ctx)
	if err != nil {
		return err
	}
	var broken []error
	for _, f := range faults {
		r, err := c.suffer(ctx, f)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", f.name, err), out.Flush())
		}
		reads := r.keyed.plus(&r.anonymous).plus(&r.pages)
		fmt.Fprintf(out, "%s\t%d\t%.3f %%\t%d ms\t%s\t%d ms\t%d ms\t%d ms\t%d ms\t\n",
			f.name, reads.asked, 100*float64(reads.answered)/float64(reads.asked),
			reads.worst.Milliseconds(), r.unknown, r.strangers.worst.Milliseconds(), r.recovered.Milliseconds(), r.revoked.Milliseconds(), r.published.Milliseconds())
		broken = append(broken, r.broken(f)...)
	}
	after, err := c.weigh(ctx)
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Printf("a wait may be %s and %s for the machine; before: %s; after: %s\n", mayWait, allowance, before, after)
	return errors.Join(append(broken, after.more(before))...)
}
