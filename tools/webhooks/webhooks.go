// Package webhooks has the receivers of webhooks that the documents show.
package webhooks

import "embed"

// Examples has the receivers, in the folder examples: receiver.go, receiver.mjs and
// receiver.py.
//
//go:embed examples/receiver.*
var Examples embed.FS
