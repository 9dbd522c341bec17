package assistant_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"palmares/internal/assistant"
)

// startBridge runs a bridge to a server until the test ends, and returns its input and output.
func startBridge(t *testing.T, server string) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	bridge := assistant.Bridge{Server: server, Input: &mcp.IOTransport{Reader: inRead, Writer: outWrite}}
	ended := make(chan error)
	go func() { ended <- bridge.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	return in, out
}

// throughBridge opens a session with a server through a bridge.
func throughBridge(t *testing.T, server string) *mcp.ClientSession {
	t.Helper()
	in, out := startBridge(t, server)
	client := mcp.NewClient(&mcp.Implementation{Name: "essai", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// asks calls search and returns the text of the result.
func asks(t *testing.T, session *mcp.ClientSession, query string) (string, error) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]string{"query": query}})
	if err != nil {
		return "", err
	}
	return result.Content[0].(*mcp.TextContent).Text, nil
}

func TestAnInputThatIsNoMessageEndsTheBridgeWithASentence(t *testing.T) {
	for _, line := range []string{"bonjour\n", "{}\n", "5\n"} {
		bridge := assistant.Bridge{Server: "http://127.0.0.1:1", Input: &mcp.IOTransport{
			Reader: io.NopCloser(strings.NewReader(line)), Writer: struct {
				io.Writer
				io.Closer
			}{io.Discard, io.NopCloser(nil)},
		}}
		if err := bridge.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not one JSON-RPC message a line") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestWhatWasAskedBeforeTheInputEndedIsAnswered(t *testing.T) {
	server := httptest.NewServer(handlerOf(t, demoCatalogue(), assistant.Config{}))
	t.Cleanup(server.Close)
	in, out := startBridge(t, server.URL)
	_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"essai","version":"1"}}}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"dictée"}}}`+"\n")
	if err == nil {
		err = in.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var answered string
	for range 2 {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		answered += lines.Text()
	}
	if !strings.Contains(answered, `"id":1,"result"`) || !strings.Contains(answered, `"id":2,"result"`) {
		t.Errorf("the answers are %s", answered)
	}
}

func TestAServerThatIsAwayOrRefusesTheKeyIsSaidInASentenceAndAskedAgain(t *testing.T) {
	handler := handlerOf(t, demoCatalogue(), assistant.Config{})
	var refuse atomic.Pointer[http.HandlerFunc]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal := refuse.Load(); refusal != nil {
			(*refusal)(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	session := throughBridge(t, server.URL)
	for name, refusal := range map[string]http.HandlerFunc{
		"away":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"refused":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error": {}}`, http.StatusUnauthorized) },
		"another site": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") },
	} {
		refuse.Store(&refusal)
		for range 2 {
			_, err := asks(t, session, "transcrire")
			if err == nil || !strings.Contains(err.Error(), "n’a pas répondu") || strings.Contains(err.Error(), "EOF") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	refuse.Store(nil)
	if text, err := asks(t, session, "transcrire une réunion"); err != nil || !strings.Contains(text, "calepin-bavard") {
		t.Errorf("back: %s, %v", text, err)
	}
	if _, err := asks(t, session, strings.Repeat("a", 70_000)); err == nil || !strings.Contains(err.Error(), "trop long") {
		t.Errorf("a long call: %v", err)
	}
}
