package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Bridge offers the tools of a server on an input and an output, for assistants that start
// a program instead of sending requests. It also passes calls on to a server that was away.
type Bridge struct {
	Server  string // URL without a final slash
	Key     string // API key; "" for none
	Version string // of the program
	In      io.Reader
	Out     io.Writer
	Log     io.Writer

	mu      sync.Mutex
	session *mcp.ClientSession // with the server; nil until the next call
}

// bridgeTimeout is for one request to the server.
const bridgeTimeout = 30 * time.Second

// Run returns when the input ends.
func (b *Bridge) Run(ctx context.Context) error {
	defer b.close()
	title, advice, tools, err := b.offer(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(b.Log, "%s does not respond, calls will ask it again: %v; check --server and PALMARES_KEY\n",
			b.Server, err)
		title, advice, tools = defaultTitle, instructionsOf(defaultTitle), definitions()
	}
	local := newServer(title, advice, b.Version)
	for _, tool := range tools {
		local.AddTool(tool, func(call context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return b.call(call, ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	out := &lockedWriter{to: b.Out, answered: make(chan struct{}, 1)}
	in := &messages{in: bufio.NewReaderSize(b.In, maxMessage), out: out}
	return local.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: out})
}

// open returns the session with the server, which lasts as long as the context.
func (b *Bridge) open(ctx context.Context) (*mcp.ClientSession, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != nil {
		return b.session, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "palmares-mcp", Version: b.Version}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: b.Server + "/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Timeout: bridgeTimeout, Transport: keyed{b.Key, http.DefaultTransport}},
	}, nil)
	if err == nil {
		b.session = session
	}
	return session, err
}

// offer returns the title, the instructions and the tools of the server.
func (b *Bridge) offer(ctx context.Context) (title, advice string, tools []*mcp.Tool, err error) {
	session, err := b.open(ctx)
	if err != nil {
		return "", "", nil, err
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			b.close()
			return "", "", nil, err
		}
		tools = append(tools, tool)
	}
	server := session.InitializeResult()
	return server.ServerInfo.Title, server.Instructions, tools, nil
}

func (b *Bridge) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != nil {
		_ = b.session.Close() // nothing is stored there
		b.session = nil
	}
}

// call calls a tool of the server. If the server does not respond, the result says so.
func (b *Bridge) call(ctx, lasting context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if arguments, ok := params.Arguments.(json.RawMessage); ok && len(arguments) > maxArguments {
		return b.failed("Les arguments de cet appel sont trop longs\u00a0: une requête a 64 Kio au plus."), nil
	}
	session, err := b.open(lasting)
	var result *mcp.CallToolResult
	if err == nil {
		result, err = session.CallTool(ctx, params)
	}
	// The SDK also has errors of this type for what never reached the server.
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok && refused.Code == jsonrpc.CodeInvalidParams {
		return nil, refused
	}
	if err != nil {
		b.close()
		return b.failed("Le serveur n’a pas répondu à cet appel\u00a0: il est injoignable, ou refuse la clé de " +
			"PALMARES_KEY. Réessayez dans un moment."), nil
	}
	if result.StructuredContent != nil && len(result.Content) == 1 {
		if text, ok := result.Content[0].(*mcp.TextContent); ok && json.Valid([]byte(text.Text)) {
			result.StructuredContent = json.RawMessage(text.Text) // the same, in its own order
		}
	}
	return result, nil
}

// failed returns the result of a call that went wrong, as the server says it.
func (b *Bridge) failed(sentence string) *mcp.CallToolResult {
	result := structured(map[string]string{"error": sentence, "url": b.Server})
	result.IsError = true
	return result
}

// maxMessage is the length of the longest line of standard input that is read.
const maxMessage = 1 << 20

// messages are the lines of a reader that are JSON-RPC messages. Others are refused here:
// they would end the session.
type messages struct {
	in   *bufio.Reader
	out  *lockedWriter
	line []byte // the rest of the current message
}

// Read reads messages, each with its line end.
func (m *messages) Read(to []byte) (int, error) {
	for len(m.line) == 0 {
		line, err := m.in.ReadSlice('\n')
		isLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = m.in.ReadSlice('\n')
		}
		if text := bytes.TrimSpace(line); isLong || len(text) > 0 && !json.Valid(text) {
			m.refuse(jsonrpc.CodeParseError, "Parse error: expected one JSON-RPC message a line")
		} else if message, wrong := jsonrpc.DecodeMessage(text); len(text) > 0 && wrong != nil {
			m.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: expected a JSON-RPC message")
		} else if len(text) > 0 {
			m.line = append(slices.Clone(text), '\n')
			if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
				m.out.open.Add(1)
			}
			break
		}
		if err != nil {
			m.out.settle()
			return 0, err
		}
	}
	n := copy(to, m.line)
	m.line = m.line[n:]
	return n, nil
}

func (m *messages) refuse(code int64, text string) {
	// The SDK notices a closed output.
	_, _ = fmt.Fprintf(m.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, text)
}

// lockedWriter is a writer for several goroutines, each with whole lines, that the SDK does
// not close.
type lockedWriter struct {
	mu       sync.Mutex
	to       io.Writer
	open     atomic.Int64  // requests without a response
	answered chan struct{} // receives after responses
}

// settle waits for the responses to what was asked before the input ended, which the SDK does not. A request that
// was cancelled has none.
func (w *lockedWriter) settle() {
	late := time.After(bridgeTimeout)
	for w.open.Load() > 0 {
		select {
		case <-w.answered:
		case <-late:
			return
		}
	}
}

// Write writes a line.
func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.to.Write(b)
	message, _ := jsonrpc.DecodeMessage(b)
	if response, ok := message.(*jsonrpc.Response); ok && response.ID.IsValid() {
		w.open.Add(-1)
		select {
		case w.answered <- struct{}{}:
		default:
		}
	}
	return n, err
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
