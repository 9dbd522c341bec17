package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Bridge offers the tools of a server to an assistant that starts a program instead of sending
// requests. It also passes calls on to a server that was away.
type Bridge struct {
	Server  string // URL without a final slash
	Key     string // API key; "" for none
	Version string // of the program
	Input   mcp.Transport
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
	if err := local.Run(ctx, patient{b.Input}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the input is not one JSON-RPC message a line: %w", err)
	}
	return ctx.Err()
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

// patient is a transport whose input ends when everything that was asked is answered: the SDK forgets
// what is not by then.
type patient struct{ mcp.Transport }

// Connect connects the transport.
func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := p.Transport.Connect(ctx)
	return &patientConnection{Connection: conn}, err
}

type patientConnection struct {
	mcp.Connection
	open sync.WaitGroup // calls without a response
}

// Read reads a message.
func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		c.open.Add(1)
	}
	if err == nil {
		return message, nil
	}
	answered := make(chan struct{})
	go func() { c.open.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-ctx.Done():
	case <-time.After(bridgeTimeout): // a call that was cancelled has no response
	}
	return nil, err
}

// Write writes a message.
func (c *patientConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok && response.ID.IsValid() {
		c.open.Done()
	}
	return err
}

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
