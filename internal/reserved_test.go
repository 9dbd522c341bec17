package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// A page of the publisher at an address of the product would never be shown.
func TestEveryAddressOfTheProductIsRefusedForAPage(t *testing.T) {
	replaceable := []string{"licence", "confidentialite", "tarifs"}
	segments := map[string]bool{}
	for _, route := range routes(t, "site/routes.go", "server/prefix.go") {
		first, _, _ := strings.Cut(route[1:], "/")
		first, _, _ = strings.Cut(first, ".")
		segments[first] = true
	}
	for _, known := range []string{"outils", "media", "flux", "compte", "healthz"} {
		if !segments[known] {
			t.Errorf("/%s is not among the routes %v: the test reads the wrong files", known, segments)
		}
	}
	for segment := range segments {
		if segment == "" || strings.HasPrefix(segment, "{") {
			continue
		}
		if got, want := catalog.IsReservedPage(segment), !slices.Contains(replaceable, segment); got != want {
			t.Errorf("IsReservedPage(%q) = %t", segment, got)
		}
	}
}

// Texts may link to every page of the site and operation of the API that is not made
// for one record.
func TestEveryAddressOfTheProductCanBeLinkedTo(t *testing.T) {
	resolver := (&markdown.Addresses{Catalog: &catalog.Catalog{}}).In("")
	for _, route := range routes(t, "site/routes.go", "api/api.go") {
		if strings.Contains(route, "{") {
			continue
		}
		if _, reason := resolver.Link(route); reason != nil {
			t.Error(reason)
		}
	}
}

// routes returns the strings of source files that begin with a slash: each is a route,
// or part of one.
func routes(t *testing.T, files ...string) (list []string) {
	t.Helper()
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if route, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(route, "/") {
					list = append(list, route)
				}
			}
			return true
		})
	}
	return list
}
