package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/billing"
	"palmares/internal/catalog"
	"palmares/internal/certificate"
	"palmares/internal/mail"
	"palmares/internal/node"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
)

// checkCommand has the options of serve, so that it sees the same settings.
type checkCommand struct {
	serveCommand `embed:""`
}

// Run prints what was looked at, one line each, and fails if something is wrong. What it writes
// to find out whether that is possible, it takes back.
func (c *checkCommand) Run(inv *invocation, parsed *kong.Context) error {
	if err := installed.become(inv.stderr); err != nil {
		return err
	}
	server, serving := c.askServer(inv)
	c.files = server.files
	found := []sqldb.Finding{c.settings(inv, parsed.Flags()), serving}
	tools := int64(0)
	if isAbsent(inv.database) {
		found = append(found, sqldb.Finding{
			Subject: "database",
			Text:    inv.database + " does not exist yet: `palmares publish` and `palmares serve` create it",
		})
	} else {
		var all []sqldb.Finding
		var current bool
		all, tools, current = node.Examine(inv.ctx, inv.database, inv.now())
		found = append(found, all...)
		if current {
			found = append(found, c.stored(inv)...)
		}
	}
	if c.Mail.SMTP.given != nil {
		found = append(found, c.mail(inv))
	}
	files := cmp.Or(c.files, fileLimit())
	limit := connectionLimit(cmp.Or(server.connections, int(c.MaxConnections)))
	err := limit.fit(files)
	found = append(found, finding("files", err, fmt.Sprintf("%d may be open, enough for %d connections",
		files, limit)), c.memory(server, tools))
	wrong := 0
	for _, f := range found {
		mark := "ok   "
		if f.Wrong {
			mark = "WRONG"
			wrong++
		}
		fmt.Fprintf(inv.stdout, "%s  %-11s  %s\n", mark, f.Subject, f.Text)
	}
	if inv.ctx.Err() != nil {
		return inv.ctx.Err()
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks found something wrong", wrong, len(found))
	}
	return nil
}

// stored looks at what needs tables of this release.
func (c *checkCommand) stored(inv *invocation) []sqldb.Finding {
	found := []sqldb.Finding{c.secrets(inv)}
	switch {
	case len(c.HTTPS.Domains) > 0:
		found = append(found, c.certificates(inv))
	case strings.HasPrefix(string(c.BaseURL), "https://"):
		found = append(found, c.handshake(inv))
	}
	if strings.HasPrefix(inv.database, "sqlite:") {
		found = append(found, c.backup(inv))
	}
	if c.Stripe.Key != "" {
		found = append(found, c.payments(inv))
	}
	return found
}

// finding returns a Finding that is wrong if err says so.
func finding(subject string, err error, text string) sqldb.Finding {
	if err != nil {
		return sqldb.Finding{Subject: subject, Text: message(err, problem.English), Wrong: true}
	}
	return sqldb.Finding{Subject: subject, Text: text}
}

func (c *checkCommand) settings(inv *invocation, options []*kong.Flag) sqldb.Finding {
	var known []string
	for _, option := range options {
		known = append(known, option.Envs...)
	}
	if c.BaseURL == "" {
		c.BaseURL = "http://localhost" // as serve derives it
	}
	_, err := c.config(inv)
	err = cmp.Or(err, installed.check(known))
	return finding("settings", err, "all options and variables can be used")
}

// secrets checks that the secrets of webhooks can be opened.
func (c *checkCommand) secrets(inv *invocation) sqldb.Finding {
	var text string
	err := inv.withStore(func(st *node.Database) error {
		some, err := c.Webhooks.keySource(inv.database).Usable(inv.ctx, st.Secrets())
		text = "it opens the secrets of all webhooks"
		if !some {
			text = "there are no webhooks whose secrets it could open"
		}
		return err
	})
	return finding("secret key", err, text)
}

// certificates reads the certificates of --domain.
func (c *checkCommand) certificates(inv *invocation) sqldb.Finding {
	var text string
	err := inv.withStore(func(st *node.Database) error {
		sealer, err := c.Webhooks.keySource(inv.database).Sealer()
		if err != nil {
			return err
		}
		expiry, err := certificate.New(*c.HTTPS.config()).Open(inv.ctx, st.Certificates.Sealed(sealer))
		switch {
		case err != nil:
			return err
		case expiry.IsZero():
			return errors.New("not every domain has one yet: if that is so a minute after the start, the log of the server says why")
		}
		text = "the first one expires on " + catalog.Day(expiry)
		return judgeExpiry(inv.now(), expiry, "the log of the server says why it is not renewed")
	})
	return finding("certificate", err, text)
}

// judgeExpiry returns an error if a certificate ought to have been renewed.
func judgeExpiry(now, expiry time.Time, advice string) error {
	if expiry.Before(now.AddDate(0, 0, 14)) {
		return fmt.Errorf("the first one expires on %s: %s", catalog.Day(expiry), advice)
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
	return finding("certificate", judgeExpiry(inv.now(), expiry, "renew it where "+address+" has it from"),
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
func (c *checkCommand) payments(inv *invocation) sqldb.Finding {
	settings := billing.Settings{Key: c.Stripe.Key, WebhookSecret: c.Stripe.WebhookSecret, Price: c.Stripe.Price}
	if err := settings.Check(); err != nil {
		return finding("stripe", err, "")
	}
	if err := settings.Reach(inv.ctx); err != nil {
		return finding("stripe", err, "")
	}
	text := "it has the price of Pro, and has sent no event to /hooks/stripe yet"
	err := inv.withStore(func(st *node.Database) error {
		last, err := st.Subscriptions.LastEvent(inv.ctx)
		if !last.IsZero() {
			text = "it has the price of Pro, and last sent an event to /hooks/stripe on " + last.Format(time.DateTime)
		}
		return err
	})
	return finding("stripe", err, text)
}

// backup says when `palmares backup` last made one.
func (c *checkCommand) backup(inv *invocation) sqldb.Finding {
	last := node.LastBackup(inv.database)
	if last.IsZero() {
		return sqldb.Finding{Subject: "backup", Text: "`palmares backup` has made none yet"}
	}
	var err error
	age := inv.now().Sub(last).Round(time.Minute)
	text := fmt.Sprintf("the last one was made on %s", last.UTC().Format(time.DateTime))
	if age > 48*time.Hour {
		err = fmt.Errorf("%s, %d days ago: see `systemctl status palmares-backup.timer palmares-backup`", text,
			int(age.Hours())/24)
	}
	return finding("backup", err, text)
}

// memory compares the limit with what a catalogue needs; see docs/operating.md.
func (c *checkCommand) memory(server serverFacts, tools int64) sqldb.Finding {
	limit := server.memory
	if !server.answers {
		limit = memoryLimit(c.Memory)
		if given := os.Getenv("GOMEMLIMIT"); given != "" {
			return sqldb.Finding{Subject: "memory", Text: "GOMEMLIMIT is " + given}
		}
	}
	if limit == 0 {
		return sqldb.Finding{Subject: "memory", Text: "no limit is set"}
	}
	var err error
	if text := node.TooLarge(100_000_000+6_000*tools, limit); text != "" {
		err = fmt.Errorf("with %d tools, %s", tools, text)
	}
	return finding("memory", err, fmt.Sprintf("at most %d MiB, enough for any publication of %d tools", limit>>20, tools))
}

// serverFacts are what a running server says about itself.
type serverFacts struct {
	answers            bool
	memory             int64 // the limit in bytes; 0 for none
	connections, files int   // how many it may have
}

// askServer asks the server that runs with these settings for its limits, through --ops-listen:
// those of this command may be others.
func (c *checkCommand) askServer(inv *invocation) (facts serverFacts, found sqldb.Finding) {
	found.Subject = "node"
	if c.OpsListen == "" {
		found.Text = "not asked, as --ops-listen is not set: the limits below are those of this command"
		return facts, found
	}
	metrics, err := c.scrape(inv)
	if errors.Is(err, context.DeadlineExceeded) && inv.ctx.Err() == nil {
		found.Text, found.Wrong = "it hangs: "+c.OpsListen+" does not answer; `systemctl restart palmares` ends that", true
		return facts, found
	}
	if err != nil {
		found.Text = fmt.Sprintf("none answers on %s (%v): if one should run, `systemctl status palmares` says more; "+
			"the limits below are those of this command", c.OpsListen, err)
		return facts, found
	}
	facts = serverFacts{
		answers: true, memory: int64(metrics["palmares_memory_limit_bytes"]),
		connections: int(metrics["palmares_connections_limit"]), files: int(metrics["process_max_fds"]),
	}
	found.Text = fmt.Sprintf("version %.0f of the catalogue, %.0f MB of memory, %.0f of %d connections",
		metrics["palmares_catalogue_version"], metrics["process_resident_memory_bytes"]/1e6,
		metrics["palmares_connections"], facts.connections)
	if up, isReady := metrics["palmares_database_up"]; !isReady || up == 0 {
		found.Text, found.Wrong = found.Text+"; it cannot use its database, or is still starting: its log says why", true
	}
	if metrics["palmares_catalogue_behind"] == 1 {
		found.Text, found.Wrong = found.Text+"; it cannot load what is published: its log says why", true
	}
	return facts, found
}

// scrape returns the metrics of the server that have no labels.
func (c *checkCommand) scrape(inv *invocation) (map[string]float64, error) {
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
	metrics := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 4<<20))
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			metrics[name] = value
		}
	}
	if _, ours := metrics["palmares_connections_limit"]; !ours {
		return nil, errors.New("that is not a server of Palmarès")
	}
	return metrics, lines.Err()
}
