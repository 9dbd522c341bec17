package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// pages prints the size and the rate of each kind of page of the demo and of the feed of
// records, and the rate of the tools of assistants.
func (b *bench) pages() error {
	p, err := b.serve(b.binary, "sqlite:"+filepath.Join(b.dir, "pages.db"), "--quota", "off")
	if err != nil {
		return err
	}
	fmt.Println("Pages of the demo; br is what goes over the wire:")
	for _, path := range []string{
		"/", "/outils", "/outils/grenier-sql", "/avis/grenier-sql", "/alternatives/grenier-sql", "/categories/code",
		"/comparatifs", "/comparatifs/mandibule-vs-escouade", "/comparer?outils=mandibule,escouade,babilune,varlope",
		"/prix", "/carte", "/cimetiere", "/docs", "/data/v1/changes?limit=10",
	} {
		if err := b.page(p, path); err != nil {
			return err
		}
	}
	script, err := callScript(p)
	if err != nil {
		return err
	}
	l := load{url: p.url + "/mcp", script: script, connections: 64, seconds: 15}
	if _, err := b.wrk(l); err != nil {
		return err
	}
	before, err := p.memory("VmRSS")
	if err != nil {
		return err
	}
	f, err := b.wrk(l)
	if err != nil {
		return err
	}
	after, err := p.memory("VmRSS")
	if err != nil {
		return err
	}
	fmt.Printf("Calls of assistants' tools: %.0f/s (at least 1000), half within %.1f ms, 99 %% within %.1f ms;\n"+
		"  resident %d MiB, ratio %.2f to %d s before (at most 1.10)\n",
		f.rate, f.half, f.most, after>>20, float64(after)/float64(before), l.seconds)
	return p.stop()
}

// page prints the figures of one page.
func (b *bench) page(p *process, path string) error {
	start := time.Now()
	plain, err := get(p.url + path)
	first := time.Since(start)
	if err != nil {
		return err
	}
	if plain.Status != http.StatusOK {
		return fmt.Errorf("%s: %d", path, plain.Status)
	}
	const compressed = "Accept-Encoding: br"
	small, err := get(p.url+path, compressed)
	if err != nil {
		return err
	}
	f, err := b.wrk(load{url: p.url + path, headers: []string{compressed}})
	if err != nil {
		return err
	}
	fmt.Printf("  %-52s %6.1f kB, br %5.1f kB   first %5.1f ms, then %6.0f requests/s\n", path,
		float64(len(plain.Body))/1000, float64(len(small.Body))/1000, float64(first.Microseconds())/1000, f.rate)
	return nil
}

// callScript makes wrk call every tool of /mcp for each tool of the catalogue in turn.
func callScript(p *process) (string, error) {
	list, err := get(p.url + "/api/v1/tools?limit=100")
	if err != nil {
		return "", err
	}
	var page struct {
		Data []struct{ Slug, Tagline string }
	}
	if err := json.Unmarshal(list.Body, &page); err != nil {
		return "", err
	}
	var bodies []string
	for i, t := range page.Data {
		both := []string{t.Slug, page.Data[(i+1)%len(page.Data)].Slug}
		for name, arguments := range map[string]any{
			"search":  map[string]any{"query": t.Tagline, "limit": 5},
			"fetch":   map[string]any{"id": t.Slug},
			"compare": map[string]any{"tools": both},
			"prices":  map[string]any{"tools": both},
			"changes": map[string]any{"since": "2020-01-01"},
		} {
			body, err := json.Marshal(map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": map[string]any{"name": name, "arguments": arguments},
			})
			if err != nil {
				return "", err
			}
			bodies = append(bodies, "[==["+string(body)+"]==]")
		}
	}
	return fmt.Sprintf(`
local bodies = { %s }
local i = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
function request()
  i = i %% #bodies + 1
  return wrk.format(nil, nil, nil, bodies[i])
end
`, strings.Join(bodies, ",\n")), nil
}
