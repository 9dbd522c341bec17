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
)

// A page of the publisher at an address of the product would never be shown.
func TestEveryAddressOfTheProductIsRefusedForAPage(t *testing.T) {
	replaceable := []string{"licence", "confidentialite", "tarifs"}
	segments := map[string]bool{}
	// Every string that begins with a slash is a route, or part of one.
	for _, file := range []string{"site/site.go", "server/server.go"} {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				route, err := strconv.Unquote(lit.Value)
				if err == nil && strings.HasPrefix(route, "/") {
					first, _, _ := strings.Cut(route[1:], "/")
					first, _, _ = strings.Cut(first, ".")
					segments[first] = true
				}
			}
			return true
		})
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
