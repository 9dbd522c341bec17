package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// watchdog tells systemd that the node is alive, twice in the time that it waits for that, while the
// node answers requests to its own address. It ends when the node is asked to stop.
func (n *node) watchdog(context.Context) error {
	period := n.cfg.Manager.Watchdog
	if period <= 0 {
		return nil
	}
	client := n.callItself(period / 10)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for failing := false; ; {
		select {
		case <-n.ctx.Done():
			return nil
		case <-timer.C:
		}
		err := n.answersItself(client)
		if err == nil {
			n.cfg.Manager.Notify("WATCHDOG=1")
			timer.Reset(period / 2)
		} else {
			timer.Reset(period / 20)
		}
		if err != nil && !failing && n.ctx.Err() == nil {
			n.log.Error("the server does not answer itself: systemd restarts it unless that ends", "error", err)
		}
		failing = err != nil
	}
}

// callItself returns a client whose every request is sent to the public address of this node.
func (n *node) callItself(timeout time.Duration) *http.Client {
	at := *n.cfg.Listener.Addr().(*net.TCPAddr)
	switch {
	case !at.IP.IsUnspecified():
	case at.IP.To4() != nil:
		at.IP = net.IPv4(127, 0, 0, 1)
	default:
		at.IP = net.IPv6loopback
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var dialer net.Dialer
				return dialer.DialContext(ctx, "tcp", at.String())
			},
			// Whether it answers is asked, not whether its certificate is still valid.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		},
	}
}

// answersItself sends the node a request. A server without a certificate answers, too: it refuses
// the handshake.
func (n *node) answersItself(client *http.Client) error {
	base := "http://" + n.cfg.Listener.Addr().String()
	if n.cfg.Certificates != nil {
		base = n.cfg.BaseURL
	}
	req, err := http.NewRequestWithContext(n.ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if refused, ok := errors.AsType[*net.OpError](err); ok && refused.Op == "remote error" {
		return nil
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/healthz: %s", resp.Status)
	}
	return nil
}
