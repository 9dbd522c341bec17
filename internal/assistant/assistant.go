// Package assistant is /mcp: the catalogue for assistants, by the Model Context Protocol.
//
// It has six tools that only read, from one Snapshot and from memory. Responses are
// small, because models pay for every word; what a caller did wrong is a sentence in an
// ordinary response, because models read those and correct themselves. The protocol itself
// is the official SDK's. Every request stands alone: there are no sessions.
package assistant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"palmares/internal/clientip"
	"palmares/internal/keyring"
	"palmares/internal/quota"
	"palmares/internal/snapshot"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// Path is where the tools are.
const Path = "/mcp"

// Config is what the tools need from the rest of the server.
type Config struct {
	// Live holds the catalogue that is served, which needs a search index. Required.
	Live *snapshot.Live
	// Callers identifies who sent a request. Required.
	Callers web.Authorizer
	// Meter counts calls of tools: those with a key as under /api, others by themselves; nil
	// if there are no quotas.
	Meter *quota.Meter
	// Quota is how many calls a network without a key has in a day.
	Quota int
	// Places are where calls are served; nil if nobody waits for others.
	Places *web.Places
	// Local says that the server is for this machine only: requests for other hosts are then
	// refused, so that no page of the web can reach it under a name of its own.
	Local bool
	// BaseURL is where callers find the server; "" for the URL of the catalogue.
	BaseURL string
	// Version is the version of the program.
	Version string
	// Calls counts the calls of tools; see NewCalls. Required.
	Calls *prometheus.CounterVec
	Log   *slog.Logger
}

// NewCalls returns the counter of the calls of tools, by how they ended.
func NewCalls() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "palmares_mcp_calls_total",
		Help: "Calls of tools at /mcp, by tool and outcome: answered, refused (wrong arguments), quota, busy, failed.",
	}, []string{"tool", "outcome"})
}

// A Handler serves /mcp.
type Handler struct {
	*web.Handler[snapshot.Snapshot]
	cfg     Config
	mcp     http.Handler
	current atomic.Pointer[offer]
}

// An offer is the server of a catalogue by its name, which a publication may change.
type offer struct {
	name   string
	server *mcp.Server
}

// maxBody is the longest request. Arguments are a few words.
const maxBody = 64 << 10

// New returns the handler of the six tools.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg}
	server := func(*http.Request) *mcp.Server { return h.offered() }
	h.mcp = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		DisableLocalhostProtection: true, // see Config.Local
	})
	h.Handler = web.NewHandler(web.Config[snapshot.Snapshot]{Callers: cfg.Callers, Fallback: h.admitted})
	return h
}

// offered returns the server of the catalogue that is served.
func (h *Handler) offered() *mcp.Server {
	name := cmp.Or(h.cfg.Live.Snapshot().Catalog.Name, "Palmarès")
	if o := h.current.Load(); o != nil && o.name == name {
		return o.server
	}
	server := newServer(name, h.cfg.Version)
	for i := range tools {
		t := &tools[i]
		call := func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, outcome := h.serveCall(ctx, t, req.Params.Arguments)
			h.cfg.Calls.WithLabelValues(t.Name, outcome).Inc()
			return result, nil
		}
		server.AddTool(t.definition(name), call)
	}
	h.current.Store(&offer{name, server})
	return server
}

// newServer returns a server that offers tools and nothing else: the SDK would also respond to
// methods of capabilities that it does not declare.
func newServer(title, version string) *mcp.Server {
	self := &mcp.Implementation{Name: "palmares", Title: title, Version: version}
	server := mcp.NewServer(self, &mcp.ServerOptions{
		Instructions: instructionsOf(title), Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch capability, _, _ := strings.Cut(method, "/"); capability {
			case "completion", "logging", "prompts", "resources":
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + method}
			}
			return next(ctx, method, req)
		}
	})
	return server
}

// requestKey is that of a request in its context, which has the caller.
type requestKey struct{}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Pattern = Path
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "MCP-Protocol-Version, WWW-Authenticate, Retry-After")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if h.cfg.Local && !clientip.IsLoopback(r.Host) {
		http.Error(w, "Ce serveur ne répond ici que sous le nom de cette machine, localhost. Derrière un mandataire, "+
			"il lui faut l’option --trusted-proxies.", http.StatusForbidden)
		return
	}
	if r.Method == http.MethodOptions {
		header.Set("Allow", "POST, OPTIONS")
		header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		header.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, "+
			"MCP-Protocol-Version, Mcp-Session-Id")
		header.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Handler.ServeHTTP(w, r)
}

// admitted returns the response to a request whose caller is known.
func (h *Handler) admitted(r *web.Request[snapshot.Snapshot]) (web.Response, error) {
	return web.Response{Handler: http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		h.serve(w, hr.WithContext(context.WithValue(hr.Context(), requestKey{}, r)))
	})}, nil
}

// serve passes a request whose caller is known to the protocol.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case err != nil:
		http.Error(w, "La requête est incomplète, ou plus longue que 64 Kio.", http.StatusRequestEntityTooLarge)
		return
	case r.Method == http.MethodPost && !json.Valid(body):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Le corps de la requête n’est pas du JSON."}}`)
		return
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")):
		// One revision of the protocol allowed it. Hundreds of calls in one request would
		// cost more than a request may.
		http.Error(w, "Les lots JSON-RPC ne sont pas acceptés\u00a0: envoyez un appel par requête.", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.mcp.ServeHTTP(w, r)
}

// serveCall serves one call. It runs in a goroutine of the SDK, in which a panic would end
// the process.
func (h *Handler) serveCall(
	ctx context.Context, t *tool, arguments json.RawMessage,
) (result *mcp.CallToolResult, outcome string) {
	c := &call{snap: h.cfg.Live.Snapshot(), baseURL: h.cfg.BaseURL, name: t.Name, schema: t.schema, arguments: arguments}
	defer func() {
		if failure := recover(); failure != nil {
			h.cfg.Log.Error("a tool panicked",
				"tool", t.Name, "panic", fmt.Sprint(failure), "stack", string(debug.Stack()))
			result, outcome = c.failed(web.CodeInternal.Info().Text.French, "/docs", ""), "failed"
		}
	}()
	r, _ := ctx.Value(requestKey{}).(*web.Request[snapshot.Snapshot])
	if text, resetAt := h.count(ctx, r.Caller); text != "" {
		return c.failed(text, "/tarifs", resetAt), "quota"
	}
	leave, err := h.cfg.Places.Enter(r.WithContext(ctx))
	if err != nil {
		return c.failed(web.AsError(err).Text.French, "/docs", ""), "busy"
	}
	defer leave()
	content, err := t.call(c)
	if err != nil {
		path := "/docs"
		if r, ok := errors.AsType[*refusal](err); ok && r.path != "" {
			path = r.path
		}
		return c.failed(err.Error(), path, ""), "refused"
	}
	return structured(content), "answered"
}

// count takes one call off the caller's quota, and says so if none is left.
func (h *Handler) count(ctx context.Context, caller web.Caller) (text, resetAt string) {
	if h.cfg.Meter == nil {
		return "", ""
	}
	subject := caller.Subject
	if caller.Key == nil {
		subject.Calls = uint32(h.cfg.Quota)
	}
	ctx, cancel := context.WithTimeout(ctx, keyring.StoreTimeout)
	defer cancel()
	grant := h.cfg.Meter.Take(ctx, subject)
	if !grant.Refused {
		return "", ""
	}
	text = "Le quota d’appels de ce jour est épuisé\u202f; il se renouvelle à " + grant.ResetAt() + "."
	if caller.Key == nil {
		text += " Une clé gratuite, envoyée dans l’en-tête Authorization, a un quota à elle\u00a0: voir /tarifs."
	}
	return text, grant.ResetAt()
}

// structured returns a response as an object and, for clients that read only text, as the
// same JSON.
func structured(content any) *mcp.CallToolResult {
	text := wire.AppendJSON(nil, content)
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text),
	}
}

// failed returns the response to a call that went wrong, with the path of a page that helps.
func (c *call) failed(text, path, resetAt string) *mcp.CallToolResult {
	result := structured(struct {
		Error   string `json:"error"`
		ResetAt string `json:"reset_at,omitempty"`
		URL     string `json:"url"`
		Credit  string `json:"credit"`
	}{text, resetAt, c.snap.Catalog.URL + path, c.credit()})
	result.IsError = true
	return result
}
