package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/certificate"
	"palmares/internal/mail"
	"palmares/internal/node"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/systemd"
	"palmares/internal/worktree"
)

// checkCommand has the options of serve, so that it sees the same settings.
type checkCommand struct {
	serveCommand `embed:""`

	Settings bool `help:"Look only at what the server needs to start: settings, the folder of the desk, open files."`
	Quiet    bool `help:"Print only what is wrong, and note the outcome for the metrics: for a timer."`
}

// Run prints what was looked at, one line each, and fails if something is wrong. What it writes
// to find out whether that is possible, it takes back.
func (c *checkCommand) Run(inv *invocation, parsed *kong.Context) error {
	if err := installed.become(inv.stderr); err != nil {
		return err
	}
	found := []sqldb.Finding{c.settings(inv, parsed.Flags())}
	if c.Settings {
		found = append(found, c.desk(inv, nil), c.fileLimit(nil))
	} else {
		found = append(found, c.all(inv)...)
	}
	found = slices.DeleteFunc(found, func(f sqldb.Finding) bool { return f.Subject == "" })
	marks := map[sqldb.Verdict]string{sqldb.OK: "ok   ", sqldb.Wrong: "WRONG", sqldb.Unknown: "?    "}
	wrong := 0
	for _, f := range found {
		if f.Verdict == sqldb.Wrong {
			wrong++
		}
		if f.Verdict == sqldb.Wrong || !c.Quiet {
			fmt.Fprintf(inv.stdout, "%s  %-11s  %s\n", marks[f.Verdict], f.Subject, f.Text)
		}
	}
	if inv.ctx.Err() != nil {
		return inv.ctx.Err()
	}
	if c.Quiet && !isAbsent(inv.database) {
		c.note(inv, found, int64(wrong))
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks found something wrong", wrong, len(found))
	}
	return nil
}

// all looks at everything but the settings.
func (c *checkCommand) all(inv *invocation) []sqldb.Finding {
	server, serving := c.askServer(inv)
	c.files = int(server["process_max_fds"])
	found := []sqldb.Finding{serving, c.desk(inv, server)}
	tools := int64(0)
	if isAbsent(inv.database) {
		found = append(found, sqldb.Found("database", sqldb.Unknown,
			"%s does not exist yet: `palmares publish` and `palmares serve` create it", inv.database))
	} else {
		var stored []sqldb.Finding
		var current bool
		stored, tools, current = node.Examine(inv.ctx, inv.database, inv.now())
		found = append(found, stored...)
		if current {
			found = append(found, c.stored(inv)...)
		}
	}
	if c.Mail.SMTP.given != nil {
		found = append(found, c.mail(inv))
	}
	return append(found, c.fileLimit(server), c.memory(server, tools))
}

// note notes the outcome for the metrics.
func (c *checkCommand) note(inv *invocation, found []sqldb.Finding, wrong int64) {
	machine, _ := os.Hostname() // as a node has it
	err := inv.withStore(func(st *node.Database) error {
		now := catalogdb.Done{At: inv.now()}
		if slices.ContainsFunc(found, func(f sqldb.Finding) bool { return f.Subject == "copy" && f.Verdict == sqldb.OK }) {
			if err := st.Upkeep.Note(inv.ctx, catalogdb.Copy, now); err != nil {
				return err
			}
		}
		now.Wrong = wrong
		return st.Upkeep.Note(inv.ctx, catalogdb.Check+machine, now)
	})
	if err != nil {
		fmt.Fprintf(inv.stderr, "palmares: the outcome cannot be noted for the metrics: %s\n", message(err, problem.English))
	}
}

// stored looks at what needs tables of this release.
func (c *checkCommand) stored(inv *invocation) (found []sqldb.Finding) {
	err := inv.withStore(func(st *node.Database) error {
		found = append(found, c.secrets(inv, st))
		switch {
		case len(c.HTTPS.Domains) > 0:
			found = append(found, c.certificates(inv, st))
		case strings.HasPrefix(string(c.BaseURL), "https://"):
			found = append(found, c.handshake(inv))
		}
		found = append(found, c.backup(inv, st), c.copied(inv))
		if c.Stripe.Key != "" {
			found = append(found, c.payments(inv, st))
		}
		return nil
	})
	if err != nil {
		found = append(found, finding("database", err, ""))
	}
	return found
}

// finding returns a Finding that is wrong if err says so.
func finding(subject string, err error, text string) sqldb.Finding {
	if err != nil {
		return sqldb.Found(subject, sqldb.Wrong, "%s", message(err, problem.English))
	}
	return sqldb.Found(subject, sqldb.OK, "%s", text)
}

// unsure returns a Finding of something that could not be looked at, unless it is wrong anyway.
func unsure(f sqldb.Finding) sqldb.Finding {
	if f.Verdict == sqldb.OK {
		f.Verdict = sqldb.Unknown
	}
	return f
}

func (c *checkCommand) settings(inv *invocation, options []*kong.Flag) sqldb.Finding {
	if c.BaseURL == "" {
		c.BaseURL = "http://localhost" // as serve derives it
	}
	_, err := c.config(inv)
	err = cmp.Or(err, misspelt(options))
	return finding("settings", err, "all options and variables can be used")
}

// secrets checks that the secrets of webhooks can be opened.
func (c *checkCommand) secrets(inv *invocation, st *node.Database) sqldb.Finding {
	some, err := c.Webhooks.keySource(inv.database).Usable(inv.ctx, st.Secrets())
	if !some {
		return unsure(finding("secret key", err, "there are no webhooks whose secrets it could open"))
	}
	return finding("secret key", err, "it opens the secrets of all webhooks")
}

// certificates reads the certificates of --domain.
func (c *checkCommand) certificates(inv *invocation, st *node.Database) sqldb.Finding {
	manager := certificate.New(*c.HTTPS.config())
	sealer, err := c.Webhooks.keySource(inv.database).Sealer()
	if err == nil {
		_, err = manager.Open(inv.ctx, st.Certificates.Sealed(sealer))
	}
	domain, expiry := manager.First()
	switch {
	case err != nil:
	case expiry.IsZero():
		err = fmt.Errorf("%s has none yet: if that is so a minute after the start, the log of the server says why", domain)
	default:
		err = judgeExpiry(inv.now(), domain, expiry, "the log of the server says why it is not renewed")
	}
	return finding("certificate", err, "the first one, that of "+domain+", expires on "+catalog.Day(expiry))
}

// judgeExpiry returns an error if a certificate ought to have been renewed.
func judgeExpiry(now time.Time, domain string, expiry time.Time, advice string) error {
	switch {
	case expiry.Before(now):
		return fmt.Errorf("that of %s expired on %s: %s", domain, catalog.Day(expiry), advice)
	case expiry.Before(now.AddDate(0, 0, 14)):
		return fmt.Errorf("that of %s expires on %s: %s", domain, catalog.Day(expiry), advice)
	}
	return nil
}

// handshake reads the certificate that visitors of --base-url get from whatever is in front.
func (c *checkCommand) handshake(inv *invocation) sqldb.Finding {
	ctx, cancel := context.WithTimeout(inv.ctx, checkTimeout)
	defer cancel()
	at, err := url.Parse(string(c.BaseURL))
	if err != nil {
		return finding("certificate", err, "")
	}
	address := net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), "443"))
	conn, err := new(tls.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return finding("certificate", fmt.Errorf("nobody can connect to %s from here: %w", c.BaseURL, err), "")
	}
	defer conn.Close()
	expiry := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].NotAfter
	return finding("certificate", judgeExpiry(inv.now(), at.Host, expiry, "renew it where "+address+" has it from"),
		"that of "+at.Host+" expires on "+catalog.Day(expiry))
}

// checkTimeout is for whatever is asked over the network.
const checkTimeout = 5 * time.Second

// mail connects to the mail server and logs in.
func (c *checkCommand) mail(inv *invocation) sqldb.Finding {
	sender, err := c.mailTransport()
	if err != nil {
		return finding("mail", err, "") // as settings says
	}
	return finding("mail", sender.(*mail.Sender).Check(inv.ctx), c.Mail.SMTP.given.String()+" takes mails")
}

// payments reads the price of Pro from Stripe.
func (c *checkCommand) payments(inv *invocation, st *node.Database) sqldb.Finding {
	settings := billing.Settings{Key: c.Stripe.Key, WebhookSecret: c.Stripe.WebhookSecret, Price: c.Stripe.Price}
	if err := settings.Check(); err != nil {
		return finding("stripe", err, "")
	}
	if err := settings.Reach(inv.ctx); err != nil {
		return finding("stripe", err, "")
	}
	text := "it has the price of Pro, and has sent no event to /hooks/stripe yet"
	last, err := st.Subscriptions.LastEvent(inv.ctx)
	if !last.IsZero() {
		text = "it has the price of Pro, and last sent an event to /hooks/stripe on " + last.Format(time.DateTime)
	}
	return finding("stripe", err, text)
}

// desk says whether the folder of the desk, if there is one, can be used: by the server, which may have other rights
// than this command, or by the unit that is about to restart it.
func (c *checkCommand) desk(inv *invocation, server metrics) sqldb.Finding {
	up, has := server["palmares_desk_up"]
	switch {
	case c.Desk == "":
		return sqldb.Finding{}
	case c.Settings:
		folder, err := worktree.Open(inv.ctx, worktree.Config{Dir: c.Desk})
		if err == nil {
			err = folder.Close()
		}
		return finding("desk", err, c.Desk+" can be used")
	case !has:
		return sqldb.Found("desk", sqldb.Unknown, "no server with this setting says whether it can use %s", c.Desk)
	case up == 0:
		return sqldb.Found("desk", sqldb.Wrong, "the server cannot use %s: its log says why", c.Desk)
	}
	return sqldb.Found("desk", sqldb.OK, "the server could use %s when it started", c.Desk)
}

// backup says when the database was last backed up.
func (c *checkCommand) backup(inv *invocation, st *node.Database) sqldb.Finding {
	history, err := st.Upkeep.Read(inv.ctx)
	text, since := "none was ever made", history.Since(catalogdb.Backup)
	last, made := history.Last[catalogdb.Backup]
	if made {
		text = "the last one was made on " + last.At.Format(time.DateTime)
	}
	if err == nil && !since.IsZero() && inv.now().Sub(since) > catalogdb.MaxAge {
		err = errors.New(text + ": see `systemctl status palmares-backup.timer palmares-backup`")
	}
	if !made {
		return unsure(finding("backup", err, text))
	}
	return finding("backup", err, text)
}

const (
	copySettings = "/etc/palmares/litestream.yml"
	copyTimeout  = 30 * time.Second
	copyPatience = time.Hour // copying takes a second, but files are also touched without a change
)

// copied asks Litestream, where its unit should run, for the last that its copy has.
func (c *checkCommand) copied(inv *invocation) sqldb.Finding {
	path, isFile := strings.CutPrefix(inv.database, "sqlite:")
	unit, err := look(inv, "palmares-litestream.service")
	switch {
	case err != nil:
		return sqldb.Found("copy", sqldb.Unknown, "%v", err)
	case !isFile || !unit.ShouldRun():
		return sqldb.Finding{}
	case unit.State != "active":
		return sqldb.Found("copy", sqldb.Wrong, "palmares-litestream.service is %s: `systemctl status palmares-litestream` "+
			"says why", unit.State)
	}
	ctx, cancel := context.WithTimeout(inv.ctx, copyTimeout)
	defer cancel()
	litestream := exec.CommandContext(ctx, "litestream", "ltx", "-config", copySettings, "-level", "all", "-json", path)
	said, err := litestream.Output()
	var files []struct{ Timestamp time.Time }
	if err := cmp.Or(err, json.Unmarshal(said, &files)); err != nil {
		return sqldb.Found("copy", sqldb.Wrong, "Litestream cannot read it (%v): `journalctl -u palmares-litestream`", err)
	}
	var last, changed time.Time
	for _, f := range files {
		last = later(last, f.Timestamp.UTC())
	}
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			changed = later(changed, info.ModTime())
		}
	}
	switch {
	case last.IsZero() && inv.now().Sub(changed) < copyPatience:
		return sqldb.Found("copy", sqldb.Unknown, "it has nothing yet")
	case last.IsZero():
		return sqldb.Found("copy", sqldb.Wrong, "it has nothing of the database: `journalctl -u palmares-litestream` says why")
	case changed.Sub(last) > copyPatience:
		return sqldb.Found("copy", sqldb.Wrong, "the last that it has is of %s, and the database has changed since: "+
			"`journalctl -u palmares-litestream`", last.Format(time.DateTime))
	}
	return sqldb.Found("copy", sqldb.OK, "it has all of the database, the last of %s", last.Format(time.DateTime))
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fileLimit compares how many files may be open with how many connections.
func (c *checkCommand) fileLimit(server metrics) sqldb.Finding {
	files := cmp.Or(c.files, fileLimit())
	limit := cmp.Or(connectionLimit(server["palmares_connections_limit"]), c.MaxConnections)
	err := limit.fit(files)
	f := finding("files", err, fmt.Sprintf("%d may be open, enough for %d connections", files, limit))
	if server != nil || c.Settings {
		return f
	}
	return unsure(f)
}

// memory compares the limit with what a catalogue needs; see docs/operating.md.
func (c *checkCommand) memory(server metrics, tools int64) sqldb.Finding {
	limit := int64(server["palmares_memory_limit_bytes"])
	if server == nil {
		limit = memoryLimit(c.Memory)
		if given := os.Getenv("GOMEMLIMIT"); given != "" {
			return sqldb.Found("memory", sqldb.Unknown, "GOMEMLIMIT is %s", given)
		}
	}
	var err error
	text := "no limit is set"
	if limit > 0 {
		text = fmt.Sprintf("at most %d MiB, enough for any publication of %d tools", limit>>20, tools)
		if large := node.TooLarge(100_000_000+6_000*tools, limit); large != "" {
			err = fmt.Errorf("with %d tools, %s", tools, large)
		}
	}
	f := finding("memory", err, text)
	if server != nil {
		return f
	}
	return unsure(f)
}

// metrics are what a running server says about itself, by name; nil without one.
type metrics map[string]float64

// look asks systemd for a unit, if this command is about the installation.
func look(inv *invocation, name string) (*systemd.Unit, error) {
	if !installed.adopted {
		return nil, nil
	}
	return systemd.Look(inv.ctx, name)
}

// askServer asks the server that runs with these settings for its limits, through --ops-listen:
// those of this command may be others.
func (c *checkCommand) askServer(inv *invocation) (server metrics, found sqldb.Finding) {
	const ours = "; the limits below are those of this command"
	unit, err := look(inv, "palmares.service")
	if c.OpsListen != "" {
		server, err = c.scrape(inv)
	}
	switch {
	case server != nil:
	case errors.Is(err, context.DeadlineExceeded) && inv.ctx.Err() == nil:
		return nil, sqldb.Found("node", sqldb.Wrong,
			"it hangs: %s does not answer; `systemctl restart palmares` ends that", c.OpsListen)
	case unit.ShouldRun() && unit.State != "active":
		return nil, sqldb.Found("node", sqldb.Wrong, "palmares.service should run, and is %s: `systemctl status palmares` "+
			"says why"+ours, unit.State)
	case c.OpsListen == "" && err != nil:
		return nil, sqldb.Found("node", sqldb.Unknown, "not asked, as --ops-listen is not set, and %v"+ours, err)
	case c.OpsListen == "":
		return nil, sqldb.Found("node", sqldb.Unknown, "not asked, as --ops-listen is not set"+ours)
	case unit != nil && !unit.ShouldRun():
		return nil, sqldb.Found("node", sqldb.Unknown, "none runs, and palmares.service is not enabled"+ours)
	default:
		return nil, sqldb.Found("node", sqldb.Wrong, "none answers on %s (%v): start it, or see its log"+ours,
			c.OpsListen, err)
	}
	found = sqldb.Found("node", sqldb.OK, "version %.0f of the catalogue, %.0f MB of memory, %.0f of %.0f connections",
		server["palmares_catalogue_version"], server["process_resident_memory_bytes"]/1e6,
		server["palmares_connections"], server["palmares_connections_limit"])
	if up, isReady := server["palmares_database_up"]; !isReady || up == 0 {
		found.Verdict = sqldb.Wrong
		found.Text += "; it cannot use its database, or is still starting: its log says why"
	}
	if server["palmares_catalogue_behind"] == 1 {
		found.Verdict = sqldb.Wrong
		found.Text += "; it cannot load what is published: its log says why"
	}
	return server, found
}

// scrape returns the metrics of the server that have no labels.
func (c *checkCommand) scrape(inv *invocation) (metrics, error) {
	ctx, cancel := context.WithTimeout(inv.ctx, checkTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(c.OpsListen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r) // through no proxy
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	said := metrics{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 4<<20))
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			said[name] = value
		}
	}
	if _, ours := said["palmares_connections_limit"]; !ours {
		return nil, cmp.Or(lines.Err(), errors.New("that is not a server of Palmarès"))
	}
	return said, nil
}
