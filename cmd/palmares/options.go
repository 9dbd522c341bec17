package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/account"
	"palmares/internal/clientip"
	"palmares/internal/mail"
	"palmares/internal/webhook"
)

// The types of option values that kong does not know. Each refuses a value with a
// sentence that says what is allowed.

// An invalidValue is an option that was understood and whose value is not allowed.
type invalidValue struct{ text string }

func (e *invalidValue) Error() string { return e.text }

// readInto reads a value whose reader says what is allowed.
func readInto[T any](to *T, b []byte, read func(string) (T, error)) error {
	value, err := read(string(b))
	if err != nil {
		return &invalidValue{err.Error()}
	}
	*to = value
	return nil
}

// onOff is a switch that is written out: "on" or "off".
type onOff string

func (o *onOff) UnmarshalText(b []byte) error {
	*o = onOff(b)
	if *o != "on" && *o != "off" {
		return &invalidValue{fmt.Sprintf("%q is neither on nor off", b)}
	}
	return nil
}

// networks is a comma-separated list of networks or addresses.
type networks []netip.Prefix

func (n *networks) UnmarshalText(b []byte) error {
	parsed, err := clientip.ParseTrusted(string(b))
	if err != nil {
		return &invalidValue{fmt.Sprintf("%q is not a list of networks: write it as in 10.0.0.0/8,192.0.2.7", b)}
	}
	*n = parsed
	return nil
}

// between reads a duration; what says what the option is, and what is allowed.
func between(b []byte, least, most time.Duration, what string) (time.Duration, error) {
	given, err := time.ParseDuration(string(b))
	if err != nil || given < least || given > most {
		return 0, &invalidValue{fmt.Sprintf("%q is not %s", b, what)}
	}
	return given, nil
}

// drain is how long a node keeps serving after it was asked to stop; nil until given.
type drain struct{ given *time.Duration }

// maxDrain is far above what load balancers need and still ends a process.
const maxDrain = 5 * time.Minute

func (d *drain) UnmarshalText(b []byte) error {
	given, err := between(b, 0, maxDrain, "a drain time: expected a duration from 0s to 5m, as in 10s")
	d.given = &given
	return err
}

// waitTime is how long a command tries again; 0 until given.
type waitTime time.Duration

// maxWait is longer than a fail-over or an upgrade takes, and ends a job of CI.
const maxWait = time.Hour

func (w *waitTime) UnmarshalText(b []byte) error {
	given, err := between(b, 0, maxWait, "a time to wait: expected a duration from 0s to 1h, as in 60s")
	*w = waitTime(given)
	return err
}

// baseURL is an absolute http or https URL without a final slash.
type baseURL string

func (u *baseURL) UnmarshalText(b []byte) error {
	parsed, err := url.Parse(string(b))
	// An empty query, fragment or host name leaves no trace in parsed.
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" ||
		parsed.User != nil || strings.ContainsAny(string(b), "?#") {
		given := strconv.Quote(string(b))
		if strings.Contains(given, "@") {
			given = "this URL" // which may have a password
		}
		return &invalidValue{
			given + " is not a base URL: expected one like https://catalogue.example, without user, query or fragment",
		}
	}
	*u = baseURL(strings.TrimSuffix(string(b), "/"))
	return nil
}

// smtpServer is a mail server; nil until given.
type smtpServer struct{ given *mail.SMTP }

func (s *smtpServer) UnmarshalText(b []byte) error {
	s.given = &mail.SMTP{}
	return readInto(s.given, b, mail.ParseSMTP)
}

// schedule is when attempts to deliver a webhook are made.
type schedule webhook.Schedule

func (s *schedule) UnmarshalText(b []byte) error {
	return readInto((*webhook.Schedule)(s), b, webhook.ParseSchedule)
}

// webhookTimeout is how long the receiver of a webhook may take; 0 until given.
type webhookTimeout time.Duration

func (d *webhookTimeout) UnmarshalText(b []byte) error {
	given, err := between(b, 100*time.Millisecond, webhook.RequestTimeout, "an answer timeout: expected a duration from "+
		"100ms to "+webhook.RequestTimeout.String())
	*d = webhookTimeout(given)
	return err
}

// byteCount is a number of bytes, written with a unit.
type byteCount int64

func (n *byteCount) UnmarshalText(b []byte) error {
	digits, unit := strings.TrimRight(string(b), "KMGTiB"), int64(0)
	switch strings.TrimPrefix(string(b), digits) {
	case "MiB":
		unit = 1 << 20
	case "GiB":
		unit = 1 << 30
	case "TiB":
		unit = 1 << 40
	}
	x, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || unit == 0 || x <= 0 || x > 1<<62/unit {
		return &invalidValue{fmt.Sprintf("%q is not a size: expected a whole number of MiB, GiB or TiB, as in 4GiB", b)}
	}
	*n = byteCount(x * unit)
	return nil
}

type plan account.Plan

func (p *plan) UnmarshalText(b []byte) error {
	return readInto((*account.Plan)(p), b, account.ParsePlan)
}

// number reads an option of the type number. Its tags say what it is and its range, as in 1-200. By itself kong would
// take -1 for another option.
func number(ctx *kong.DecodeContext, to reflect.Value) error {
	var least, most uint64
	if _, err := fmt.Sscanf(ctx.Value.Tag.Get("range"), "%d-%d", &least, &most); err != nil {
		return err
	}
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected a number after this option")
	}
	x, err := strconv.ParseUint(token.String(), 10, 64)
	if err != nil || x < least || x > most {
		return &invalidValue{
			fmt.Sprintf("%q is not %s: expected a whole number from %d to %d", token, ctx.Value.Tag.Get("what"), least, most),
		}
	}
	if to.CanInt() {
		to.SetInt(int64(x))
	} else {
		to.SetUint(x)
	}
	return nil
}
