package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// A bareResponse is what the bare handler sends, and where it listens.
type bareResponse struct {
	Address string
	response
}

// startBare starts this program as the bare handler.
func (b *bench) startBare(r response) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(bareResponse{address, r})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, "bare.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	p, err := b.start(address, self, "-bare", file)
	if err != nil {
		return nil, err
	}
	return p, p.await("/", r.Status)
}

// serveBare is the simplest Go server: it sends one response, which is in a file, to every
// request. As the whole server does, it lets 64 MiB of garbage accumulate: with the default
// of Go, a program with so little in memory collects garbage hundreds of times a second, and
// looks slower than it is.
func serveBare(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r bareResponse
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	debug.SetGCPercent(1600)
	if r.Status != http.StatusNotModified {
		r.Header["Content-Length"] = []string{strconv.Itoa(len(r.Body))}
	}
	srv := &http.Server{Addr: r.Address, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), r.Header)
		w.WriteHeader(r.Status)
		if r.Status != http.StatusNotModified {
			_, _ = w.Write(r.Body)
		}
	})}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
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
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s;
	uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	access_log off; sendfile on; tcp_nopush on; etag off; keepalive_requests 1000000000;
	open_file_cache max=10;
	types {} default_type "%[2]s";
	server {
		%[3]s
		if_modified_since off; max_ranges 0;
		%[4]s
		location / { %[5]s }
	}
}
`

// startNginx starts nginx with one response; over TLS, if it has a certificate.
func (b *bench) startNginx(r response, pair *keyPair) (*process, error) {
	dir, err := os.MkdirTemp(b.dir, "nginx-")
	if err != nil {
		return nil, err
	}
	for _, path := range []string{b.dir, dir} { // its workers are another user's
		if err := os.Chmod(path, 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "body"), r.Body, 0o644); err != nil {
		return nil, err
	}
	var headers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			if name != "Content-Type" && name != "Last-Modified" {
				fmt.Fprintf(&headers, "add_header %s %q always;\n\t\t", name, v)
			}
		}
	}
	location := fmt.Sprintf("root %s; try_files /body =500;", dir)
	switch r.Status {
	case http.StatusNotModified:
		location = "return 304;"
	case http.StatusNotFound:
		location = "return 404; error_page 404 /body; location = /body { internal; root " + dir + "; }"
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config, listen := filepath.Join(dir, "nginx.conf"), "listen "+address+";"
	if pair != nil {
		listen = pair.nginx(address)
	}
	text := fmt.Sprintf(nginxConfig, dir, r.Header.Get("Content-Type"), listen, headers.String(), location)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, err := b.start(address, "nginx", "-e", filepath.Join(dir, "error.log"), "-c", config)
	if err != nil {
		return nil, err
	}
	if pair != nil {
		p.url = secureURL(address)
	}
	return p, p.await("/", r.Status)
}
