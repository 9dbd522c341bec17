package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// palmares runs a command to its end, and returns its output and how long it took.
func (b *bench) palmares(binary string, args ...string) (string, time.Duration, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(b.ctx, binary, args...)
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return "", 0, fmt.Errorf("palmares %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), time.Since(start), nil
}

// catalogue generates a catalogue and publishes it. It returns the folder and the database.
func (b *bench) catalogue(name string, tools int) (folder, database string, err error) {
	folder, database = filepath.Join(b.dir, name), "sqlite:"+filepath.Join(b.dir, name+".db")
	_, _, err = b.palmares(b.binary, "generate", folder, "--tools", strconv.Itoa(tools), "--seed", "1")
	if err != nil {
		return "", "", err
	}
	_, _, err = b.palmares(b.binary, "publish", folder, "--database", database)
	return folder, database, err
}

// A process is a running server.
type process struct {
	cmd  *exec.Cmd
	url  string
	log  string // its file
	done chan struct{}
	err  error // how it ended
}

// serve starts a palmares and waits until it is ready.
func (b *bench) serve(binary, database string, args ...string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args = append([]string{"serve", "--listen", address, "--database", database}, args...)
	p, err := b.start(address, binary, args...)
	if err != nil {
		return nil, err
	}
	return p, p.await("/readyz", http.StatusOK)
}

// start starts a program that will listen on an address, with its log in a file.
func (b *bench) start(address, name string, args ...string) (*process, error) {
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
	p := &process{cmd: cmd, url: "http://" + address, log: log.Name(), done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	b.started = append(b.started, p)
	return p, nil
}

// await waits until a path has a status.
func (p *process) await(path string, status int) error {
	for {
		got, err := get(p.url + path)
		if err == nil && got.Status == status {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s did not start: %w", p.cmd.Path, p.err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-p.done
	return p.err
}

// cpu returns the processor time of the process and of those that it has started.
func (p *process) cpu() (time.Duration, error) {
	children, err := os.ReadFile(p.proc(fmt.Sprintf("task/%d/children", p.cmd.Process.Pid)))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, field := range append(strings.Fields(string(children)), strconv.Itoa(p.cmd.Process.Pid)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		own, _, err := cpuTime(pid)
		if err != nil {
			return 0, err
		}
		sum += own
	}
	return sum, nil
}

// memory returns a figure of /proc/PID/status in bytes: VmRSS, the memory of the process now,
// or VmHWM, the most since resetPeak.
func (p *process) memory(name string) (int64, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == name+":" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in %s", name, p.proc("status"))
}

func (p *process) resetPeak() error { return os.WriteFile(p.proc("clear_refs"), []byte("5"), 0o600) }

func (p *process) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name)
}

// A response is what a server sends, without what every server sends in its own way.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

// get sends one request, with headers as in "Accept: text/html". A server must not fail.
func get(url string, headers ...string) (response, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return response{}, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{
		DisableCompression: true, DisableKeepAlives: true, DialContext: dialHere,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // it is ours
	}}
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 500 {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, body)
	}
	for _, name := range []string{"Date", "Connection", "Content-Length"} {
		resp.Header.Del(name)
	}
	return response{resp.StatusCode, resp.Header, body}, err
}
