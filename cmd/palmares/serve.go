package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/billing"
	"palmares/internal/mail"
	"palmares/internal/node"
	"palmares/internal/problem"
	"palmares/internal/systemd"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

type serveCommand struct {
	Listen         string          `help:"Address to listen on (default: localhost:8080, or port 443 with --domain)." env:"PALMARES_LISTEN" placeholder:"HOST:PORT"`
	BaseURL        baseURL         `help:"Public URL of this server (default: derived from --listen)." env:"PALMARES_BASE_URL" placeholder:"URL"`
	OpsListen      string          `help:"Address for the operator's metrics, profiles and health checks (default: none)." env:"PALMARES_OPS_LISTEN" placeholder:"HOST:PORT"`
	Quota          string          `help:"Count requests and enforce daily quotas: on or off." default:"on" enum:"on,off" env:"PALMARES_QUOTA"`
	MCPQuota       uint32          `name:"mcp-quota" help:"How many calls of tools a day a network without a key has at /mcp." default:"500" env:"PALMARES_MCP_QUOTA" placeholder:"N" type:"number" what:"a number of calls" range:"1-1000000000"`
	Trusted        networks        `name:"trusted-proxies" help:"Networks (CIDR, comma-separated) of proxies whose X-Forwarded-For is trusted (default: none)." env:"PALMARES_TRUSTED_PROXIES" placeholder:"CIDRS"`
	MaxConnections connectionLimit `help:"How many connections to the public address may be open (default: 16384, or fewer if the limit of open files is lower)." env:"PALMARES_MAX_CONNECTIONS" placeholder:"N" type:"number" what:"a number of connections" range:"1-1000000"`
	FrontLane      string          `help:"Answer plain requests with less work than net/http does: on or off." default:"on" enum:"on,off" env:"PALMARES_FRONT_LANE"`
	Drain          *time.Duration  `help:"How long to keep answering after SIGTERM while /readyz returns 503, so that a load balancer sends requests elsewhere (default: 2s with PostgreSQL; with SQLite, where there is no other node, until nobody is connected, 1s at most)." env:"PALMARES_DRAIN" placeholder:"DURATION" type:"duration" what:"a drain time" range:"0s-5m"`
	Memory         byteCount       `help:"The most memory to use, as in 2GiB (default: the limit of the control group)." env:"PALMARES_MEMORY" placeholder:"SIZE"`
	Demo           string          `help:"Serve the demo catalogue until something is published, unless there is a desk: on or off." default:"on" enum:"on,off" env:"PALMARES_DEMO"`

	Desk string `help:"Content folder, in a git repository or not, that people with a role change in a browser at /redaction (default: none)." env:"PALMARES_DESK" placeholder:"DIR" type:"path"`

	HTTPS    httpsOptions    `embed:""`
	Exports  exportOptions   `embed:""`
	Webhooks webhookOptions  `embed:""`
	Delivery deliveryOptions `embed:""`
	Mail     mailOptions     `embed:""`
	Stripe   stripeOptions   `embed:""`

	files int // how many files the server may have open; 0 for as many as this process
}

// exportOptions say where the files of /data/v1/export are kept.
type exportOptions struct {
	Dir string `name:"export-dir" help:"Folder for the files of /data/v1/export (default: beside a SQLite database; with PostgreSQL, palmares-export in the user's cache directory, or in TMPDIR if there is none)." env:"PALMARES_EXPORT_DIR" placeholder:"DIR" type:"path"`
}

func (o *exportOptions) folder(database string) string {
	if o.Dir != "" {
		return o.Dir
	}
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		return path + "-export"
	}
	const name = "palmares-export"
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, name)
		if os.MkdirAll(dir, 0o700) == nil { // users of services have none, or one that cannot be written
			return dir
		}
	}
	return filepath.Join(os.TempDir(), name)
}

// webhookOptions are for the commands that add endpoints or send to them.
type webhookOptions struct {
	Allow     networks `name:"webhook-allow" help:"Networks (CIDR, comma-separated) that are not public and that webhooks may be sent to (default: none)." env:"PALMARES_WEBHOOK_ALLOW" placeholder:"CIDRS"`
	SecretKey string   `help:"32 bytes in base64 that seal the secrets of webhooks and certificates; previous keys follow after a comma (SQLite: created once beside the database; PostgreSQL: required)." env:"PALMARES_SECRET_KEY" placeholder:"KEY"`
}

// keySource returns where the keys of webhook secrets are for a database.
func (o *webhookOptions) keySource(database string) vault.KeySource {
	return vault.KeySource{Given: o.SecretKey, File: keyFile(database)}
}

// deliveryOptions are for tests.
type deliveryOptions struct {
	Schedule schedule      `name:"webhook-schedule" env:"PALMARES_WEBHOOK_SCHEDULE" hidden:""`
	Timeout  time.Duration `name:"webhook-timeout" env:"PALMARES_WEBHOOK_TIMEOUT" hidden:"" type:"duration" what:"an answer timeout" range:"100ms-15s"`
}

type mailOptions struct {
	SMTP smtpServer `name:"smtp" help:"Mail server, smtp://USER:PASSWORD@HOST:PORT or smtps://… (default: none; mails are written to the log)." env:"PALMARES_SMTP" placeholder:"URL"`
	From string     `name:"mail-from" help:"Sender address of outgoing mail (default: no-reply at the host of --base-url)." env:"PALMARES_MAIL_FROM" placeholder:"ADDRESS"`
}

type stripeOptions struct {
	Key           string `name:"stripe-key" help:"Stripe secret key (default: none; only the operator grants Pro, with account plan)." env:"PALMARES_STRIPE_KEY" placeholder:"KEY"`
	WebhookSecret string `name:"stripe-webhook-secret" help:"Signing secret of the Stripe webhook that is sent to /hooks/stripe." env:"PALMARES_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET"`
	Price         string `name:"stripe-price" help:"ID of the Stripe price of Pro: 99 EUR a month, excluding tax." env:"PALMARES_STRIPE_PRICE" placeholder:"ID"`
}

func (c *serveCommand) Run(inv *invocation, parsed *kong.Context) (err error) {
	manager, err := systemd.FromEnvironment()
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		text := message(err, problem.English)
		manager.Fail(text)
		if !isTerminal(inv.stderr) { // whoever collects the log sees records only
			slog.New(slog.NewJSONHandler(inv.stderr, nil)).Error("the server ends: " + text)
		}
	}()
	address := cmp.Or(c.Listen, "localhost:8080")
	if len(c.HTTPS.Domains) > 0 {
		address = cmp.Or(c.Listen, ":443")
	}
	listener, inherited, err := c.open(inv, manager, address, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // the node closes it too; this is for failures before it runs
	var ops, plain net.Listener
	if len(c.HTTPS.Domains) > 0 {
		plain, _, err = c.open(inv, manager, c.HTTPS.ListenHTTP, "--listen-http")
		if err != nil {
			return err
		}
		defer plain.Close()
	}
	unused := manager.CloseRest()
	if c.OpsListen != "" {
		ops, err = listen(c.OpsListen, "--ops-listen")
		if err != nil {
			return err
		}
		defer ops.Close()
	}
	if c.BaseURL == "" {
		c.BaseURL = c.HTTPS.baseURL(listener.Addr())
	}
	cfg, err := c.config(inv)
	if err != nil {
		return err
	}
	if err := misspelt(parsed.Flags()); err != nil {
		cfg.Warnings = append(cfg.Warnings, err.Error())
	}
	for _, port := range unused {
		cfg.Warnings = append(cfg.Warnings, fmt.Sprintf("a socket unit listens on port %d for this server, which does not "+
			"serve it: give --listen that port (with --domain also --listen-http), or correct the unit", port))
	}
	cfg.Manager, cfg.Inherited, cfg.Terminal = manager, inherited, isTerminal(inv.stderr)
	cfg.Listener, cfg.Plain, cfg.Ops, cfg.ExportDir = listener, plain, ops, c.Exports.folder(inv.database)
	cfg.OpsName, _, _ = net.SplitHostPort(c.OpsListen) // "" without one
	if at, ok := listener.Addr().(*net.TCPAddr); ok {
		cfg.Local = at.IP.IsLoopback() && len(c.Trusted) == 0
	}
	if err := installed.become(inv.stderr); err != nil {
		return err
	}
	// The garbage collector works harder before the limit is reached. A tenth is for what Go does not manage: SQLite,
	// stacks of the system, the binary.
	if cfg.Memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(cfg.Memory / 10 * 9)
	}
	// Whoever sends SIGHUP, such as a terminal that closes or a script that rotates logs,
	// and whoever stops reading the log must not end a server without drain.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	return node.Run(inv.ctx, cfg)
}

// config returns the configuration of the node, without its listeners and the folder of exports,
// which may be created. It refuses options that cannot work, before the node waits for its
// database. The base URL must be known.
func (c *serveCommand) config(inv *invocation) (cfg node.Config, err error) {
	commit, goVersion := buildInfo()
	cfg = node.Config{
		Database: inv.database, BaseURL: string(c.BaseURL), Out: inv.stderr, Now: inv.now,
		Version: version, Release: version + " " + commit + " " + goVersion,
		Demo: c.Demo == "on" && c.Desk == "", FrontLane: c.FrontLane == "on", Quota: c.Quota == "on", MCPQuota: int(c.MCPQuota),
		Trusted: c.Trusted, Memory: memoryLimit(c.Memory), Drain: c.Drain,
		Desk:   c.Desk,
		Stripe: billing.Settings{Key: c.Stripe.Key, WebhookSecret: c.Stripe.WebhookSecret, Price: c.Stripe.Price},
		Webhooks: node.Webhooks{
			Keys: c.Webhooks.keySource(inv.database), Allow: c.Webhooks.Allow,
			Schedule: webhook.Schedule(c.Delivery.Schedule), Timeout: c.Delivery.Timeout,
		},
	}
	cfg.Certificates = c.HTTPS.config()
	files := cmp.Or(c.files, fileLimit())
	connections := c.MaxConnections
	if err := connections.fit(files); err != nil {
		return cfg, err
	}
	cfg.Connections = int(connections)
	cfg.Mail, err = c.mailTransport()
	if err != nil {
		return cfg, err
	}
	if cfg.Mail == nil {
		cfg.Warnings = append(cfg.Warnings, "--smtp is not set: mails are written to this log, links included")
	}
	if most := maxConnections(files); most < defaultConnections && cfg.Connections == most {
		cfg.Warnings = append(cfg.Warnings, fmt.Sprintf("the limit of open files allows only %d connections: "+
			"raise it (LimitNOFILE of systemd, ulimit -n)", most))
	}
	if err := cfg.Stripe.Check(); err != nil {
		return cfg, err
	}
	return cfg, cfg.Webhooks.Keys.Check()
}

// mailTransport returns what --smtp and --mail-from say; nil without --smtp.
func (c *serveCommand) mailTransport() (mail.Transport, error) {
	if c.Mail.SMTP.given == nil {
		return nil, nil
	}
	base, err := url.Parse(string(c.BaseURL))
	if err != nil {
		return nil, err
	}
	from, err := mail.ParseFrom(c.Mail.From, base)
	if err != nil {
		return nil, err
	}
	return mail.NewSender(*c.Mail.SMTP.given, from), nil
}

// open returns a listener for the address of an option: what systemd has, or else a new one. A new one
// it may keep for the next process, if no other node could answer meanwhile.
func (c *serveCommand) open(
	inv *invocation, manager *systemd.Manager, address, option string,
) (l net.Listener, inherited bool, err error) {
	l = manager.Take(address)
	if l != nil {
		return l, true, nil
	}
	l, err = listen(address, option)
	if err == nil && strings.HasPrefix(inv.database, "sqlite:") {
		manager.Store(l)
	}
	return l, false, err
}

func listen(address, option string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("cannot listen on %s: ports below 1024 need a permission; give it with "+
			"AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit or `setcap cap_net_bind_service=+ep` on the program, "+
			"or choose another port with %s", address, option)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("cannot listen on %s: another program does; stop that (`ss -ltnp` names it), "+
			"or choose another address with %s", address, option)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", address, err, option)
	}
	return l, nil
}

// deriveBaseURL returns the URL of a listener for people on this machine.
func deriveBaseURL(addr net.Addr) baseURL {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return baseURL("http://" + addr.String())
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
		host = "localhost"
	}
	if port == "80" {
		return baseURL("http://" + host)
	}
	return baseURL("http://" + net.JoinHostPort(host, port))
}
