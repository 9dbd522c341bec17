// Command testreport makes the output of `go test -json`, which it reads from standard input,
// readable. It prints packages as they finish, and at the end everything that failed in
// full, how many tests ran, which were skipped and why, the ten slowest, and how long it took
// since the Unix time that -since gives, or else since its own start.
//
// Its exit code is 1 when anything failed, did not build, did not finish or was
// skipped, and when no test ran at all. With -allow-skips, skipped tests are only
// reported.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	allowSkips := flag.Bool("allow-skips", false, "do not fail because of skipped tests")
	since := flag.Int64("since", time.Now().Unix(), "the Unix time from which the total is counted")
	flag.Parse()
	ok, err := report(os.Stdin, os.Stdout, *allowSkips)
	fmt.Println("Total time:", time.Since(time.Unix(*since, 0)).Round(time.Second))
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// An event is one line of `go test -json`: see `go doc test2json` and, for the events of
// builds, `go help buildjson`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a build
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string
}

// A test is a test, a part of one, the build of a package or, without a name, a whole package.
type test struct {
	pkg, name string
	outcome   string // "pass", "fail" or "skip"; "" while it runs
	elapsed   time.Duration
	output    strings.Builder
	parts     bool // it has subtests
}

// A run is everything seen so far.
type run struct {
	out   io.Writer
	tests map[[2]string]*test
	ended []*test // in the order in which they ended
}

func report(in io.Reader, out io.Writer, allowSkips bool) (ok bool, err error) {
	r := &run{out: out, tests: map[[2]string]*test{}}
	lines := bufio.NewReader(in)
	for err == nil {
		var line []byte
		line, err = lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
	}
	if err != io.EOF {
		return false, err
	}
	return r.summary(allowSkips), nil
}

// build is the name of a test that is none.
const build = "build"

func (r *run) line(line []byte) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(r.out, "%s", line) // go itself has something to say
		return
	}
	switch e.Action {
	case "build-output":
		r.test(e.ImportPath, build).output.WriteString(e.Output)
		return
	case "build-fail":
		r.test(e.ImportPath, build).outcome = "fail"
		return
	}
	t := r.test(e.Package, e.Test)
	switch e.Action {
	case "output":
		t.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		t.outcome, t.elapsed = e.Action, time.Duration(e.Elapsed*float64(time.Second))
		r.ended = append(r.ended, t)
		if t.outcome == "pass" {
			t.output.Reset()
		}
		if t.name == "" {
			r.printPackage(t)
		}
	}
}

func (r *run) test(pkg, name string) *test {
	key := [2]string{pkg, name}
	if r.tests[key] == nil {
		r.tests[key] = &test{pkg: pkg, name: name}
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			r.test(pkg, name[:i]).parts = true
		}
	}
	return r.tests[key]
}

func (r *run) printPackage(p *test) {
	switch p.outcome {
	case "pass":
		fmt.Fprintf(r.out, "ok    %-34s %6.1fs\n", p.pkg, p.elapsed.Seconds())
	case "fail":
		fmt.Fprintf(r.out, "FAIL  %-34s %6.1fs\n", p.pkg, p.elapsed.Seconds())
	} // a package without tests is skipped
}

// summary prints the end of the report, and reports whether all is well.
func (r *run) summary(allowSkips bool) bool {
	bad := r.printFailures()
	var ran, parts int
	var skipped []string
	for _, t := range r.ended {
		switch {
		case t.name == "":
		case t.outcome == "skip":
			skipped = append(skipped, t.pkg+"."+t.name+"\n"+t.output.String())
		case strings.Contains(t.name, "/"):
			parts++
		default:
			ran++
		}
	}
	r.printSlowest()
	for _, t := range skipped {
		fmt.Fprintf(r.out, "\nSKIPPED: %s", t)
	}
	fmt.Fprintf(r.out, "\n%d tests with %d subtests ran, %d failed, %d were skipped.\n", ran, parts, bad, len(skipped))
	if ran == 0 {
		fmt.Fprintln(r.out, "No test ran.")
	}
	return bad == 0 && ran > 0 && (allowSkips || len(skipped) == 0)
}

// printFailures prints the output of everything that failed or did not finish, and
// returns how many there are.
func (r *run) printFailures() int {
	var list []*test
	explained := map[string]bool{} // packages of which a test failed
	for _, t := range r.tests {
		unfinished := t.outcome == "" && (t.name == "" || t.output.Len() > 0)
		if t.outcome == "fail" || unfinished {
			list = append(list, t)
			explained[t.pkg] = explained[t.pkg] || t.name != ""
		}
	}
	slices.SortFunc(list, func(a, b *test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) })
	bad := 0
	for _, t := range list {
		if t.name == "" && explained[t.pkg] {
			continue
		}
		bad++
		what := "failed"
		if t.outcome == "" {
			what = "did not finish"
		}
		fmt.Fprintf(r.out, "\n=== %s %s %s\n%s", t.pkg, t.name, what, t.output.String())
	}
	return bad
}

// printSlowest prints the ten slowest tests. Those with subtests are left out: their
// time is that of their subtests.
func (r *run) printSlowest() {
	var list []*test
	for _, t := range r.ended {
		if t.name != "" && !t.parts {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *test) int { return cmp.Compare(b.elapsed, a.elapsed) })
	if len(list) > 0 {
		fmt.Fprintln(r.out, "\nThe slowest tests:")
	}
	for _, t := range list[:min(10, len(list))] {
		fmt.Fprintf(r.out, "%7.1fs  %s %s\n", t.elapsed.Seconds(), t.pkg, t.name)
	}
}
