package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	deskTools = 5000
	autosaves = 200
)

// desk measures what a desk of 5,000 tools takes: processor time for each time that the form of a tool saves itself,
// and live memory beside the catalogue that is served, both after a collection of garbage.
func (b *bench) desk() error {
	b.env = append(b.env, "GODEBUG=gctrace=1")
	defer func() { b.env = b.env[:len(b.env)-1] }()
	folder, database := filepath.Join(b.dir, "desk"), "sqlite:"+filepath.Join(b.dir, "desk.db")
	_, _, err := b.palmares(b.binary, "generate", folder, "--tools", strconv.Itoa(deskTools), "--seed", "1", "--markdown")
	if err == nil {
		_, _, err = b.palmares(b.binary, "publish", folder, "--database", database)
	}
	if err != nil {
		return err
	}
	_, few, err := b.catalogue("few", 50)
	if err != nil {
		return err
	}
	if _, _, err := b.palmares(b.binary, "editor", "add", "ada@example.org", "--name", "Ada", "--role", "editor", "--database", database); err != nil {
		return err
	}
	var memory [3]int // in MiB
	var took time.Duration
	for i, options := range [][]string{{few}, {database}, {database, "--desk", folder}} {
		ops, err := freeAddress()
		if err != nil {
			return err
		}
		p, err := b.serve(b.binary, options[0], append([]string{"--quota", "off", "--ops-listen", ops}, options[1:]...)...)
		if err != nil {
			return err
		}
		if len(options) > 1 {
			took, err = b.autosave(p, folder)
			if err != nil {
				return err
			}
		}
		for page := range 25 { // let it work before its memory is measured
			if _, err := get(fmt.Sprintf("%s/api/v1/tools?limit=200&page=%d", p.url, page+1)); err != nil {
				return err
			}
		}
		for range 2 { // the first collection leaves what waits in pools
			if _, err := get("http://" + ops + "/debug/pprof/heap?gc=1"); err != nil {
				return err
			}
		}
		live, err := p.inLog(liveInLog)
		if err != nil {
			return err
		}
		memory[i], err = strconv.Atoi(live)
		if err != nil {
			return err
		}
		if err := p.stop(); err != nil {
			return err
		}
	}
	fmt.Printf("A desk of %d tools: processor time of a save by itself %.1f ms (at most 50); memory %d MiB beside the "+
		"%d MiB of the catalogue, ratio %.2f (at most 1.50)\n", deskTools, took.Seconds()*1000/autosaves,
		memory[2]-memory[1], memory[1]-memory[0], float64(memory[2]-memory[1])/float64(memory[1]-memory[0]))
	return nil
}

var (
	linkInLog = regexp.MustCompile(`/compte/connexion\?jeton=([A-Za-z0-9_-]+)`)
	liveInLog = regexp.MustCompile(`(?m)^gc .*->(\d+) MB, `) // after a collection
	tokenIn   = regexp.MustCompile(`name="jeton" value="([^"]+)"`)
)

// autosave signs in, opens a tool, and saves its text again and again. It returns the processor time of all saves.
func (b *bench) autosave(p *process, folder string) (time.Duration, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return 0, err
	}
	c := &http.Client{Jar: jar}
	send := func(method, path string, form url.Values, headers ...string) (at, body string, err error) {
		r, err := http.NewRequestWithContext(b.ctx, method, p.url+path, strings.NewReader(form.Encode()))
		if err != nil {
			return "", "", err
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := c.Do(r)
		if err != nil {
			return "", "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s: %s: %.300s", method, path, resp.Status, text)
		}
		return resp.Request.URL.Path, string(text), err
	}
	if _, _, err := send("POST", "/compte", url.Values{"email": {"ada@example.org"}, "vers": {"redaction"}}); err != nil {
		return 0, err
	}
	token, err := p.inLog(linkInLog)
	if err != nil {
		return 0, err
	}
	_, _, err = send("POST", "/compte/connexion", url.Values{"jeton": {token}, "vers": {"redaction"}})
	if err != nil {
		return 0, err
	}
	_, home, err := send("GET", "/redaction/nouvelle", nil)
	if err != nil {
		return 0, err
	}
	form := tokenIn.FindStringSubmatch(home)
	files, err := filepath.Glob(filepath.Join(folder, "outils", "*.md"))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 || form == nil {
		return 0, fmt.Errorf("nobody is signed in, or %s has no tool: %.2000s", folder, home)
	}
	record := strings.TrimSuffix(filepath.Base(files[0]), ".md")
	at, _, err := send("POST", "/redaction/fiches/outils/"+record+"/copie", url.Values{"jeton": {form[1]}})
	if err != nil {
		return 0, err
	}
	before, err := p.cpu()
	if err != nil {
		return 0, err
	}
	for i := range autosaves {
		fields := url.Values{"jeton": {form[1]}, "revision": {strconv.Itoa(i + 1)}, "f.body": {fmt.Sprintf("Un avis, version %d.\n", i)}}
		if _, _, err := send("POST", at, fields, "Accept", "application/json"); err != nil {
			return 0, err
		}
	}
	after, err := p.cpu()
	if err != nil {
		return 0, err
	}
	_, _, err = send("GET", at+"/apercu/outils/"+record, nil)
	return after - before, err
}

// inLog waits until a server has logged a text, and returns the last group of the last one.
func (p *process) inLog(text *regexp.Regexp) (string, error) {
	for {
		log, err := os.ReadFile(p.log)
		if err != nil {
			return "", err
		}
		if all := text.FindAllSubmatch(log, -1); all != nil {
			return string(all[len(all)-1][1]), nil
		}
		select {
		case <-p.done:
			return "", p.err
		case <-time.After(5 * time.Millisecond):
		}
	}
}
