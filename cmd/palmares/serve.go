package main

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"palmares/internal/clientip"
)

type serveCommand struct {
	Listen    string  `help:"Where to listen." default:"localhost:8080" env:"PALMARES_LISTEN"`
	BaseURL   baseURL `help:"Where callers find this server (default: derived from --listen)." env:"PALMARES_BASE_URL" placeholder:"URL"`
	OpsListen string  `help:"Where to serve metrics, profiles and health to the operator (default: nowhere)." env:"PALMARES_OPS_LISTEN" placeholder:"HOST:PORT"`
	Quota     onOff   `help:"Count requests and keep callers to their daily quota: on or off." default:"on" env:"PALMARES_QUOTA"`
	Trusted   proxies `name:"trusted-proxies" help:"Networks (CIDR, comma-separated) of proxies whose X-Forwarded-For is believed (default: none)." env:"PALMARES_TRUSTED_PROXIES" placeholder:"CIDRS"`
	Drain     drain   `help:"How long to go on answering after SIGTERM while /readyz says 503, so that a load balancer sends requests elsewhere (default: 2s with PostgreSQL, 0s with SQLite, where there is no other node)." env:"PALMARES_DRAIN" placeholder:"DURATION"`
	Demo      onOff   `help:"Serve the demo catalogue as long as nothing has been published: on or off." default:"on" env:"PALMARES_DEMO"`
	customerOptions
}

// onOff is a switch that is written out: "on" or "off".
type onOff string

// UnmarshalText reads on or off.
func (o *onOff) UnmarshalText(b []byte) error {
	if *o = onOff(b); *o != "on" && *o != "off" {
		return &refusedValue{fmt.Sprintf("%q is neither on nor off", b)}
	}
	return nil
}

// proxies are the networks of trusted proxies.
type proxies []netip.Prefix

// UnmarshalText reads a list of networks.
func (p *proxies) UnmarshalText(b []byte) error {
	networks, err := clientip.ParseTrusted(string(b))
	if err != nil {
		return &refusedValue{err.Error()}
	}
	*p = networks
	return nil
}

// drain is how long a node goes on when it is told to stop; nil until it was given.
type drain struct{ given *time.Duration }

// maxDrain leaves a process that was told to stop some sense.
const maxDrain = 5 * time.Minute

// UnmarshalText reads a duration.
func (d *drain) UnmarshalText(b []byte) error {
	given, err := time.ParseDuration(string(b))
	if err != nil || given < 0 || given > maxDrain {
		return &refusedValue{fmt.Sprintf("%q is not a time to drain: give one from 0s to 5m, as in 10s", b)}
	}
	d.given = &given
	return nil
}

// baseURL is an absolute http or https URL without a path's last slash.
type baseURL string

// UnmarshalText reads a base URL.
func (u *baseURL) UnmarshalText(b []byte) error {
	parsed, err := url.Parse(string(b))
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return &refusedValue{fmt.Sprintf("%q is not a base URL: give one like https://catalogue.example, without user, query or fragment", b)}
	}
	*u = baseURL(strings.TrimSuffix(string(b), "/"))
	return nil
}

// Run serves until it is told to stop.
func (c *serveCommand) Run(s *session) error {
	listener, err := listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // the server closes it too; this is for failures before it runs
	var ops net.Listener
	if c.OpsListen != "" {
		if ops, err = listen(c.OpsListen, "--ops-listen"); err != nil {
			return err
		}
		defer ops.Close()
	}
	if c.BaseURL == "" {
		c.BaseURL = deriveBaseURL(listener.Addr())
	}
	if err := c.check(s, string(c.BaseURL)); err != nil {
		return err
	}
	return newNode(c, s).serve(listener, ops)
}

// listen opens an address that an option gave.
func listen(address, option string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", address, err, option)
	}
	return l, nil
}

// deriveBaseURL is where people on this machine find a listener.
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
