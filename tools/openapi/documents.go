// Command openapi writes the documents of the APIs, with the components that they share, into
// a folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"palmares/internal/api"
	"palmares/internal/dataapi"
	"palmares/internal/webhookapi"
)

func main() {
	documents := map[string][]byte{
		"api.json": api.Document(), "data.json": dataapi.Document(), "webhooks.json": webhookapi.Document(),
	}
	for name, document := range documents {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), document, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
