package api

import "slices"

// Document is the OpenAPI document that /api/v1/openapi.json serves, for whoever
// shows the API to people. The bytes are the caller's own.
func Document() []byte { return slices.Clone(openAPI) }
