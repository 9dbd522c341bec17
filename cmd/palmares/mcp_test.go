package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect connects an assistant to the tools of a server.
func connect(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "essai", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// asks calls search and returns the text of the answer.
func asks(t *testing.T, session *mcp.ClientSession, query string) (text string, isError bool) {
	t.Helper()
	arguments, _ := json.Marshal(map[string]string{"query": query})
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func TestAssistantsAskOverHTTPAndStandardInput(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/palmares.db"
	p := serveProcess(t, "--database", database, "--demo", "on", "--mcp-quota", "4")
	overHTTP := connect(t, &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp", DisableStandaloneSSE: true})
	onInput := connect(t, &mcp.CommandTransport{Command: palmares(t.Context(), "mcp", "--server", p.url)})
	for _, session := range []*mcp.ClientSession{overHTTP, onInput} {
		if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 6 {
			t.Errorf("%v, %v", list, err)
		}
		if text := session.InitializeResult().Instructions; !strings.Contains(text, "fetch") {
			t.Errorf("the instructions are %q", text)
		}
		for range 2 {
			if text, isError := asks(t, session, "transcrire une réunion"); isError || !strings.Contains(text, "calepin-bavard") {
				t.Errorf("%s", text)
			}
		}
	}
	for _, session := range []*mcp.ClientSession{overHTTP, onInput} {
		if text, isError := asks(t, session, "transcrire"); !isError || !strings.Contains(text, "reset_at") {
			t.Errorf("after the quota: %s", text)
		}
	}
	must(t, "account", "create", "ada@example.org", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "essai", "--database", database))
	command := palmares(t.Context(), "mcp", "--server", p.url)
	command.Env = append(command.Env, "PALMARES_KEY="+key)
	if text, isError := asks(t, connect(t, &mcp.CommandTransport{Command: command}), "transcrire"); isError {
		t.Errorf("with a key: %s", text)
	}
	resp, body := p.get("/.well-known/api-catalog")
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/linkset+json") || !strings.Contains(body, p.url+"/mcp") {
		t.Errorf("%s %s", resp.Status, body)
	}
	for _, c := range []struct {
		method, path string
		status       int
		header       string
	}{{"OPTIONS", "/.well-known/api-catalog", 204, "Access-Control-Allow-Methods"}, {"POST", "/mcp/", 200, "Access-Control-Allow-Origin"}} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, p.url+c.path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.status || resp.Header.Get(c.header) == "" {
			t.Errorf("%s %s: %s %v", c.method, c.path, resp.Status, resp.Header)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"} {
		if resp, _ := p.get(path); resp.StatusCode != 404 {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if _, body := p.get("/llms.txt"); !strings.Contains(body, p.url+"/mcp") {
		t.Errorf("llms.txt does not mention /mcp: %s", body)
	}
}
