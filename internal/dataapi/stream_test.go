package dataapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/quota"
	"palmares/internal/record"
	"palmares/internal/testkit"
)

// A bubble is a service whose connections are pipes, with the timeouts of the real
// server, in a bubble of synctest: time passes when everything waits.
type bubble struct {
	*service
	client *http.Client
}

func inBubble(t *testing.T, c *catalog.Catalog, meter func(*testing.T) *quota.Meter, test func(*testing.T, *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var m *quota.Meter
		if meter != nil {
			m = meter(t)
		}
		b := &bubble{service: newService(t, c, m)}
		b.url = "http://bubble"
		l := pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
		srv := &http.Server{Handler: b.handler, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
		go func() { _ = srv.Serve(l) }() // until the end of the test
		transport := &http.Transport{DisableCompression: true, DialContext: l.dial}
		b.client = &http.Client{Transport: transport}
		test(t, b)
		transport.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

// pipes is a listener in memory.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (l pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.accepted <- server
	return client, nil
}

func (l pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipes) Close() error { close(l.closed); return nil }

func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

// open sends a request and returns the start of the answer.
func (b *bubble) open(path string, headers ...string) *http.Response {
	b.t.Helper()
	resp, err := b.client.Do(testkit.NewRequest(b.t, "GET", b.url+path, "", headers...))
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// later sends a request whose answer comes later.
func (b *bubble) later(path string, headers ...string) <-chan *http.Response {
	answer := make(chan *http.Response, 1)
	go func() {
		resp, err := b.client.Do(testkit.NewRequest(b.t, "GET", b.url+path, "", headers...))
		if err != nil {
			b.t.Error(err)
			return
		}
		answer <- resp
	}()
	synctest.Wait()
	return answer
}

// now expects that an answer has come, at any time since it was asked for.
func (b *bubble) now(answer <-chan *http.Response) *testkit.Reply {
	b.t.Helper()
	synctest.Wait()
	if len(answer) == 0 {
		b.t.Fatal("the request still waits")
	}
	resp := <-answer
	return b.check(testkit.Read(b.t, resp.Request, resp))
}

// edited is small with another tagline.
func edited(tagline string) *catalog.Catalog {
	c := small()
	c.Tools[0].Tagline = tagline
	return c
}

func TestAWaitingRequestIsAnsweredByTheNextVersionOrInTime(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		begin := time.Now()
		first, second, ofPages := b.later("/data/v1/changes?after=7&wait=30"), b.later("/data/v1/changes?after=7&wait=15", "Authorization: good"), b.later("/data/v1/changes?after=7&wait=30&kind=page", "Authorization: other", "Accept-Encoding: gzip")
		var page changes
		time.Sleep(15 * time.Second) // longer than a request may take to arrive
		if b.now(second).OK().Into(&page); len(page.Data) > 0 || page.Meta.Next != 7 || page.Meta.Version != 1 {
			t.Errorf("after 15 seconds: %+v", page)
		}
		time.Sleep(time.Second)
		if len(first) > 0 || b.streams.Open() != 2 {
			t.Errorf("%d requests wait", b.streams.Open())
		}
		b.publish(edited("Un autre"))
		r := b.now(first).OK()
		if r.Into(&page); len(page.Data) != 1 || page.Data[0].Slug != "a" || page.Meta.Next != 8 || page.Meta.Version != 2 || r.Header.Get("ETag") != "" {
			t.Errorf("after a publication: %v %+v", r.Header, page)
		}
		if r := b.now(ofPages).OK(); r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%v", r.Header) // an answer without rows, as there is a version without any
		}
		if took := time.Since(begin); took != 16*time.Second || b.streams.Open() != 0 {
			t.Errorf("%s, and %d requests wait", took, b.streams.Open())
		}
		begin = time.Now()
		for _, path := range []string{"?after=7&wait=30", "?after=8&wait=0", "?after=8"} { // there is something, or nobody waits
			b.now(b.later("/data/v1/changes" + path)).OK()
		}
		resp, err := b.client.Do(testkit.NewRequest(t, "HEAD", b.url+"/data/v1/changes?after=8&wait=30", ""))
		if err != nil || resp.StatusCode != 200 || time.Since(begin) != 0 {
			t.Errorf("%v, %v, after %s", resp, err, time.Since(begin))
		}
		for _, value := range []string{"31", "-1", "x", ""} {
			b.now(b.later("/data/v1/changes?wait="+value)).Fails(400, "invalid_parameter")
		}
	})
}

func TestWhoWaitsWhileTheDatabaseIsReplacedIsToldSo(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		for code, replace := range map[string]func(){
			"foreign_cursor": func() {
				c := edited("D’une sauvegarde")
				b.show(c, record.First("flux-2", complete(c), 2, published))
			},
			"not_found": func() {
				c := edited("Rien")
				c.Settings.Dataset = catalog.DatasetOff
				b.publish(c)
			},
		} {
			c := small()
			b.show(c, record.First("flux-1", complete(c), 1, published))
			waits := b.later("/data/v1/changes?after=7&wait=30")
			resp := b.open("/data/v1/changes?after=7", "Accept: text/event-stream")
			lines, id := scan(resp), ""
			if e, ok := nextEvent(t, lines, &id); !ok || e.name != "state" {
				t.Errorf("%+v", e)
			}
			replace()
			b.now(waits).Fails(map[string]int{"foreign_cursor": 409, "not_found": 404}[code], code)
			if e, ok := nextEvent(t, lines, &id); !ok || e.name != code || e.id != "7" || !strings.Contains(e.data, `"code":"`+code+`"`) {
				t.Errorf("%+v", e)
			}
			if e, ok := nextEvent(t, lines, &id); ok {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestAtShutdownWaitingRequestsAreAnsweredAndStreamsEnd(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		begin := time.Now()
		waits := b.later("/data/v1/changes?after=7&wait=30")
		resp := b.open("/data/v1/changes?after=7", "Accept: text/event-stream")
		lines, id := scan(resp), ""
		if e, ok := nextEvent(t, lines, &id); !ok || e.name != "state" {
			t.Errorf("%+v", e)
		}
		b.end()
		b.now(waits).OK()
		if e, ok := nextEvent(t, lines, &id); ok {
			t.Errorf("%+v", e)
		}
		b.now(b.later("/data/v1/changes?after=7&wait=30")).OK()
		readEvents(t, b.open("/data/v1/changes", "Accept: text/event-stream"))
		if took := time.Since(begin); took != 0 || b.streams.Open() != 0 {
			t.Errorf("it took %s, and %d are open", took, b.streams.Open())
		}
	})
}

func TestARequestThatWaitsIsCountedBefore(t *testing.T) {
	inBubble(t, small(), almostUsedUp, func(t *testing.T, b *bubble) {
		waits := b.later("/data/v1/changes?after=7&wait=30", "Authorization: good")
		b.now(b.later("/data/v1/changes?after=7", "Authorization: good")).OK().HasHeader("X-RateLimit-Remaining", "1")
		b.publish(edited("Un autre"))
		b.now(waits).OK().HasHeader("X-RateLimit-Remaining", "2")
		stream := b.open("/data/v1/changes", "Authorization: good", "Accept: text/event-stream")
		if stream.Header.Get("X-RateLimit-Remaining") != "0" || stream.Header.Get("CDN-Cache-Control") != "no-store" {
			t.Errorf("%v", stream.Header)
		}
		b.now(b.later("/data/v1/changes?after=8&wait=30", "Authorization: good")).Fails(429, "quota_exceeded")
		b.now(b.later("/data/v1/changes", "Authorization: good", "Accept: text/event-stream")).Fails(429, "quota_exceeded")
		if b.streams.Open() != 1 {
			t.Errorf("%d requests are held open", b.streams.Open())
		}
		stream.Body.Close()
	})
}

func TestACallerHasTwoStreamsAndAllTogetherHaveALimit(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		const path = "/data/v1/changes?after=7&wait=30"
		first := b.later(path)
		stream := b.open("/data/v1/changes?after=7", "Accept: text/event-stream")
		for range 2 {
			b.now(b.later(path)).Fails(429, "too_many_streams").HasHeader("Retry-After", "30")
			b.now(b.later(path, "Accept: text/event-stream")).Fails(429, "too_many_streams")
		}
		b.now(b.later("/data/v1/changes?after=7")).OK() // does not wait
		others := []<-chan *http.Response{b.later(path, "Authorization: good"), b.later(path, "Authorization: good"), b.later(path, "Authorization: other")}
		b.now(b.later(path, "Authorization: pro")).Fails(503, "unavailable", "Trop de lecteurs").HasHeader("Retry-After", "5")
		stream.Body.Close()
		synctest.Wait()
		again := b.later(path)
		if b.streams.Open() != 5 {
			t.Errorf("%d are open", b.streams.Open())
		}
		b.publish(edited("Un autre"))
		for _, reply := range append(others, first, again) {
			b.now(reply).OK()
		}
		if b.streams.Open() != 0 {
			t.Errorf("%d are open", b.streams.Open())
		}
	})
}

// An event is one of a stream as a browser sees it: without an id of its own it has the
// last one.
type event struct{ name, id, data string }

// nextEvent reads an event, or the end. Comments are events without data.
func nextEvent(t *testing.T, lines *bufio.Scanner, id *string) (e event, ok bool) {
	t.Helper()
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			*id = value
		case "data":
			e.data = value
		case "retry":
			if value != "5000" {
				t.Errorf("retry: %s", value)
			}
		case ":":
			e.name = "comment"
		case "":
			if e.id = *id; e.name != "" {
				return e, true
			}
		default:
			t.Errorf("the line %q", lines.Text())
		}
	}
	if lines.Err() != nil {
		t.Errorf("the stream broke: %v", lines.Err())
	}
	return e, false
}

// readEvents reads a stream to its end.
func readEvents(t *testing.T, resp *http.Response) (events []event) {
	t.Helper()
	lines, id := scan(resp), ""
	for {
		e, ok := nextEvent(t, lines, &id)
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

func scan(resp *http.Response) *bufio.Scanner {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	return lines
}

func TestAStreamHasEveryChangeAndTheState(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		resp := b.open("/data/v1/changes?limit=1&wait=5", "Accept: text/event-stream")
		r := &testkit.Reply{T: t, Request: resp.Request, Status: resp.StatusCode, Header: resp.Header}
		b.check(r).HasHeader("Content-Type", "text/event-stream").HasHeader("X-Accel-Buffering", "no")
		lines, id := scan(resp), ""
		read := func(name string, position int) (data string) {
			t.Helper()
			e, ok := nextEvent(t, lines, &id)
			if !ok || e.name != name || e.id != fmt.Sprint(position) {
				t.Fatalf("%+v; want %s at %d", e, name, position)
			}
			return e.data
		}
		var page changes
		b.now(b.later("/data/v1/changes")).OK().Into(&page)
		for i := range 7 {
			var row, want change
			if err := json.Unmarshal([]byte(read("change", i+1)), &row); err != nil {
				t.Fatal(err)
			}
			if want = page.Data[i]; row.Slug != want.Slug || string(row.Record) != string(want.Record) || *row.Hash != *want.Hash {
				t.Errorf("%+v; want %+v", row, want)
			}
		}
		meta := fmt.Sprintf(`{"feed":"flux-1","next":7,"last":7,"more":false,"version":1,"state":"%s"}`, page.Meta.State)
		if got := read("state", 7); got != meta {
			t.Errorf("%s; want %s", got, meta)
		}
		begin := time.Now()
		read("comment", 7)
		b.publish(edited("Un autre"))
		read("change", 8)
		read("state", 8)
		read("comment", 8)
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("two comments in %s", took)
		}
		comments := 2
		for {
			e, ok := nextEvent(t, lines, &id)
			if !ok {
				break
			}
			if comments++; e.name != "comment" {
				t.Errorf("%+v", e)
			}
		}
		if took := time.Since(begin); took != 15*time.Minute || comments < 58 {
			t.Errorf("it ended after %s and %d comments", took, comments)
		}
	})
}

func TestAStreamResumesAfterTheLastEvent(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		first := func(path string, headers ...string) string {
			t.Helper()
			resp := b.open(path, append(headers, "Accept: text/event-stream")...)
			defer resp.Body.Close()
			id := ""
			e, _ := nextEvent(t, scan(resp), &id)
			return e.name + " " + e.id
		}
		for want, request := range map[string][]string{
			"change 1": {"/data/v1/changes"},
			"change 4": {"/data/v1/changes?after=3"},
			"change 6": {"/data/v1/changes?after=3", "Last-Event-ID: 5"},
			"state 7":  {"/data/v1/changes?after=99", "Last-Event-ID: 7"},
			"change 7": {"/data/v1/changes?kind=catalogue&feed=flux-1"},
			"change 5": {"/data/v1/changes?kind=cimetiere", "Last-Event-ID: "},
		} {
			if got := first(request[0], request[1:]...); got != want {
				t.Errorf("%v: %s; want %s", request, got, want)
			}
			synctest.Wait()
		}
		for _, id := range []string{"x", "-1", "1.5", "9007199254740992", " ,"} {
			b.now(b.later("/data/v1/changes", "Accept: text/event-stream", "Last-Event-ID: "+id)).Fails(400, "invalid_parameter")
		}
		b.now(b.later("/data/v1/changes", "Accept: text/event-stream", "Last-Event-ID: 8")).Fails(409, "foreign_cursor")
		b.now(b.later("/data/v1/changes?feed=autre", "Accept: text/event-stream")).Fails(409, "foreign_cursor")
		b.now(b.later("/data/v1/changes?limit=0", "Accept: text/event-stream")).Fails(400, "invalid_parameter")
		b.now(b.later("/data/v1/changes", "Last-Event-ID: x")).OK() // only streams have events
		head, err := b.client.Do(testkit.NewRequest(t, "HEAD", b.url+"/data/v1/changes", "", "Accept: text/event-stream"))
		if err != nil || head.StatusCode != 200 || head.Header.Get("Content-Type") != "text/event-stream" || b.streams.Open() != 0 {
			t.Errorf("%v, %v; %d are open", head, err, b.streams.Open())
		}
	})
}

func TestAReaderThatStopsReadingIsCutOff(t *testing.T) {
	c := small()
	for i := range c.Tools {
		c.Tools[i].Body = strings.Repeat("Un avis long.\n", 50_000)
	}
	inBubble(t, c, nil, func(t *testing.T, b *bubble) {
		begin := time.Now()
		stuck := b.open("/data/v1/changes", "Accept: text/event-stream")
		synctest.Wait()
		if b.streams.Open() != 1 {
			t.Errorf("%d are open", b.streams.Open())
		}
		for b.streams.Open() > 0 && time.Since(begin) < time.Hour {
			time.Sleep(time.Second)
		}
		if took := time.Since(begin); took > 61*time.Second {
			t.Errorf("a stuck reader was cut off after %s", took)
		}
		stuck.Body.Close()
		slow := b.open("/data/v1/changes", "Accept: text/event-stream")
		lines, id, read := scan(slow), "", 0
		for read < 7 { // a page in less than the limit, all of them in more
			time.Sleep(20 * time.Second)
			e, ok := nextEvent(t, lines, &id)
			if !ok {
				t.Fatalf("a slow reader was cut off after %d changes", read)
			}
			if e.name == "change" {
				read++
			}
		}
		slow.Body.Close()
		synctest.Wait()
		begin = time.Now()
		stuck = b.open("/data/v1/changes", "Accept: text/event-stream")
		b.end()
		for b.streams.Open() > 0 {
			time.Sleep(time.Second)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("a stuck reader delays the end by %s", took)
		}
		stuck.Body.Close()
	})
}

func TestAcceptChoosesBetweenJSONAndEvents(t *testing.T) {
	inBubble(t, small(), nil, func(t *testing.T, b *bubble) {
		for accept, want := range map[string]string{
			"text/event-stream": "text/event-stream", "Text/Event-Stream; charset=utf-8": "text/event-stream",
			"text/event-stream, */*": "text/event-stream", "text/event-stream;q=0.9, application/json;q=0.8": "text/event-stream",
			"text/event-stream;q=0.1": "text/event-stream", "text/html, text/event-stream, application/*;q=0.5": "text/event-stream",
			"*/*": "application/json", "text/*": "application/json", "application/json": "application/json", "": "application/json",
			"application/json, text/event-stream": "application/json", "text/event-stream;q=0": "application/json", "text/event-stream;q=0, */*;q=0": "application/json",
			"text/event-stream;q=0.5, */*": "application/json", "text/event-stream;q=x": "application/json", "text/event-streams": "application/json", ";;,,q": "application/json",
		} {
			resp := b.open("/data/v1/changes?after=7", "Accept: "+accept)
			if got := resp.Header.Get("Content-Type"); got != want {
				t.Errorf("Accept: %s is answered with %s", accept, got)
			}
			resp.Body.Close()
			synctest.Wait()
		}
	})
}
