package assistant_test

import (
	"bufio"
	"context"
	"encoding/json"
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
	bridge := assistant.Bridge{Server: server, Version: "1", Input: &mcp.IOTransport{Reader: inRead, Writer: outWrite}, Log: io.Discard}
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
func asks(t *testing.T, session *mcp.ClientSession, query string) (text string, isError bool) {
	t.Helper()
	arguments, _ := json.Marshal(map[string]string{"query": query})
	params := &mcp.CallToolParams{Name: "search", Arguments: json.RawMessage(arguments)}
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func TestAnInputThatIsNoMessageEndsTheBridgeWithASentence(t *testing.T) {
	for _, line := range []string{"bonjour\n", "{}\n", "5\n"} {
		bridge := assistant.Bridge{Server: "http://127.0.0.1:1", Log: io.Discard, Input: &mcp.IOTransport{
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
	for _, id := range []string{`"id":1,`, `"id":2,`} {
		if !lines.Scan() || !strings.Contains(lines.Text(), id+`"result"`) {
			t.Errorf("%s is %.200s, %v", id, lines.Text(), lines.Err())
		}
	}
}

func TestAServerThatIsAwayIsSaidInASentenceAndAskedAgain(t *testing.T) {
	handler := handlerOf(t, demoCatalogue(), assistant.Config{})
	var isAway atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAway.Load() {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	session := throughBridge(t, server.URL)
	isAway.Store(true)
	for range 2 {
		text, isError := asks(t, session, "transcrire")
		if !isError || !strings.Contains(text, "Le serveur n’a pas répondu") || strings.Contains(text, "EOF") {
			t.Errorf("away: %s", text)
		}
	}
	isAway.Store(false)
	text, isError := asks(t, session, "transcrire une réunion")
	if isError || !strings.Contains(text, "calepin-bavard") {
		t.Errorf("back: %s", text)
	}
}

func TestAnAssistantStartsWhileTheServerIsAway(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close() // nothing listens there any more
	session := throughBridge(t, server.URL)
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 6 {
		t.Errorf("%v, %v", list, err)
	}
	if text := session.InitializeResult().Instructions; !strings.Contains(text, "fetch") {
		t.Errorf("the instructions are %q", text)
	}
	text, isError := asks(t, session, "transcrire")
	if !isError || !strings.Contains(text, "Le serveur n’a pas répondu") {
		t.Errorf("%s", text)
	}
	if text, isError := asks(t, session, strings.Repeat("a", 70_000)); !isError || !strings.Contains(text, "trop longs") {
		t.Errorf("%s", text)
	}
}
