package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A side is a server whose rates are printed.
type side struct {
	name string
	key  string // the header with the key of a Pro account
	*process
}

const (
	otherVersion = "other version"
	withoutLane  = "without the lane"
)

// A call is a request that is sent to every side.
type call struct {
	name        string
	path        string
	coding      string // accepted
	anonymous   bool
	revalidates bool // with the ETag, so that the response is 304
	connections int
	headers     []string
	streams     int // with HTTP/2
}

// rates compares the whole server, with the key of a Pro account, quotas, log and metrics,
// with the front lane and without it, to a bare handler of net/http and to nginx, which send
// the same headers and bytes; and to another version of Palmarès, if there is one.
func (b *bench) rates() error {
	var sides []side
	add := func(name, binary string, args ...string) error {
		s, err := b.side(name, binary, args...)
		sides = append(sides, s)
		return err
	}
	if b.other != "" {
		if err := add(otherVersion, b.other); err != nil {
			return err
		}
	}
	if err := add(withoutLane, b.binary, "--front-lane", "off"); err != nil {
		return err
	}
	if err := add("palmares", b.binary, "--front-lane", "on"); err != nil {
		return err
	}
	list, err := get(sides[0].url + "/api/v1/tools?limit=1")
	if err != nil {
		return err
	}
	slug := string(firstSlug.FindSubmatch(list.Body)[1])
	tool, page := "/api/v1/tools/"+slug, "/api/v1/tools?limit=50"
	fmt.Printf("Requests per second, medians of %d rounds of 1 s, with the milliseconds that half and 99 of 100\n"+
		"took, the processor time of the server for a request, and the median ratio to the bare handler, to nginx\n"+
		"and to the other version in the same round:\n", rounds)
	for _, c := range []call{
		{name: "one tool", path: tool},
		{name: "page of 50 tools", path: page},
		{name: "filtered page", path: page + "&score_min=5&sort=name_asc"},
		{name: "one tool, 304", path: tool, revalidates: true},
		{name: "page, gzip", path: page, coding: "gzip"},
		{name: "page, br", path: page, coding: "br"},
		{name: "review, br", path: "/avis/" + slug, coding: "br", anonymous: true},
		{name: "404", path: "/api/v1/tools/inconnu"},
		{name: "one tool", path: tool, connections: 1},
		{name: "one tool", path: tool, connections: 512},
	} {
		if err := b.compare(sides, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, s := range sides {
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}

var firstSlug = regexp.MustCompile(`"slug":"([^"]+)"`)

// side starts a palmares that serves the demo, with an account of its own.
func (b *bench) side(name, binary string, args ...string) (side, error) {
	database, key, err := b.proDatabase(name, binary)
	if err != nil {
		return side{}, err
	}
	// One base URL, so that all send the same bytes.
	p, err := b.serve(binary, database, append(args, "--base-url", "http://bench.example")...)
	return side{name, key, p}, err
}

// proDatabase creates a database with a Pro account, and returns the header with its key.
func (b *bench) proDatabase(name, binary string) (database, key string, err error) {
	database = "sqlite:" + filepath.Join(b.dir, name+".db")
	const owner = "bench@example.org"
	_, _, err = b.palmares(binary, "account", "create", owner, "--plan", "pro", "--database", database)
	if err != nil {
		return "", "", err
	}
	key, _, err = b.palmares(binary, "key", "create", owner, "--name", "bench", "--database", database)
	return database, "Authorization: Bearer " + key, err
}

// load returns what wrk sends to a side for a call.
func (s side) load(c call, status int) (load, error) {
	l := load{
		url: s.url + c.path, headers: slices.Clone(c.headers), connections: c.connections, streams: c.streams,
		mayFail: status >= http.StatusBadRequest, to: s.process,
	}
	if strings.HasPrefix(l.url, "https:") {
		l.script = lookHere
	}
	if !c.anonymous {
		l.headers = append(l.headers, s.key)
	}
	if c.coding != "" {
		l.headers = append(l.headers, "Accept-Encoding: "+c.coding)
	}
	if c.revalidates {
		got, err := get(l.url, l.headers...)
		if err != nil {
			return load{}, err
		}
		l.headers = append(l.headers, "If-None-Match: "+got.Header.Get("ETag"))
	}
	return l, nil
}

// compare measures one call on all sides, a bare handler and nginx.
func (b *bench) compare(sides []side, c call) error {
	last := len(sides) - 1
	own := sides[last]
	first, err := own.load(c, 0)
	if err != nil {
		return err
	}
	want, err := get(first.url, first.headers...)
	if err != nil {
		return err
	}
	bare, err := b.startBare(want)
	if err != nil {
		return err
	}
	nginx, err := b.startNginx(want, nil)
	if err != nil {
		return err
	}
	// In a round, the sides that matter most to each other come one after the other.
	sides = append(slices.Clip(sides[:last]), side{"bare net/http", own.key, bare}, own, side{"nginx", own.key, nginx})
	if err := b.race(sides, c, want); err != nil {
		return err
	}
	if err := bare.stop(); err != nil {
		return err
	}
	return nginx.stop()
}

// race measures one call on all sides in turn, and prints the rates and ratios. All of them send the
// same response.
func (b *bench) race(sides []side, c call, want response) error {
	loads := make([]load, len(sides))
	for i, s := range sides {
		l, err := s.load(c, want.Status)
		if err != nil {
			return err
		}
		if err := s.check(l, want); err != nil {
			return err
		}
		loads[i] = l
	}
	figures, err := b.alternate(loads...)
	if err != nil {
		return err
	}
	for i, s := range sides { // wrk does not tell one error from another
		if err := s.check(loads[i], want); err != nil {
			return fmt.Errorf("after the rounds: %w", err)
		}
	}
	printRates(sides, figures, c)
	return nil
}

// check reports a response that is not the one that all sides send. The pages of another
// version may differ.
func (s side) check(l load, want response) error {
	got, err := get(l.url, l.headers...)
	if err != nil {
		return err
	}
	isSame := got.Status == want.Status && (s.name == otherVersion || bytes.Equal(got.Body, want.Body))
	if s.name == withoutLane {
		isSame = isSame && maps.EqualFunc(got.Header, want.Header, slices.Equal)
	}
	if !isSame {
		return fmt.Errorf("%s sends %d, %v with %d bytes; want %d, %v with %d bytes",
			s.name, got.Status, got.Header, len(got.Body), want.Status, want.Header, len(want.Body))
	}
	return nil
}

func printRates(sides []side, figures [][]figure, c call) {
	worst := 0.0
	for _, f := range slices.Concat(figures...) {
		worst = max(worst, f.stolen)
	}
	n := c.connections
	if n == 0 {
		n = connections
	}
	bare := slices.IndexFunc(sides, func(s side) bool { return s.name == "bare net/http" })
	fmt.Printf("  %s, %d connections (the host took at most %.1f %% of the processors)\n", c.name, n, 100*worst)
	for i, s := range sides {
		f := middle(figures[i])
		fmt.Printf("    %-18s %7.0f  (%5.2f, %5.2f)  %5.1f µs", s.name, f.rate, f.half, f.most, cost(figures[i]))
		if bare >= 0 {
			fmt.Printf("  %.2f", ratio(figures[i], figures[bare]))
		}
		fmt.Printf("  %.2f", ratio(figures[i], figures[len(sides)-1]))
		if sides[0].name == otherVersion {
			fmt.Printf("  %.2f", ratio(figures[i], figures[0]))
		}
		fmt.Println()
	}
}
