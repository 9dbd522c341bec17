package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	readers       = 10_000
	changesOfADay = 33
)

// feed measures the feed of records: pages from anywhere in it, polls that find nothing
// new, and ten thousand readers that wait.
func (b *bench) feed() error {
	folder, database := filepath.Join(b.dir, "feed"), "sqlite:"+filepath.Join(b.dir, "feed.db")
	if _, _, err := b.run("generate", folder, "--tools", "1500", "--seed", "1"); err != nil {
		return err
	}
	if _, _, err := b.run("publish", folder, "--database", database); err != nil {
		return err
	}
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--quota", "off", "--trusted-proxies", "127.0.0.1/32", "--database", database}
	p, err := b.start(b.binary, serve...)
	if err != nil {
		return err
	}
	fmt.Println("The feed of 1500 tools:")
	last, err := lastPosition(p)
	if err != nil {
		return err
	}
	for _, after := range []int64{0, last / 2, last - 10} {
		path := fmt.Sprintf("/data/v1/changes?limit=10&after=%d", after)
		rate, err := b.rate(p.url + path)
		if err != nil {
			return err
		}
		fmt.Printf("  %-36s %7.0f requests/s (at least 5000)\n", path, rate)
	}
	if err := b.polls(p, last); err != nil {
		return err
	}
	for i, accept := range []string{"application/json", "text/event-stream"} {
		if err := errors.Join(p.stop(), change(folder, i)); err != nil {
			return err
		}
		if p, err = b.start(b.binary, serve...); err != nil {
			return err
		}
		if err := b.wake(p, folder, database, accept); err != nil {
			return err
		}
	}
	return p.stop()
}

func lastPosition(p *process) (int64, error) {
	var page struct{ Meta struct{ Last int64 } }
	_, body, err := get(p.url + "/data/v1/changes?limit=1")
	if err == nil {
		err = json.Unmarshal(body, &page)
	}
	return page.Meta.Last, err
}

// polls compares a poll that finds nothing new with another 304 to a request with
// parameters.
func (b *bench) polls(p *process, last int64) error {
	var rates [2][]float64
	paths := [2]string{fmt.Sprintf("/data/v1/changes?after=%d", last), "/api/v1/tools?limit=50&page=1"}
	for range rounds {
		for i, path := range paths {
			resp, _, err := get(p.url + path)
			if err != nil {
				return err
			}
			rate, err := b.rate(p.url+path, "If-None-Match: "+resp.Header.Get("ETag"))
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	fmt.Printf("  %-36s %7.0f requests/s, %s %.0f, ratio %.2f\n", "304 to a poll", median(rates[0]), "304 to a page of tools", median(rates[1]), median(rates[0])/median(rates[1]))
	return nil
}

// change changes as many tools of a folder as an ordinary day does.
func change(folder string, day int) error {
	name := filepath.Join(folder, "outils.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed := bytes.Replace(text, []byte(`"tagline":"`), fmt.Appendf(nil, `"tagline":"Jour %d : `, day), changesOfADay)
	return os.WriteFile(name, changed, 0o600)
}

// wake has readers wait for a publication, and measures what they cost and how long it
// takes until the last one has been told.
func (b *bench) wake(p *process, folder, database, accept string) error {
	last, err := lastPosition(p)
	if err != nil {
		return err
	}
	before, err := p.resident()
	if err != nil {
		return err
	}
	told, failed := make(chan time.Time, readers), make(chan error, readers)
	var asked sync.WaitGroup
	asked.Add(readers)
	for i := range readers {
		go func() {
			at, err := waitFor(p, last, i, accept, asked.Done)
			if err != nil {
				failed <- err
				return
			}
			told <- at
		}()
		if i%200 == 0 {
			time.Sleep(10 * time.Millisecond) // or the kernel's queue overflows
		}
	}
	asked.Wait()
	time.Sleep(2 * time.Second) // until the last one waits
	waiting, err := p.resident()
	if err != nil {
		return err
	}
	if _, _, err := b.run("publish", folder, "--database", database); err != nil {
		return err
	}
	published, first, end := time.Now(), time.Time{}, time.Time{}
	for range readers {
		select {
		case err := <-failed:
			return err
		case end = <-told:
			if first.IsZero() {
				first = end
			}
		}
	}
	woken, err := p.resident()
	fmt.Printf("  %d readers, %-18s resident %d MiB, was %d (at most 300), afterwards %d; all told %.2f s after the publication (at most 1), %.2f s after the first\n",
		readers, accept, waiting>>20, before>>20, woken>>20, end.Sub(published).Seconds(), end.Sub(first).Seconds())
	return err
}

// waitFor waits for what follows a position as the client with a number: two requests of
// one network may wait. It returns when the answer is there.
func waitFor(p *process, after int64, client int, accept string, asked func()) (time.Time, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		asked()
		return time.Time{}, err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /data/v1/changes?after=%d&wait=30 HTTP/1.1\r\nHost: bench\r\nAccept: %s\r\nAccept-Encoding: gzip\r\nX-Forwarded-For: 10.%d.%d.%d\r\n\r\n",
		after, accept, client>>16&255, client>>8&255, client&255)
	asked()
	if err != nil {
		return time.Time{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return time.Time{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return time.Time{}, fmt.Errorf("a reader that waits gets %s", resp.Status)
	}
	if accept == "application/json" {
		_, err = io.Copy(io.Discard, resp.Body)
		return time.Now(), err
	}
	lines := bufio.NewReader(resp.Body)
	for states := 0; states < 2; { // that of its start, and the new one
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return time.Time{}, err
		}
		if string(line) == "event: state\n" {
			states++
		}
	}
	return time.Now(), nil
}
