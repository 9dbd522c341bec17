package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"palmares/internal/testkit"
	"palmares/internal/webhook"
)

// A receiver is a customer's server on loopback. It accepts a request only if the
// official library verifies it, and remembers it.
type receiver struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	secret  string
	answer  func() (status int, body string)
	taken   []taken
	stopped chan struct{} // closed when the test ends, for answers that hang
}

// taken is a verified request.
type taken struct {
	id, signatures, body string
	header               http.Header
	accepted             bool // it was answered with 2xx
}

// What a receiver may do instead of answering.
const (
	hang  = -1
	reset = -2
)

func accept() (status int, body string) { return http.StatusOK, "" }

// flaky fails three times in ten, in one of several ways.
func flaky() (status int, body string) {
	if rand.Float64() < 0.7 {
		return accept()
	}
	return []int{http.StatusInternalServerError, http.StatusServiceUnavailable, reset}[rand.IntN(3)], "plus tard"
}

func hanging() (status int, body string) { return hang, "" }

func newReceiver(t *testing.T, answer func() (int, string)) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer, stopped: make(chan struct{})}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		close(r.stopped)
		server.Close()
	})
	r.url = server.URL + "/hooks"
	return r
}

// add registers it as an endpoint of an account, with the operator's command.
func (r *receiver) add(email, database string, options ...string) {
	r.t.Helper()
	secret := strings.TrimSpace(must(r.t, append([]string{"webhook", "add", email, r.url, "--webhook-allow", "127.0.0.0/8", "--database", database}, options...)...))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender died
	}
	r.mu.Lock()
	secret, answer := r.secret, r.answer
	r.mu.Unlock()
	if err := genuine(secret, req.Header, body); err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s %s %v is not genuine: %v\n%s", req.Method, req.URL, req.Header, err, body)
		return
	}
	status, text := answer()
	r.mu.Lock()
	r.taken = append(r.taken, taken{
		id: req.Header.Get("webhook-id"), signatures: req.Header.Get("webhook-signature"), body: string(body), header: req.Header, accepted: status/100 == 2,
	})
	r.mu.Unlock()
	switch status {
	case hang:
		select {
		case <-req.Context().Done():
		case <-r.stopped:
		}
	case reset:
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the sender may be dead
	}
}

// genuine verifies a request with the official library.
func genuine(secret string, header http.Header, body []byte) error {
	library, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return library.Verify(body, header)
}

// all returns the requests so far.
func (r *receiver) all() []taken {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken[:len(r.taken):len(r.taken)]
}

// until waits for the n-th request and returns all of them.
func (r *receiver) until(n int) []taken {
	r.t.Helper()
	testkit.Until(r.t, fmt.Sprintf("request %d", n), func() bool { return len(r.all()) >= n })
	return r.all()
}

// A subscriber is a Pro customer with one endpoint, and a server that sends to it.
type subscriber struct {
	*receiver
	server   *process
	database string
	key      string // as a header
	endpoint string // its path in the management API
}

func subscribe(t *testing.T, database string) *subscriber {
	t.Helper()
	s := &subscriber{receiver: newReceiver(t, accept), database: database, key: customer(t, database, "ada@example.org", "pro", 1)[0]}
	s.add("ada@example.org", database)
	s.server = serveProcess(t, "--database", database, "--quota", "off", "--webhook-allow", "127.0.0.0/8")
	id := firstID(t, "webhook", "list", "ada@example.org", "--database", database)
	s.endpoint = "/webhooks/v1/endpoints/" + id
	return s
}

// call sends a request to the management API, expects a status, and decodes the
// answer.
func (s *subscriber) call(method, path, body string, status int, into any) {
	s.t.Helper()
	got, answer := s.ask(method, path, body)
	if got != status {
		s.t.Fatalf("%s %s: %d %s", method, path, got, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		s.t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
}

func (s *subscriber) ask(method, path, body string) (status int, answer []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	name, value, _ := strings.Cut(s.key, ": ")
	req.Header.Set(name, value)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// A logged is a delivery as the management API shows it.
type logged struct {
	ID       string
	EventID  string `json:"event_id"`
	Type     string
	Origin   string
	State    webhook.DeliveryState
	Attempts []struct {
		Status   int
		Duration *int `json:"duration_ms"`
		Outcome  webhook.Outcome
		Response string
	}
	Body string
}

// deliveriesDone returns the delivery log once nothing is pending.
func (s *subscriber) deliveriesDone() []logged {
	s.t.Helper()
	var page struct{ Data []logged }
	testkit.Until(s.t, "the last delivery", func() bool {
		page.Data = nil
		s.call("GET", s.endpoint+"/deliveries?limit=200", "", 200, &page)
		return !slices.ContainsFunc(page.Data, func(d logged) bool { return d.State == webhook.Pending })
	})
	return page.Data
}

// ping has a ping sent, and returns its delivery after the first attempt.
func (s *subscriber) ping() logged {
	s.t.Helper()
	var d logged
	s.call("POST", s.endpoint+"/ping", "", 202, &d)
	testkit.Until(s.t, "an attempt", func() bool {
		s.call("GET", "/webhooks/v1/deliveries/"+d.ID, "", 200, &d)
		return len(d.Attempts) > 0
	})
	return d
}

// events returns all events, as the management API lists them.
func (s *subscriber) events() []string {
	s.t.Helper()
	var page struct{ Data []json.RawMessage }
	s.call("GET", "/webhooks/v1/events?limit=200", "", 200, &page)
	events := make([]string, len(page.Data))
	for i, e := range page.Data {
		events[i] = string(e)
	}
	return events
}

// got returns the bodies of all requests, sorted.
func (r *receiver) got() []string {
	var all []string
	for _, q := range r.all() {
		all = append(all, q.body)
	}
	slices.Sort(all)
	return all
}
