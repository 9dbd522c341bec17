package main

import (
	"cmp"
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
			fmt.Sprintf("%q is not %s: expected a whole number from %d to %d", token, what(ctx), least, most),
		}
	}
	if to.CanInt() {
		to.SetInt(int64(x))
	} else {
		to.SetUint(x)
	}
	return nil
}

func what(ctx *kong.DecodeContext) string { return ctx.Value.Tag.Get("what") }

// duration reads an option of the type duration, as number does.
func duration(ctx *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	lowest, highest, _ := strings.Cut(ctx.Value.Tag.Get("range"), "-")
	least, err := time.ParseDuration(lowest)
	most, invalid := time.ParseDuration(highest)
	if err := cmp.Or(err, invalid); err != nil {
		return err
	}
	given, err := time.ParseDuration(text)
	if err != nil || given < least || given > most {
		return &invalidValue{
			fmt.Sprintf("%q is not %s: expected a duration from %s to %s", text, what(ctx), lowest, highest),
		}
	}
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.ValueOf(&given))
	} else {
		to.SetInt(int64(given))
	}
	return nil
}
