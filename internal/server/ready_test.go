package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/account"
	"palmares/internal/web"
)

// askThrice sends a request three times and returns the answers without what differs each
// time.
func askThrice(t *testing.T, url string, headers map[string]string) (all []string) {
	t.Helper()
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		var b strings.Builder
		fmt.Fprintln(&b, resp.Status)
		for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
			switch name {
			case "Date", "X-Ratelimit-Remaining", "Ratelimit":
				fmt.Fprintln(&b, name)
			default:
				fmt.Fprintln(&b, name, resp.Header[name])
			}
		}
		fmt.Fprintf(&b, "%x", body)
		all = append(all, b.String())
	}
	return all
}

// run serves a handler until the end of the test, and returns where.
func run(t *testing.T, handler http.Handler, front func(string) bool) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		ran <- Run(ctx, listener, handler, Options{Limit: NewConnections(10), Front: front}, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func TestCachedResponsesAreSentAsTheFirstInBothLanes(t *testing.T) {
	inLanes := map[string][]string{}
	inBothLanes(t, func(t *testing.T, front func(string) bool) {
		n := start(t, http.NotFoundHandler())
		developer, pro := "Bearer "+n.issue(nil), "Bearer "+n.issue(func(k *account.Key) { k.Plan, k.AccountID = account.Pro, "acc_pro" })
		_, header, _ := n.get("/api/v1/tools/a")
		tag := strings.Replace(header.Get("ETag"), "-gzip", "", 1)
		address := run(t, n.handler, front)
		for _, path := range []string{"/api/v1/tools", "/api/v1/tools?limit=1&sort=name_asc", "/api/v1/tools/a", "/api/v1/categories", "/api/v1/openapi.json", "/api/v1/tools/b", "/api/v1/tools?limit=0", "/api/v1/tools/inconnu", "/api/v1/inconnu"} {
			for i, headers := range []map[string]string{
				{"Accept-Encoding": "identity"},
				{"Accept-Encoding": "br", "If-None-Match": "*"},
				{"Accept-Encoding": "gzip", "Authorization": developer},
				{"Accept-Encoding": "identity", "Authorization": pro},
				{"Accept-Encoding": "identity", "Authorization": pro, "If-None-Match": tag},
				{"Accept-Encoding": "identity", "Authorization": "Bearer x"},
			} {
				got := askThrice(t, "http://"+address+path, headers)
				if got[1] != got[0] || got[2] != got[0] {
					t.Errorf("%s %v: first\n%s\nand then\n%s\n%s", path, headers, got[0], got[1], got[2])
				}
				what := fmt.Sprint(path, i)
				if inLanes[what] = append(inLanes[what], got[2]); len(inLanes[what]) == 2 && inLanes[what][0] != inLanes[what][1] {
					t.Errorf("%s: net/http\n%s\nfront lane\n%s", what, inLanes[what][0], inLanes[what][1])
				}
			}
		}
	})
}

func TestHeadersOfCachedResponsesStayWithTheirResponses(t *testing.T) {
	inBothLanes(t, func(t *testing.T, front func(string) bool) {
		c := call(t, run(t, start(t, http.NotFoundHandler()).handler, front))
		const one, other = "/api/v1/tools/a", "/api/v1/categories"
		all := []struct{ method, path, proto string }{
			{"GET", one, "1.1"},
			{"GET", one, "1.1"},
			{"GET", one, "1.1"},
			{"GET", other, "1.1"},
			{"GET", other, "1.1"},
			{"GET", other, "1.1"},
			{"HEAD", one, "1.1"},
			{"GET", "/autre", "1.1"},
			{"GET", one, "1.1"},
			{"GET", other, "1.0"},
		}
		var requests strings.Builder
		for _, r := range all { // all at once, on one connection
			fmt.Fprintf(&requests, "%s %s HTTP/%s\r\nHost: x\r\n\r\n", r.method, r.path, r.proto)
		}
		if _, err := io.WriteString(c.conn, requests.String()); err != nil {
			t.Fatal(err)
		}
		first := map[string]string{}
		for i, r := range all {
			resp, err := http.ReadResponse(c.in, &http.Request{Method: r.method})
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(resp.StatusCode, resp.Header["Etag"], resp.Header["Content-Type"], resp.Header["Vary"], resp.ContentLength)
			if first[r.path] == "" {
				first[r.path] = got
			}
			if got != first[r.path] || (len(body) == 0) != (r.method == "HEAD") {
				t.Errorf("answer %d, to %v: %s with %d bytes, first %s", i, r, got, len(body), first[r.path])
			}
		}
		if first[one] == first[other] {
			t.Error("two answers are the same")
		}
	})
}

func TestReadyResponsesOfAnyLengthAreSentWhole(t *testing.T) {
	lengths := []int{0, 1, 2048, 2049, 3800, 4096, 5000, 200_000, 1}
	text := bytes.Repeat([]byte("0123456789\r\n\r\n"), 20_000)
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Length", r.URL.Path[1:])
		w.(web.ReadyWriter).WriteReady(200, []byte("Content-Type: text/plain\r\nX-Line: "+r.URL.Path[1:]+"\r\n"), text[:n])
	})
	c := call(t, run(t, start(t, site).handler, func(string) bool { return true }))
	var requests strings.Builder
	for _, n := range lengths {
		fmt.Fprintf(&requests, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", n)
	}
	if _, err := io.WriteString(c.conn, requests.String()); err != nil {
		t.Fatal(err)
	}
	for _, n := range lengths {
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		want := []string{strconv.Itoa(n)}
		if err != nil || !bytes.Equal(body, text[:n]) || resp.ContentLength != int64(n) ||
			!slices.Equal(resp.Header["X-Line"], want) || !slices.Equal(resp.Header["X-Length"], want) ||
			!slices.Equal(resp.Header["Content-Type"], []string{"text/plain"}) {
			t.Fatalf("%d: %d bytes, %v, %v", n, len(body), resp.Header, err)
		}
	}
}
