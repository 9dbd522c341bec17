package webhook_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"palmares/internal/webhook"
)

// serve starts a receiver on loopback.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// sending makes a dispatcher that sends to loopback.
func sending(t *testing.T) *webhook.Dispatcher {
	t.Helper()
	return dispatcher(t, webhook.Config{Allow: loopback})
}

func TestARequestIsWhatStandardWebhooksSays(t *testing.T) {
	secrets := []string{testSecret, webhook.NewSecret()}
	var got *http.Request
	var body []byte
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	c := claim(server.URL + "/in?token=a%20b")
	c.OldSecret = sealer.Seal(testEndpoint, secrets[1])
	if result := sending(t).Send(t.Context(), c); result.Outcome != webhook.OK || result.Status != 200 {
		t.Fatalf("%+v", result)
	}
	if got.Method != http.MethodPost || got.RequestURI != "/in?token=a%20b" || got.Header.Get("Content-Type") != "application/json" || got.Header.Get("User-Agent") != "Palmares-Webhooks/1" || got.ContentLength != int64(len(testBody)) {
		t.Errorf("%s %s, %v", got.Method, got.RequestURI, got.Header)
	}
	if string(body) != testBody || got.Header.Get("webhook-id") != testEvent {
		t.Errorf("%s: %s", got.Header.Get("webhook-id"), body)
	}
	if n := len(strings.Fields(got.Header.Get("webhook-signature"))); n != 2 {
		t.Errorf("%d signatures", n)
	}
	for _, secret := range secrets {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(body, got.Header); err != nil {
			t.Error(err)
		}
	}
}

func TestOnly2xxIsADelivery(t *testing.T) {
	for status := 200; status < 600; status++ {
		if http.StatusText(status) == "" {
			continue
		}
		server := serve(t, answering(status))
		want := webhook.HTTPStatus
		if status < 300 {
			want = webhook.OK
		}
		if result := sending(t).Send(t.Context(), claim(server.URL)); result.Outcome != want || result.Status != status {
			t.Errorf("%d: %+v", status, result)
		}
	}
}

func TestTheFirst1024BytesOfAnAnswerAreKeptAsText(t *testing.T) {
	for _, c := range []struct{ what, answer, want string }{
		{"a short answer", "merci ✨", "merci ✨"},
		{"nothing", "", ""},
		{"a long answer", strings.Repeat("x", 5000), strings.Repeat("x", 1024)},
		{"an answer cut in a character", strings.Repeat("x", 1023) + "é", strings.Repeat("x", 1023)},
		{"an answer cut in a long character", strings.Repeat("x", 1022) + "🎉", strings.Repeat("x", 1022)},
		{"an answer that just fits", strings.Repeat("x", 1020) + "🎉", strings.Repeat("x", 1020) + "🎉"},
		{"what is no text", "\xff\x00a\xc3", "\uFFFD\uFFFDa\uFFFD"},
		{"nothing but NUL", strings.Repeat("\x00", 2000), strings.Repeat("\uFFFD", 341)},
	} {
		t.Run(c.what, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, c.answer)
			})
			result := sending(t).Send(t.Context(), claim(server.URL))
			if result.Response != c.want || !utf8.ValidString(result.Response) || len(result.Response) > 1024 {
				t.Errorf("kept %d bytes: %q", len(result.Response), result.Response)
			}
		})
	}
}

func TestAnAnswerWithoutAnEndIsReadTo64KiBOnly(t *testing.T) {
	written := make(chan int, 1)
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		total := 0
		for {
			n, err := w.Write(bytes.Repeat([]byte("x"), 32<<10))
			total += n
			if err != nil {
				written <- total
				return
			}
		}
	})
	d := sending(t)
	if result := d.Send(t.Context(), claim(server.URL)); result.Outcome != webhook.OK || len(result.Response) != 1024 {
		t.Errorf("%+v", result)
	}
	// What is more than 64 KiB is what the kernel and the server keep for a reader.
	if total := <-written; total > 32<<20 {
		t.Errorf("%d bytes were taken", total)
	}
}

func TestACompressedAnswerIsNotUnpacked(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("compression was asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "\x1f\x8b not gzip at all")
	})
	if result := sending(t).Send(t.Context(), claim(server.URL)); result.Outcome != webhook.OK || result.Response != "\x1f\uFFFD not gzip at all" {
		t.Errorf("%+v", result)
	}
}

func TestWhatGoesWrongHasAName(t *testing.T) {
	d := sending(t)
	expect := func(what string, d *webhook.Dispatcher, c webhook.Claim, want webhook.Outcome) {
		t.Helper()
		if result := d.Send(t.Context(), c); result.Outcome != want || result.Status != 0 || result.Response != "" {
			t.Errorf("%s: %+v, want %s", what, result, want)
		}
	}

	closed := httptest.NewServer(nil)
	closed.Close()
	expect("nobody listens", d, claim(closed.URL), webhook.Connect)

	for what, says := range map[string]string{
		"a connection that is closed": "",
		"what is not HTTP":            "SSH-2.0-OpenSSH_9.2\r\n",
		"headers without an end":      "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10),
	} {
		expect(what, d, claim("http://"+speaking(t, says)), webhook.Connect)
	}

	secure := httptest.NewUnstartedServer(answering(http.StatusOK))
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	defer secure.Close()
	expect("a certificate of nobody", d, claim(secure.URL), webhook.TLS)
	expect("TLS to a server without", d, claim("https"+strings.TrimPrefix(serve(t, answering(200)).URL, "http")), webhook.TLS)

	old := httptest.NewUnstartedServer(answering(http.StatusOK))
	old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	defer old.Close()
	trusting := sending(t)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	trusting.Trust(roots)
	expect("TLS 1.1", trusting, claim(old.URL), webhook.TLS)
	if result := trusting.Send(t.Context(), claim(secure.URL)); result.Outcome != webhook.OK {
		t.Errorf("a trusted certificate: %+v", result)
	}

	nameless := sending(t)
	nameless.Resolve(startNames(t, nil).resolver)
	expect("a name without an address", nameless, claim("http://nobody.test/"), webhook.Resolve)

	foreign := claim(serve(t, answering(200)).URL)
	foreign.Secret = sealerOf(9).Seal(testEndpoint, testSecret)
	expect("a secret under another key", d, foreign, webhook.Secret)
}

func TestAReceiverThatWantsAnotherProtocolAndFallsSilentDelaysNobody(t *testing.T) {
	for what, says := range map[string]string{
		"an upgrade":            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"101 and nothing more":  "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"101 after other hints": "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			closed := make(chan struct{})
			address := listening(t, func(conn net.Conn) {
				io.WriteString(conn, says)
				io.Copy(io.Discard, conn) // until the other side hangs up
				close(closed)
			})
			result := sending(t).Send(t.Context(), claim("http://"+address))
			if result.Outcome != webhook.HTTPStatus || result.Status != 101 || result.Response != "" {
				t.Errorf("%+v", result)
			}
			<-closed
		})
	}
}

func TestAStatusIsUnderstoodThoughTheRestOfTheAnswerIsCutOff(t *testing.T) {
	for says, want := range map[string]webhook.Result{
		"HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\nadieu":                           {Status: 410, Outcome: webhook.HTTPStatus, Response: "adieu"},
		"HTTP/1.1 503 Later\r\nRetry-After: 120\r\nContent-Length: 100\r\n\r\n":           {Status: 503, Outcome: webhook.HTTPStatus, RetryAfter: 2 * time.Minute},
		"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nadieu\r\nwhat is this": {Status: 500, Outcome: webhook.HTTPStatus, Response: "adieu"},
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nà moi":                             {Status: 200, Outcome: webhook.Connect, Response: "à moi"},
	} {
		got := sending(t).Send(t.Context(), claim("http://"+speaking(t, says)))
		got.At, got.Duration = time.Time{}, 0
		if got != want {
			t.Errorf("%q: %+v, want %+v", says, got, want)
		}
		if v := webhook.Judge(1, got, webhook.DefaultSchedule(), 0); v.Gone != (want.Status == 410) {
			t.Errorf("%q: %+v", says, v)
		}
	}
}

// speaking listens on loopback and says the same to everybody, then hangs up.
func speaking(t *testing.T, says string) (address string) {
	t.Helper()
	return listening(t, func(conn net.Conn) { io.WriteString(conn, says) })
}

// listening listens on loopback and has answer speak to whoever has sent something.
func listening(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 64<<10)) // the request fits
			answer(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return listener.Addr().String()
}

func TestAHandshakeThatDoesNotComeIsGivenUpAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sending(t)
		silent := &receiver{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		d.Dial(silent.dial)
		done := make(chan struct{})
		go func() {
			io.Copy(io.Discard, <-silent.conns)
			close(done)
		}()
		result := d.Send(t.Context(), claim("https://127.0.0.1/"))
		if result.Outcome != webhook.Timeout || result.Duration != 5*time.Second {
			t.Errorf("%+v", result)
		}
		<-done
	})
}
