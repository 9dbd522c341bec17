package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startBare starts this program as the bare handler.
func (b *bench) startBare(a answer) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, "answer.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	return b.start(self, "-bare", file)
}

// serveBare is the simplest Go server: it sends one answer, which is in a file, to every
// request. As the whole server does, it lets 64 MiB of garbage accumulate: with the default
// of Go, a program with so little in memory collects garbage hundreds of times a second, and
// looks slower than it is.
func serveBare(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	debug.SetGCPercent(1600)
	names := slices.Sorted(maps.Keys(a.Header))
	values := make([][]string, len(names))
	for i, name := range names {
		values[i] = a.Header[name]
	}
	hasBody := a.Status != http.StatusNotModified
	length := []string{strconv.Itoa(len(a.Body))}
	handler := func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for i, name := range names {
			h[name] = values[i]
		}
		if hasBody {
			h["Content-Length"] = length
		}
		w.WriteHeader(a.Status)
		if hasBody {
			_, _ = w.Write(a.Body)
		}
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "http://%s\n", listener.Addr())
	srv := &http.Server{Handler: http.HandlerFunc(handler)}
	go func() { <-ctx.Done(); srv.Close() }()
	if err := srv.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// nginxConfig serves one file to every request, without a log.
const nginxConfig = `daemon off;
worker_processes auto;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 2048; }
http {
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	access_log off; sendfile on; tcp_nopush on; etag off; keepalive_requests 1000000000;
	open_file_cache max=10;
	types {} default_type "%[2]s";
	server {
		listen %[3]s;
		if_modified_since off; max_ranges 0;
		%[4]s
		location / { %[5]s }
	}
}
`

// startNginx starts nginx with one answer.
func (b *bench) startNginx(a answer) (*process, error) {
	dir, err := os.MkdirTemp(b.dir, "nginx-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(b.dir, 0o755); err != nil { // its workers are another user's
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "body")
	if err := os.WriteFile(file, a.Body, 0o644); err != nil { //nolint:gosec // for its workers
		return nil, err
	}
	var headers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		for _, v := range a.Header[name] {
			if name != "Content-Type" && name != "Last-Modified" {
				fmt.Fprintf(&headers, "add_header %s %q always;\n\t\t", name, v)
			}
		}
	}
	serve := fmt.Sprintf("root %s; try_files /body =500;", dir)
	switch a.Status {
	case http.StatusNotModified:
		serve = "return 304;"
	case http.StatusNotFound:
		serve = "return 404; error_page 404 /body; location = /body { internal; root " + dir + "; }"
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(nginxConfig, dir, a.Header.Get("Content-Type"), address, headers.String(), serve)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, "nginx", "-e", filepath.Join(dir, "error.log"), "-c", config)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := b.watch(cmd)
	p.url = "http://" + address
	for deadline := time.Now().Add(10 * time.Second); ; {
		got, err := ask(call{path: p.url + "/"})
		if err == nil && got.Status == a.Status {
			return p, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("nginx does not answer as expected: %d, %v", got.Status, err)
		}
		select {
		case err := <-p.end:
			return nil, fmt.Errorf("nginx did not start: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
