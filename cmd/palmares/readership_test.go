package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/node"
	"palmares/internal/readership"
)

// make chaos has more.
var readers = flag.Int("readers", 200, "how many clients read 100 pages each at once")

// read sends 100 requests on one connection, most of them for a page that the client has already.
func (p *process) read(site *url.URL, client int) error {
	conn, err := net.Dial("tcp", site.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	const agent = "\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\r\nAccept-Encoding: gzip\r\n"
	ask := func(path, headers string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + site.Host + agent + headers + "\r\n"
	}
	answers := bufio.NewReader(conn)
	answer := func() (*http.Response, error) {
		resp, err := http.ReadResponse(answers, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		return resp, err
	}
	if _, err := io.WriteString(conn, ask("/outils", "Referer: https://forum.example/"+fmt.Sprint(client)+"\r\n")); err != nil {
		return err
	}
	first, err := answer()
	if err != nil {
		return err
	}
	known := "If-None-Match: " + first.Header.Get("ETag") + "\r\n"
	if _, err := io.WriteString(conn, strings.Repeat(ask("/outils", known), 98)+ask("/nulle-part", "")+ask("/", "")); err != nil {
		return err
	}
	for range 100 {
		if _, err := answer(); err != nil {
			return err
		}
	}
	return nil
}

func TestEveryViewIsCountedOnceOnOneNodeAndOnThree(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{"one": databases.SQLite(t), "three": databases.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes []*process
			if name == "three" {
				nodes = threeNodes(t, dsn)
			} else {
				nodes = append(nodes, startProcess(t, "palmares", "--database", dsn).serves())
			}
			var all sync.WaitGroup
			for i := range *readers {
				all.Go(func() {
					n := nodes[i%len(nodes)]
					site, err := url.Parse(n.url)
					if err == nil {
						err = n.read(site, i)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for _, n := range nodes {
				n.stop() // which saves the rest
			}
			views := map[string]int{}
			db, err := node.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, kind := range []string{readership.Pages, readership.Hosts} {
				all, err := db.Readership.Top(t.Context(), kind, "2026-01-01", "9999-12-31", 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range all {
					views[v.Name] = v.Views
				}
			}
			if diff := cmp.Diff(map[string]int{"/outils": 99 * *readers, "/": *readers, "forum.example": *readers}, views); diff != "" {
				t.Error(diff)
			}
		})
	}
}
