package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	rounds      = 7
	connections = 32

	// quietShare is how much of the processors the host of a virtual machine may take during
	// a round.
	quietShare = 0.02
)

// A load is what wrk, or h2load, sends to a server as often as it responds.
type load struct {
	url         string
	headers     []string
	script      string // Lua that says which requests are sent
	connections int
	streams     int // of each connection, with HTTP/2
	seconds     int
	mayFail     bool     // responses of 400 and more are expected
	to          *process // nil if its processor time is not wanted
}

// A figure is what was measured.
type figure struct {
	rate       float64 // requests a second
	requests   int64
	half, most float64 // milliseconds within which half and 99 of 100 had their response
	stolen     float64 // the share of the processors that the host took meanwhile
	cost       float64 // microseconds of processor time that the server took for a request
}

// report prints what wrk measured, in microseconds.
const report = `
function done(summary, latency, requests)
  local e = summary.errors
  print("figures", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.timeout, e.status)
end
`

// wrk sends a load once.
func (b *bench) wrk(l load) (figure, error) {
	script, err := os.CreateTemp(b.dir, "*.lua") // several run at once
	if err != nil {
		return figure{}, err
	}
	if _, err := script.WriteString(l.script + report); err != nil {
		return figure{}, err
	}
	if err := script.Close(); err != nil {
		return figure{}, err
	}
	connections := cmp.Or(l.connections, connections)
	threads := min(2, connections) // one alone may be slower than the server
	args := []string{
		"-t", strconv.Itoa(threads), "-c", strconv.Itoa(connections),
		"-d", strconv.Itoa(cmp.Or(l.seconds, 1)), "--timeout", "10s", "-s", script.Name(),
	}
	for _, h := range l.headers {
		args = append(args, "-H", h)
	}
	out, err := exec.CommandContext(b.ctx, "wrk", append(args, l.url)...).CombinedOutput()
	if err != nil {
		return figure{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	var requests, duration, half, most, broken, refused float64
	_, line, _ := bytes.Cut(out, []byte("figures"))
	if _, err := fmt.Sscan(string(line), &requests, &duration, &half, &most, &broken, &refused); err != nil {
		return figure{}, fmt.Errorf("wrk said: %s", out)
	}
	if broken > 0 || refused > 0 && !l.mayFail {
		return figure{}, fmt.Errorf("wrk on %s: %s", l.url, out)
	}
	return figure{rate: requests / duration * 1e6, requests: int64(requests), half: half / 1e3, most: most / 1e3}, nil
}

// send sends a load once.
func (b *bench) send(l load) (figure, error) {
	program := b.wrk
	if l.streams > 0 {
		program = b.h2load
	}
	if l.to == nil {
		return program(l)
	}
	before, err := l.to.cpu()
	if err != nil {
		return figure{}, err
	}
	f, err := program(l)
	if err != nil {
		return figure{}, err
	}
	after, err := l.to.cpu()
	f.cost = float64((after - before).Microseconds()) / float64(f.requests)
	return f, err
}

// quiet is send, repeated as long as the host disturbs it and there is time left for that.
func (b *bench) quiet(l load) (figure, error) {
	for {
		start := time.Now()
		total, stolen, err := processorTime()
		if err != nil {
			return figure{}, err
		}
		f, err := b.send(l)
		if err != nil {
			return figure{}, err
		}
		totalAfter, stolenAfter, err := processorTime()
		if err != nil {
			return figure{}, err
		}
		f.stolen = (stolenAfter - stolen) / (totalAfter - total)
		if f.stolen <= quietShare || b.retry <= 0 {
			return f, nil
		}
		b.retry -= time.Since(start)
	}
}

// processorTime returns how long all processors ran since the start of the machine, in any
// unit, and how much of that the host took.
func processorTime() (total, stolen float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)[1:9] // user, nice, system, idle, iowait, irq, softirq, steal
	for _, field := range fields {
		stolen, err = strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, 0, err
		}
		total += stolen
	}
	return total, stolen, nil
}

// alternate sends the loads in rounds, one after the other, and returns the figures of each.
func (b *bench) alternate(loads ...load) ([][]figure, error) {
	figures := make([][]figure, len(loads))
	for range rounds {
		for i, l := range loads {
			f, err := b.quiet(l)
			if err != nil {
				return nil, err
			}
			figures[i] = append(figures[i], f)
		}
	}
	return figures, nil
}

// middle returns the figure with the median rate.
func middle(all []figure) figure {
	sorted := slices.SortedFunc(slices.Values(all), func(a, z figure) int { return cmp.Compare(a.rate, z.rate) })
	return sorted[len(sorted)/2]
}

// ratio returns the median of the ratios of the rates in each round.
func ratio(over, under []figure) float64 {
	ratios := make([]float64, len(over))
	for i := range over {
		ratios[i] = over[i].rate / under[i].rate
	}
	return median(ratios)
}

// cost returns the processor time for a request over all rounds.
func cost(all []figure) float64 {
	var requests, sum float64
	for _, f := range all {
		requests += float64(f.requests)
		sum += f.cost * float64(f.requests)
	}
	return sum / requests
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
