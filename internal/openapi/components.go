package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
)

// components are those that several documents have.
//
//go:embed components.json
var components []byte

// sharedRef is how a document names a component of components.json.
var sharedRef = regexp.MustCompile(`\{ "\$ref": "\.\./openapi/components\.json#/components/(\w+)/([\w-]+)" \}`)

// Complete returns a document with the components that it shares with others. It panics if
// there is no such component: documents are part of the program.
func Complete(source []byte) []byte {
	var shared struct {
		Components map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(components, &shared); err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	return sharedRef.ReplaceAllFunc(source, func(ref []byte) []byte {
		parts := sharedRef.FindSubmatch(ref)
		component, found := shared.Components[string(parts[1])][string(parts[2])]
		if !found {
			panic(fmt.Sprintf("openapi: components.json has no %s %s", parts[1], parts[2]))
		}
		return component
	})
}
