package main

import (
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"palmares/internal/assistant"
)

type mcpCommand struct {
	Server baseURL `help:"The server of Palmarès to ask, with the API key in PALMARES_KEY if there is one." default:"http://localhost:8080" placeholder:"URL"`
}

// Run passes messages between standard input and output and a server until the input ends.
func (c *mcpCommand) Run(inv *invocation) error {
	bridge := assistant.Bridge{Server: string(c.Server), Key: os.Getenv("PALMARES_KEY"), Input: &mcp.StdioTransport{}}
	return bridge.Run(inv.ctx)
}
