package assistant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Bridge passes the messages of an assistant that starts a program to a server, and its responses back.
type Bridge struct {
	Server string // URL without a final slash
	Key    string // API key; "" for none
	Input  mcp.Transport
}

// bridgeTimeout is for one request to the server.
const bridgeTimeout = 30 * time.Second

// rejected is the code of the SDK for what the server did not answer in its protocol.
const rejected = -32005

// Run returns when the input has ended and what it asked is answered.
func (b *Bridge) Run(ctx context.Context) error {
	input, err := b.Input.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }() // of which nothing is left
	var passing sync.WaitGroup
	defer passing.Wait()
	for {
		message, err := input.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the input is not one JSON-RPC message a line: %w", err)
		}
		passing.Go(func() {
			// If the output is closed, the input ends, too.
			if response := b.pass(ctx, message); response != nil {
				_ = input.Write(ctx, response)
			}
		})
	}
}

// pass sends a message to the server, in which every request stands alone, and returns the response to a
// call: an error with a sentence if the server does not give one.
func (b *Bridge) pass(ctx context.Context, message jsonrpc.Message) jsonrpc.Message {
	call, isRequest := message.(*jsonrpc.Request)
	if !isRequest || !call.IsCall() {
		_, _ = b.send(ctx, message) // nobody waits for a response
		return nil
	}
	if len(call.Params) > maxBody-2<<10 {
		return failure(call, "Cet appel est trop long\u00a0: une requête a 64 Kio au plus. Raccourcissez ses arguments.")
	}
	response, err := b.send(ctx, message)
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok && refused.Code != rejected {
		return &jsonrpc.Response{ID: call.ID, Error: refused}
	}
	if err != nil {
		return failure(call, "Le serveur "+b.Server+" n’a pas répondu à cet appel\u00a0: il est injoignable, ou refuse "+
			"la clé. Réessayez dans un moment, ou vérifiez --server et PALMARES_KEY.")
	}
	return response
}

// send returns the response to a call, and nil for other messages.
func (b *Bridge) send(ctx context.Context, message jsonrpc.Message) (jsonrpc.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, bridgeTimeout)
	defer cancel()
	transport := mcp.StreamableClientTransport{
		Endpoint: b.Server + Path, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: keyed{b.Key, http.DefaultTransport}},
	}
	server, err := transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }() // nothing is stored there
	if err := server.Write(ctx, message); err != nil {
		return nil, err
	}
	if request, ok := message.(*jsonrpc.Request); !ok || !request.IsCall() {
		return nil, nil
	}
	return server.Read(ctx)
}

// failure returns the response to a call that the server did not answer.
func failure(call *jsonrpc.Request, sentence string) jsonrpc.Message {
	return &jsonrpc.Response{ID: call.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: sentence}}
}

// keyed adds an API key to requests.
type keyed struct {
	key string
	to  http.RoundTripper
}

// RoundTrip sends a request.
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.key != "" && (r.Response == nil || r.Response.Request.URL.Host == r.URL.Host) { // no redirect elsewhere
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	return k.to.RoundTrip(r)
}
