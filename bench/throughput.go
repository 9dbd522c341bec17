package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	rounds      = 7
	connections = 32
	roundTime   = "1s"

	// quietShare is how much of the processors the host of a virtual machine may take during
	// a round.
	quietShare = 0.02
)

// A call is a request whose answers are compared. Every side gets the same headers.
type call struct {
	name        string
	path        string
	headers     []string
	connections int
}

// A side is a server whose rates are printed.
type side struct {
	name string
	*process
}

const (
	otherVersion = "other version"
	withoutLane  = "without the lane"
)

// throughput compares the whole server, with the key of a Pro account, quotas, log and
// metrics, with the front lane and without it, to a bare handler of net/http and to nginx,
// which send the same headers and bytes; and to another version of Palmarès, if there is one.
func (b *bench) throughput(other string) error {
	file := filepath.Join(b.dir, "throughput.db")
	database := "sqlite:" + file
	oldest := cmp.Or(other, b.binary) // the newer one reads what the older one made
	if _, _, err := b.runBinary(oldest, "account", "create", "bench@example.org", "--plan", "pro", "--database", database); err != nil {
		return err
	}
	key, _, err := b.runBinary(oldest, "key", "create", "bench@example.org", "--name", "bench", "--database", database)
	if err != nil {
		return err
	}
	made, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var sides []side
	add := func(name, binary, lane string) error { // each with a copy
		file := fmt.Sprintf("%s.%d", file, len(sides))
		if err := os.WriteFile(file, made, 0o600); err != nil {
			return err
		}
		address, err := freeAddress()
		if err != nil {
			return err
		}
		// One base URL, so that all have the same answers and ETags.
		args := []string{"serve", "--listen", address, "--base-url", "http://bench.example", "--database", "sqlite:" + file}
		if lane != "" {
			args = append(args, "--front-lane", lane)
		}
		p, err := b.start(binary, args...)
		if err != nil {
			return err
		}
		p.url = "http://" + address
		sides = append(sides, side{name, p})
		return nil
	}
	if other != "" {
		if err := add(otherVersion, other, ""); err != nil {
			return err
		}
	}
	if err := add(withoutLane, b.binary, "off"); err != nil {
		return err
	}
	if err := add("palmares", b.binary, "on"); err != nil {
		return err
	}
	calls, err := callsOf(sides[0].url, "Authorization: Bearer "+strings.TrimSpace(key))
	if err != nil {
		return err
	}
	fmt.Printf("Requests per second, medians of %d rounds of %s, with the 50th and 99th percentile of the time to answer (wrk), and the median ratio to the bare handler and to nginx in the same round:\n", rounds, roundTime)
	for _, c := range calls {
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

// callsOf returns what is asked of the server at a URL.
func callsOf(url, key string) ([]call, error) {
	list, err := ask(call{path: url + "/api/v1/tools?limit=1"})
	if err != nil {
		return nil, err
	}
	slug := string(firstSlug.FindSubmatch(list.Body)[1])
	tool, page := "/api/v1/tools/"+slug, "/api/v1/tools?limit=50"
	one, err := ask(call{path: url + tool, headers: []string{key}})
	if err != nil {
		return nil, err
	}
	with := func(more ...string) []string { return append([]string{key}, more...) }
	return []call{
		{"one tool", tool, with(), connections},
		{"page of 50 tools", page, with(), connections},
		{"filtered page", page + "&score_min=5&sort=name_asc", with(), connections},
		{"one tool, 304", tool, with("If-None-Match: " + one.Header.Get("ETag")), connections},
		{"page, gzip", page, with("Accept-Encoding: gzip"), connections},
		{"page, br", page, with("Accept-Encoding: br"), connections},
		{"review, br", "/avis/" + slug, []string{"Accept-Encoding: br"}, connections},
		{"404", "/api/v1/tools/inconnu", with(), connections},
		{"one tool", tool, with(), 1},
		{"one tool", tool, with(), 512},
	}, nil
}

// compare measures one call on all sides in turn, and prints the rates and ratios.
func (b *bench) compare(sides []side, c call) error {
	answer, err := ask(call{path: sides[len(sides)-1].url + c.path, headers: c.headers})
	if err != nil {
		return err
	}
	bare, err := b.startBare(answer)
	if err != nil {
		return err
	}
	nginx, err := b.startNginx(answer)
	if err != nil {
		return err
	}
	// In a round, the sides that matter most to each other come one after the other.
	last := len(sides) - 1
	sides = append(slices.Clip(sides[:last]), side{"bare net/http", bare}, sides[last], side{"nginx", nginx})
	for _, s := range sides {
		got, err := ask(call{path: s.url + c.path, headers: c.headers})
		if err != nil {
			return err
		}
		same := got.Status == answer.Status
		if s.name != otherVersion { // whose pages may differ
			same = same && bytes.Equal(got.Body, answer.Body)
		}
		if s.name == withoutLane {
			same = same && maps.EqualFunc(got.Header, answer.Header, slices.Equal)
		}
		if !same {
			return fmt.Errorf("%s answers %d, %v with %d bytes; want %d, %v with %d bytes", s.name, got.Status, got.Header, len(got.Body), answer.Status, answer.Header, len(answer.Body))
		}
	}
	figures := make([][]figure, len(sides))
	for range rounds {
		for i, s := range sides {
			f, err := b.quietRound(s.url, c, answer.Status)
			if err != nil {
				return err
			}
			figures[i] = append(figures[i], f)
		}
	}
	for _, s := range sides { // wrk does not tell one error from another
		got, err := ask(call{path: s.url + c.path, headers: c.headers})
		if err != nil {
			return err
		}
		if got.Status != answer.Status {
			return fmt.Errorf("%s answers %d after the rounds; want %d", s.name, got.Status, answer.Status)
		}
	}
	worst := 0.0
	for _, f := range slices.Concat(figures...) {
		worst = max(worst, f.stolen)
	}
	fmt.Printf("  %s, %d connections (the host took at most %.1f %% of the processors)\n", c.name, c.connections, 100*worst)
	for i, s := range sides {
		f := middle(figures[i])
		fmt.Printf("    %-18s %7.0f  (%s, %s)  %.2f  %.2f\n", s.name, f.rate, f.half, f.most, ratio(figures[i], figures[last]), ratio(figures[i], figures[last+2]))
	}
	if err := bare.stop(); err != nil {
		return err
	}
	return nginx.stop()
}

// A figure is what wrk says of one round.
type figure struct {
	rate       float64
	half, most string  // within which time half and 99 of 100 were answered
	stolen     float64 // the share of the processors that the host took meanwhile
}

// middle returns the figure with the median rate.
func middle(all []figure) figure {
	all = slices.SortedFunc(slices.Values(all), func(a, z figure) int { return cmp.Compare(a.rate, z.rate) })
	return all[len(all)/2]
}

// ratio returns the median of the ratios of the rates in each round.
func ratio(over, under []figure) float64 {
	ratios := make([]float64, len(over))
	for i := range over {
		ratios[i] = over[i].rate / under[i].rate
	}
	return median(ratios)
}

// quietRound is wrk, repeated as long as the host disturbs it and patience lasts.
func (b *bench) quietRound(url string, c call, status int) (figure, error) {
	for {
		start := time.Now()
		before, err := processorTime()
		if err != nil {
			return figure{}, err
		}
		f, err := b.wrk(url, c, status)
		if err != nil {
			return figure{}, err
		}
		after, err := processorTime()
		if err != nil {
			return figure{}, err
		}
		f.stolen = (after.stolen - before.stolen) / (after.total - before.total)
		if f.stolen <= quietShare || b.patience <= 0 {
			return f, nil
		}
		b.patience -= time.Since(start)
	}
}

// processors is how long all processors ran since the start of the machine, in any unit.
type processors struct{ total, stolen float64 }

func processorTime() (t processors, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first)[1:9] { // user, nice, system, idle, iowait, irq, softirq, steal
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return t, err
		}
		t.total += n
		if i == 7 {
			t.stolen = n
		}
	}
	return t, nil
}

var (
	rateLine = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	latency  = regexp.MustCompile(`(?m)^ +(50|99)%\s+(\S+) *$`)
)

// wrk sends a call as often as it is answered. A status other than that of 200 and 304 must
// be expected.
func (b *bench) wrk(url string, c call, status int) (f figure, err error) {
	threads := min(2, c.connections) // one alone may be slower than the server
	args := []string{"--latency", "-t", strconv.Itoa(threads), "-c", strconv.Itoa(c.connections), "-d", roundTime}
	for _, h := range c.headers {
		args = append(args, "-H", h)
	}
	out, err := exec.CommandContext(b.ctx, "wrk", append(args, url+c.path)...).CombinedOutput()
	if err != nil {
		return f, fmt.Errorf("wrk: %w: %s", err, out)
	}
	found, times := rateLine.FindSubmatch(out), latency.FindAllSubmatch(out, 2)
	if found == nil || len(times) != 2 || status < 400 && strings.Contains(string(out), "Non-2xx") || strings.Contains(string(out), "Socket errors") {
		return f, fmt.Errorf("wrk on %s: %s", url, out)
	}
	f.rate, err = strconv.ParseFloat(string(found[1]), 64)
	f.half, f.most = string(times[0][2]), string(times[1][2])
	return f, err
}

// rate is wrk for the other figures, which compare servers of ours.
func (b *bench) rate(url string, headers ...string) (float64, error) {
	f, err := b.wrk(url, call{headers: headers, connections: connections}, http.StatusOK)
	return f.rate, err
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// An answer is what all sides send.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// ask sends a call once.
func ask(c call) (answer, error) {
	resp, body, err := get(c.path, c.headers...)
	if err != nil {
		return answer{}, err
	}
	for _, name := range []string{"Date", "Connection", "Content-Length"} { // every server sends its own
		resp.Header.Del(name)
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}
