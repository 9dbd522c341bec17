package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// run runs palmares to its end, and returns its output and how long it took.
func (b *bench) run(args ...string) (string, time.Duration, error) {
	return b.runBinary(b.binary, args...)
}

// runBinary is run for a palmares of one's choice.
func (b *bench) runBinary(binary string, args ...string) (string, time.Duration, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(b.ctx, binary, args...)
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return "", 0, fmt.Errorf("palmares %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), time.Since(start), nil
}

// A process is a running server.
type process struct {
	cmd *exec.Cmd
	url string
	end chan error
}

// watch returns the process of a command that has been started.
func (b *bench) watch(cmd *exec.Cmd) *process {
	p := &process{cmd: cmd, end: make(chan error, 1)}
	go func() { p.end <- cmd.Wait() }()
	b.started = append(b.started, p)
	return p
}

// start starts a server, with its log in a file, and returns when it has logged where
// it listens: the first word that is a URL.
func (b *bench) start(name string, args ...string) (*process, error) {
	log, err := os.CreateTemp(b.dir, "log-")
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Env = append(os.Environ(), b.env...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := b.watch(cmd)
	for {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return nil, err
		}
		for _, word := range strings.Fields(string(text)) {
			if strings.HasPrefix(word, "http://") {
				p.url = strings.TrimSuffix(word, "/")
				return p, nil
			}
		}
		select {
		case err := <-p.end:
			return nil, fmt.Errorf("%s did not start: %w: %s", name, err, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return <-p.end
}

// resident returns the memory of a process, in bytes.
func (p *process) resident() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmRSS in /proc")
}

// get sends one request, with headers as in "Accept: text/html", and returns the response and
// its body. A server must not fail.
func get(url string, headers ...string) (*http.Response, []byte, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 500 {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, body)
	}
	return resp, body, err
}
