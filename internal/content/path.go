package content

import (
	"strings"

	"palmares/internal/catalog"
)

// nextSuffix is the end of the name of a file that replaces a record at its hour.
const nextSuffix = ".next"

// PathOf returns the path of the file of a record.
func PathOf(kind *catalog.Kind, slug string) string {
	if kind == catalog.CatalogueKind {
		return catalog.SettingsFile
	}
	return kind.Folder + "/" + slug + ".md"
}

// NextPath returns the path of the file that replaces another one at its hour.
func NextPath(path string) string { return strings.TrimSuffix(path, ".md") + nextSuffix + ".md" }

// SlugOf returns the slug in the path of a Markdown file in a folder of records, and reports whether the file
// replaces the record at its hour.
func SlugOf(path string) (slug string, isNext bool) {
	_, name, _ := strings.Cut(path, "/")
	return strings.CutSuffix(strings.TrimSuffix(name, ".md"), nextSuffix)
}
