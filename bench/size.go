package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"palmares/internal/synthetic"
)

// size measures what many tools cost: to publish, to start, and in memory.
func (b *bench) size(tools int) error {
	fmt.Printf("%d generated tools, SQLite:\n", tools)
	lines, files := filepath.Join(b.dir, "lines"), filepath.Join(b.dir, "files")
	database := filepath.Join(b.dir, "size.db")
	count := strconv.Itoa(tools)
	for _, step := range []struct {
		what string
		most string
		args []string
	}{
		{"generate, JSON lines", "", []string{"generate", lines, "--tools", count, "--seed", "1"}},
		{"publish", "60 s", []string{"publish", lines, "--database", "sqlite:" + database}},
		{"publish again, unchanged", "10 s", []string{"publish", lines, "--database", "sqlite:" + database}},
		{"generate, Markdown files", "", []string{"generate", files, "--tools", count, "--seed", "1", "--markdown"}},
		{"publish again, Markdown files", "20 s", []string{"publish", files, "--database", "sqlite:" + database}},
	} {
		_, took, err := b.run(step.args...)
		if err != nil {
			return err
		}
		limit := ""
		if step.most != "" {
			limit = "(at most " + step.most + ")"
		}
		fmt.Printf("  %-32s %6.1f s %s\n", step.what, took.Seconds(), limit)
	}

	begin := time.Now()
	p, err := b.start(b.binary, "serve", "--listen", "localhost:0", "--quota", "off", "--database", "sqlite:"+database)
	if err != nil {
		return err
	}
	if _, _, err := get(p.url + "/readyz"); err != nil {
		return err
	}
	fmt.Printf("  %-32s %6.1f s (at most 8 s)\n", "serve until ready", time.Since(begin).Seconds())
	for page := range 400 { // let it work before its memory is measured
		if _, _, err := get(fmt.Sprintf("%s/api/v1/tools?limit=200&page=%d", p.url, page+1)); err != nil {
			return err
		}
	}
	memory, err := p.resident()
	if err != nil {
		return err
	}
	var texts int64
	for _, t := range synthetic.Catalog(tools, 1).Tools {
		texts += int64(len(t.Body))
	}
	fmt.Printf("  %-32s %6.1f KiB a tool beside %.1f KiB of review (at most 6); resident %d MiB\n", "memory",
		float64(memory-texts)/1024/float64(tools), float64(texts)/1024/float64(tools), memory>>20)
	info, err := os.Stat(database)
	if err != nil {
		return err
	}
	fmt.Printf("  %-32s %6d MiB\n", "database file", info.Size()>>20)
	return p.stop()
}
