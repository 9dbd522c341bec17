// Package starter is the content folder that `palmares init` writes: one commented
// example of each kind of record.
package starter

import (
	"embed"
	"io/fs"
)

// files holds names that begin with a dot too.
//
//go:embed all:folder
var files embed.FS

// Folder returns the content folder.
func Folder() fs.FS {
	sub, err := fs.Sub(files, "folder")
	if err != nil {
		panic(err) // only for an invalid name
	}
	return sub
}
