// Package demo is the catalogue that a server shows before anything has been
// published. It is a content folder, embedded in the binary.
package demo

import "embed"

// Folder is the content folder. Everything in it is invented, and says so.
//
//go:embed catalogue.yaml preuves.jsonl outils comparatifs cimetiere pages articles auteurs images
var Folder embed.FS
