package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const readers = 10_000

// readers has readers of the feed wait for a publication, and measures what they cost and how
// long it takes until the last one has been told.
func (b *bench) readers() error {
	folder, database, err := b.catalogue("feed", 1500)
	if err != nil {
		return err
	}
	fmt.Printf("%d readers of the feed that wait for a publication:\n", readers)
	for day, accept := range []string{"application/json", "text/event-stream"} {
		p, err := b.serve(b.binary, database, "--quota", "off", "--trusted-proxies", "127.0.0.1/32")
		if err != nil {
			return err
		}
		var page struct{ Meta struct{ Last int64 } }
		got, err := get(p.url + "/data/v1/changes?limit=1")
		if err != nil {
			return err
		}
		if err := json.Unmarshal(got.Body, &page); err != nil {
			return err
		}
		told := make(chan error, readers)
		var asked sync.WaitGroup
		asked.Add(readers)
		for i := range readers {
			go func() { told <- waitFor(p, page.Meta.Last, i, accept, asked.Done) }()
			if i%200 == 0 {
				time.Sleep(10 * time.Millisecond) // or the kernel's queue overflows
			}
		}
		asked.Wait()
		time.Sleep(2 * time.Second) // until the last one waits
		memory, err := p.memory("VmRSS")
		if err != nil {
			return err
		}
		if err := change(folder, day, 45); err != nil {
			return err
		}
		if _, _, err := b.palmares(b.binary, "publish", folder, "--database", database); err != nil {
			return err
		}
		published := time.Now()
		for range readers {
			if err := <-told; err != nil {
				return err
			}
		}
		fmt.Printf("  %-18s resident %d MiB (at most 300); all told %.2f s after the publication (at most 1)\n",
			accept, memory>>20, time.Since(published).Seconds())
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits for what follows a position as the client with a number: two requests of
// one network may wait. It returns when the response is there.
func waitFor(p *process, after int64, client int, accept string, asked func()) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		asked()
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /data/v1/changes?after=%d&wait=30 HTTP/1.1\r\nHost: bench\r\nAccept: %s\r\n"+
		"Accept-Encoding: gzip\r\nX-Forwarded-For: 10.%d.%d.%d\r\n\r\n",
		after, accept, client>>16&255, client>>8&255, client&255)
	asked()
	if err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("a reader that waits gets %s", resp.Status)
	}
	if accept == "application/json" {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	lines := bufio.NewScanner(resp.Body)
	for states := 0; states < 2; { // at the start, and after the publication
		if !lines.Scan() {
			return fmt.Errorf("the stream ended: %w", lines.Err())
		}
		if lines.Text() == "event: state" {
			states++
		}
	}
	return nil
}
