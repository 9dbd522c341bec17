package node

import (
	"io"
	"net"
	"net/netip"
	"time"

	"palmares/internal/billing"
	"palmares/internal/certificate"
	"palmares/internal/mail"
	"palmares/internal/systemd"
	"palmares/internal/vault"
	"palmares/internal/webhook"
)

// Config is what a node runs with. All fields are required unless they say otherwise.
type Config struct {
	Database string       // see Open
	Listener net.Listener // the public address; Run closes it
	Plain    net.Listener // port 80 beside HTTPS; Run closes it; nil without Certificates
	Ops      net.Listener // for metrics, profiles and health checks; Run closes it; nil for none
	OpsName  string       // under which they are requested, besides addresses; may be empty
	BaseURL  string       // the public URL of the server, without a final slash
	Out      io.Writer    // receives the log
	Terminal bool         // somebody reads Out: where to find what is served is no record of the log
	Now      func() time.Time
	Version  string   // of the program
	Release  string   // the exact program; see dataset.Config
	Warnings []string // about these settings, which the log has at the start; may be nil

	Demo        bool           // show the demo catalogue until something is published
	FrontLane   bool           // serve plain requests without net/http
	Local       bool           // the server is for this machine only; see assistant.Config
	Trusted     []netip.Prefix // proxies whose X-Forwarded-For is trusted; nil for none
	Connections int            // how many connections to Listener may be open
	Memory      int64          // how many bytes the process may use; 0 for no limit
	ExportDir   string         // where the files of /data/v1/export are

	// Drain is how long requests are still served after the context has ended; nil for two
	// seconds with PostgreSQL, where other nodes take over, and with SQLite for as long as
	// connections are open, a second at most.
	Drain *time.Duration

	// Manager is what started the process, which hears how it is.
	Manager *systemd.Manager
	// Inherited says that Listener was open before the process started. Connections wait there
	// until the node is ready, instead of being told that it is not.
	Inherited bool

	Quota    bool // count requests and enforce daily quotas
	MCPQuota int  // how many calls of tools a day a network without a key has at /mcp

	Desk     string           // the content folder that people change in a browser; "" for none
	Mail     mail.Transport   // nil: mails are written to the log, links included
	Stripe   billing.Settings // the zero value: only the operator grants Pro
	Webhooks Webhooks

	// Certificates says how Listener gets its certificates; nil for plain HTTP.
	Certificates *certificate.Config
}

// Webhooks says how webhooks are sent.
type Webhooks struct {
	Keys     vault.KeySource  // of their secrets
	Allow    []netip.Prefix   // networks that are not public and may be sent to; nil for none
	Schedule webhook.Schedule // of attempts; nil for the documented one
	Timeout  time.Duration    // of an attempt; 0 for the documented one
}
