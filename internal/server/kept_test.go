package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"palmares/internal/account"
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

func TestAnswersThatAreKeptAreSentAsTheFirstInBothLanes(t *testing.T) {
	inLanes := map[string][]string{}
	inBothLanes(t, func(t *testing.T, front func(string) bool) {
		n := start(t, http.NotFoundHandler())
		developer, pro := "Bearer "+n.issue(nil), "Bearer "+n.issue(func(k *account.Key) { k.Plan, k.AccountID = account.Pro, "acc_pro" })
		_, header, _ := n.get("/api/v1/tools/a")
		tag := strings.Replace(header.Get("ETag"), "-gzip", "", 1)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() {
			ran <- Run(ctx, listener, n.handler, NewConnections(10), front, slog.New(slog.DiscardHandler))
		}()
		defer func() {
			stop()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		}()
		for _, path := range []string{"/api/v1/tools", "/api/v1/tools?limit=1&sort=name_asc", "/api/v1/tools/a", "/api/v1/categories", "/api/v1/openapi.json", "/api/v1/tools/b", "/api/v1/tools?limit=0"} {
			for i, headers := range []map[string]string{
				{"Accept-Encoding": "identity"},
				{"Accept-Encoding": "br", "If-None-Match": "*"},
				{"Accept-Encoding": "gzip", "Authorization": developer},
				{"Accept-Encoding": "identity", "Authorization": pro},
				{"Accept-Encoding": "identity", "Authorization": pro, "If-None-Match": tag},
				{"Accept-Encoding": "identity", "Authorization": "Bearer x"},
			} {
				got := askThrice(t, "http://"+listener.Addr().String()+path, headers)
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
