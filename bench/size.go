package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A quantity is one figure of a large catalogue.
type quantity struct {
	name, unit string
	most       float64 // that is promised; 0 if nothing is
	value      float64
}

// size measures what many tools cost: to publish, to start, to serve, and in memory; and
// compares a page of them with one of a small catalogue. Another version of palmares has a
// database of its own.
func (b *bench) size() error {
	folder := filepath.Join(b.dir, "large")
	_, _, err := b.palmares(b.binary, "generate", folder, "--tools", strconv.Itoa(b.tools), "--seed", "1")
	if err != nil {
		return err
	}
	own, err := b.sizeOf(b.binary, folder, 1)
	if err != nil {
		return err
	}
	var other []quantity
	if b.other != "" {
		other, err = b.sizeOf(b.other, folder, 2)
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d generated tools, SQLite:\n", b.tools)
	for i, q := range own {
		fmt.Printf("  %-32s %8.2f %s", q.name, q.value, q.unit)
		if q.most > 0 {
			fmt.Printf(" (at most %g)", q.most)
		}
		if other != nil {
			fmt.Printf("   other version %.2f, ratio %.2f", other[i].value, q.value/other[i].value)
		}
		fmt.Println()
	}
	return nil
}

// sizeOf measures one version of palmares. The tools of the folder change in another way each day.
func (b *bench) sizeOf(binary, folder string, day int) (list []quantity, err error) {
	file := filepath.Join(b.dir, "large.db")
	database := "sqlite:" + file
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	add := func(name, unit string, most, value float64) {
		list = append(list, quantity{name, unit, most, value})
	}
	for _, name := range []string{"publish", "publish again, unchanged"} {
		_, took, err := b.palmares(binary, "publish", folder, "--database", database)
		if err != nil {
			return nil, err
		}
		add(name, "s", 0, took.Seconds())
	}
	begin := time.Now()
	p, err := b.serve(binary, database, "--quota", "off")
	if err != nil {
		return nil, err
	}
	add("serve until ready", "s", 6, time.Since(begin).Seconds())
	for page := range 400 { // let it work before its memory is measured
		if _, err := get(fmt.Sprintf("%s/api/v1/tools?limit=200&page=%d", p.url, page+1)); err != nil {
			return nil, err
		}
	}
	rest, err := p.memory("VmRSS")
	if err != nil {
		return nil, err
	}
	add("memory at rest", "MiB", 0, float64(rest>>20))
	took, peak, err := b.publishSome(binary, folder, database, day, p)
	if err != nil {
		return nil, err
	}
	add("publication of 1 %, until visible", "s", 2, took.Seconds())
	add("memory at most meanwhile", "× rest", 1.5, float64(peak)/float64(rest))
	if binary == b.binary {
		if err := b.comparePages(p); err != nil {
			return nil, err
		}
	}
	if err := p.stop(); err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	add("database file", "MiB", 0, float64(info.Size()>>20))
	return list, nil
}

// mark is what a change of a day adds to a tagline.
func mark(day int) string { return fmt.Sprintf("Jour %d : ", day) }

// change changes every n-th of the tools of a folder.
func change(folder string, day, n int) error {
	name := filepath.Join(folder, "outils.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := 0; i < len(lines); i += n {
		lines[i] = bytes.Replace(lines[i], []byte(`"tagline":"`), []byte(`"tagline":"`+mark(day)), 1)
	}
	return os.WriteFile(name, bytes.Join(lines, nil), 0o600)
}

// publishSome publishes a change of every hundredth tool. It returns how long after the end of
// the command the server served it, and the most memory of the server until then.
func (b *bench) publishSome(
	binary, folder, database string, day int, p *process,
) (took time.Duration, peak int64, err error) {
	if err := errors.Join(change(folder, day, 100), p.resetPeak()); err != nil {
		return 0, 0, err
	}
	_, _, err = b.palmares(binary, "publish", folder, "--database", database)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	first, err := os.ReadFile(filepath.Join(folder, "outils.jsonl"))
	if err != nil {
		return 0, 0, err
	}
	changed := []byte(mark(day))
	url := p.url + "/api/v1/tools/" + string(firstSlug.FindSubmatch(first)[1])
	for {
		got, err := get(url)
		if err != nil {
			return 0, 0, err
		}
		if bytes.Contains(got.Body, changed) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	took = time.Since(begin)
	peak, err = p.memory("VmHWM")
	return took, peak, err
}

// comparePages compares pages of the large catalogue with those of one of a thousand tools:
// filtered, sorted, deep.
func (b *bench) comparePages(large *process) error {
	const tools = 1000
	_, database, err := b.catalogue("small", tools)
	if err != nil {
		return err
	}
	small, err := b.serve(b.binary, database, "--quota", "off")
	if err != nil {
		return err
	}
	fmt.Printf("Pages of 50 of %d tools, compared with %d:\n", b.tools, tools)
	for _, query := range []string{
		"", "category=code&sort=name_asc", "score_min=6.5", "score_min=6.5&sort=name_asc",
		"category=chat&score_min=5&obsolescence_max=7&sort=name_desc",
	} {
		figures, err := b.alternate(lastPage(large, query), lastPage(small, query))
		if err != nil {
			return err
		}
		fmt.Printf("  %-62s %7.0f requests/s, ratio %.2f (at least 0.80)\n",
			"last page, "+query, middle(figures[0]).rate, ratio(figures[0], figures[1]))
	}
	return small.stop()
}

// lastPage returns the load of the last full page of a list.
func lastPage(p *process, query string) load {
	const limit = 50
	url := fmt.Sprintf("%s/api/v1/tools?limit=%d&%s", p.url, limit, query)
	got, err := get(url)
	if err != nil {
		return load{url: url} // it fails in the same way
	}
	total, _ := strconv.Atoi(got.Header.Get("X-Total-Count")) // 0 is the first page
	return load{url: fmt.Sprintf("%s&page=%d", url, max(1, total/limit))}
}
