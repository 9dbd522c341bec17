package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type mcpCommand struct {
	Server baseURL `help:"The server of Palmarès to ask, with the API key in PALMARES_KEY if there is one." default:"http://localhost:8080" env:"PALMARES_SERVER" placeholder:"URL"`
}

// mcpTimeout is for one request to the server.
const mcpTimeout = 30 * time.Second

// Run offers the tools of a server on standard input and output until the input ends.
func (c *mcpCommand) Run(inv *invocation) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "palmares-mcp", Version: version}, nil)
	remote, err := client.Connect(inv.ctx, &mcp.StreamableClientTransport{
		Endpoint: string(c.Server) + "/mcp", DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Timeout: mcpTimeout, Transport: keyed{os.Getenv("PALMARES_KEY"), http.DefaultTransport}},
	}, nil)
	if err != nil {
		return fmt.Errorf("%s does not offer its tools: %w; check --server and PALMARES_KEY", c.Server, err)
	}
	defer remote.Close()
	offered := remote.InitializeResult()
	local := mcp.NewServer(&mcp.Implementation{Name: "palmares", Title: "Palmarès", Version: version}, &mcp.ServerOptions{
		Instructions: offered.Instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for tool, err := range remote.Tools(inv.ctx, nil) {
		if err != nil {
			return fmt.Errorf("could not read the tools of %s: %w", c.Server, err)
		}
		local.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := remote.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
			if err != nil {
				return nil, err
			}
			if result.StructuredContent != nil && len(result.Content) == 1 {
				if text, ok := result.Content[0].(*mcp.TextContent); ok && json.Valid([]byte(text.Text)) {
					result.StructuredContent = json.RawMessage(text.Text) // the same, in its own order
				}
			}
			return result, nil
		})
	}
	return local.Run(inv.ctx, &mcp.IOTransport{Reader: os.Stdin, Writer: unclosed{inv.stdout}})
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

// unclosed is a writer that the SDK must not close.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
