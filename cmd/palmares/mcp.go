package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"palmares/internal/assistant"
	"palmares/internal/wire"
)

type mcpCommand struct {
	Server baseURL `help:"The server of Palmarès to ask, with the API key in PALMARES_KEY if there is one." default:"http://localhost:8080" env:"PALMARES_SERVER" placeholder:"URL"`
}

// mcpTimeout is for one request to the server.
const mcpTimeout = 30 * time.Second

// Run offers the tools of a server on standard input and output until the input ends.
func (c *mcpCommand) Run(inv *invocation) error {
	r := &relay{server: c.Server}
	defer r.close()
	instructions, tools, err := r.offer(inv.ctx)
	if err != nil {
		_, _ = fmt.Fprintf(inv.stderr, "%s does not answer, calls will ask it again: %v; check --server and PALMARES_KEY\n", c.Server, err)
		instructions, tools = assistant.Instructions, assistant.Tools()
	}
	local := mcp.NewServer(&mcp.Implementation{Name: "palmares", Title: "Palmarès", Version: version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, tool := range tools {
		local.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return r.call(ctx, inv.ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	out := &lockedWriter{to: inv.stdout}
	return local.Run(inv.ctx, &mcp.IOTransport{Reader: newMessages(os.Stdin, out), Writer: out})
}

// A relay passes calls on to a server, also to one that was away.
type relay struct {
	server  baseURL
	mu      sync.Mutex
	session *mcp.ClientSession // nil until the next call
}

// open returns the session with the server, which lasts as long as the context.
func (r *relay) open(ctx context.Context) (*mcp.ClientSession, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil {
		return r.session, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "palmares-mcp", Version: version}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: string(r.server) + "/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Timeout: mcpTimeout, Transport: keyed{os.Getenv("PALMARES_KEY"), http.DefaultTransport}},
	}, nil)
	if err == nil {
		r.session = session
	}
	return session, err
}

// offer returns the instructions and the tools of the server.
func (r *relay) offer(ctx context.Context) (instructions string, tools []*mcp.Tool, err error) {
	session, err := r.open(ctx)
	if err != nil {
		return "", nil, err
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			r.close()
			return "", nil, err
		}
		tools = append(tools, tool)
	}
	return session.InitializeResult().Instructions, tools, nil
}

func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != nil {
		_ = r.session.Close() // nothing is kept there
		r.session = nil
	}
}

// call calls a tool of the server. If the server does not answer, the result says so.
func (r *relay) call(ctx, lasting context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if arguments, ok := params.Arguments.(json.RawMessage); ok && len(arguments) > assistant.MaxArguments {
		return r.failed("Les arguments de cet appel sont trop longs\u00a0: une requête a 64 Kio au plus."), nil
	}
	session, err := r.open(lasting)
	var result *mcp.CallToolResult
	if err == nil {
		result, err = session.CallTool(ctx, params)
	}
	// The SDK also has errors of this type for what never reached the server.
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok && refused.Code == jsonrpc.CodeInvalidParams {
		return nil, refused
	}
	if err != nil {
		r.close()
		return r.failed("Le serveur n’a pas répondu à cet appel\u00a0: il est injoignable, ou refuse la clé de PALMARES_KEY. Réessayez dans un moment."), nil
	}
	if result.StructuredContent != nil && len(result.Content) == 1 {
		if text, ok := result.Content[0].(*mcp.TextContent); ok && json.Valid([]byte(text.Text)) {
			result.StructuredContent = json.RawMessage(text.Text) // the same, in its own order
		}
	}
	return result, nil
}

// failed returns the result of a call that went wrong, as the server says it.
func (r *relay) failed(sentence string) *mcp.CallToolResult {
	text := wire.AppendJSON(nil, map[string]string{"error": sentence, "url": string(r.server)})
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}
}

// maxMessage is the length of the longest line of standard input that is read.
const maxMessage = 1 << 20

// messages are the lines of a reader that are JSON-RPC messages. Others are answered here:
// they would end the session.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	line []byte // the rest of the current message
}

func newMessages(in io.Reader, out io.Writer) *messages {
	return &messages{in: bufio.NewReaderSize(in, maxMessage), out: out}
}

// Read reads messages, each with its line end.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.line) == 0 {
		line, err := m.in.ReadSlice('\n')
		isLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = m.in.ReadSlice('\n')
		}
		if text := bytes.TrimSpace(line); isLong || len(text) > 0 && !json.Valid(text) {
			m.refuse(jsonrpc.CodeParseError, "Parse error: expected one JSON-RPC message a line")
		} else if _, wrong := jsonrpc.DecodeMessage(text); len(text) > 0 && wrong != nil {
			m.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: expected a JSON-RPC message")
		} else if len(text) > 0 {
			m.line = append(slices.Clone(text), '\n')
			break
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, m.line)
	m.line = m.line[n:]
	return n, nil
}

// refuse answers what is not a message.
func (m *messages) refuse(code int64, text string) {
	_, _ = fmt.Fprintf(m.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, text) // the SDK notices a closed output
}

// Close does nothing: the process ends.
func (m *messages) Close() error { return nil }

// lockedWriter is a writer for several goroutines, each with whole lines, that the SDK does
// not close.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes a line.
func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// Close does nothing.
func (w *lockedWriter) Close() error { return nil }

// keyed adds an API key to requests.
type keyed struct {
	key string
	to  http.RoundTripper
}

// RoundTrip sends a request.
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	return k.to.RoundTrip(r)
}
