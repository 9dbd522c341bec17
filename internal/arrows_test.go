// Package internal_test checks what concerns several packages: the imports of each against
// the table in ARCHITECTURE.md, and the addresses of the product.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "palmares/"

// The parts of the document that the test relies on.
const (
	noImports  = "none" // in the last column of the table
	unchecked  = "any"  // likewise, for commands and test-only packages
	document   = "../ARCHITECTURE.md"
	tableStart = "| package | what it is | imports |"
)

func TestImportsMatchTheTableInArchitecture(t *testing.T) {
	table, _ := readTable(t)
	imports := readImports(t)
	for dir, got := range imports {
		want, found := table[dir]
		switch {
		case !found:
			t.Errorf("%s is not in the table of ARCHITECTURE.md; add a row with the imports: %s", dir, cell(got))
		case want != unchecked && want != cell(got):
			t.Errorf("ARCHITECTURE.md says that %s imports: %s\nbut it imports: %s\nremove the import or update the table", dir, want, cell(got))
		}
	}
	for dir := range table {
		if _, found := imports[dir]; !found {
			t.Errorf("ARCHITECTURE.md lists %s, which is not a package; remove the row", dir)
		}
	}
}

func TestNoImportRunsUpwards(t *testing.T) {
	_, order := readTable(t)
	for dir, imports := range readImports(t) {
		for _, imported := range imports {
			if at := slices.Index(order, imported); at >= 0 && at < slices.Index(order, dir) {
				t.Errorf("%s imports %s, which is above it in the table of ARCHITECTURE.md", dir, imported)
			}
		}
	}
}

func TestTheDomainImportsOnlyTheStandardLibrary(t *testing.T) {
	files, err := fs.Glob(os.DirFS("."), "catalog/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in catalog", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, imported := range importsOf(t, file) {
			if strings.Contains(imported, ".") || strings.HasPrefix(imported, module) {
				t.Errorf("internal/%s imports %s", file, imported)
			}
		}
	}
}

// Changes become words in package chronicle alone. Other packages neither read what webhooks announce nor the values of
// entries; the site and the newsletter only choose by what happened.
func TestOnlyTheChronicleTurnsChangesIntoWords(t *testing.T) {
	announced := regexp.MustCompile(`\bcatalog\.(Change|StoredObject)\b`)
	told := regexp.MustCompile(`\bcatalog\.(ParsePrice|What[A-Z]\w+)\b`)
	for file, source := range sources(t, ".go") {
		dir := path.Base(path.Dir(file))
		if announced.MatchString(source) && !slices.Contains([]string{"catalogdb", "webhook", "accountdb"}, dir) {
			t.Errorf("%s reads what webhooks announce; tell entries instead", file)
		}
		if told.MatchString(source) && !slices.Contains([]string{"catalogdb", "chronicle", "newsletter", "site"}, dir) {
			t.Errorf("%s tells entries; let package chronicle do it", file)
		}
	}
}

// A table belongs to the package whose migration creates it. Others use the functions and queries of that package.
func TestNoStatementNamesATableOfAnotherPackage(t *testing.T) {
	created := regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)
	named := regexp.MustCompile(`\b(?i:FROM|JOIN|INTO|UPDATE|TABLE|REFERENCES)\s+((?:"?\w+"?(?:\s+(?:AS\s+)?\w+)?\s*,\s*)*"?\w+)`)
	owners := map[string]string{}
	for file, text := range sources(t, ".sql") {
		for _, found := range created.FindAllStringSubmatch(text, -1) {
			owners[found[1]] = path.Dir(path.Dir(file)) // without migrations/
		}
	}
	if len(owners) < 20 {
		t.Fatalf("only %d tables", len(owners))
	}
	isStatement := regexp.MustCompile(`[A-Z]{4}|(?i)^\s*(?:select|insert|update|delete|with)\b`)
	check := func(file, dir, text string) {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			for of := range strings.SplitSeq(found[1], ",") {
				table := strings.Trim(strings.Fields(of)[0], `"`)
				if owner := owners[table]; owner != "" && owner != dir {
					t.Errorf("%s names %s, a table of %s: use a function of that package", file, table, owner)
				}
			}
		}
	}
	for file, text := range sources(t, ".sql") {
		check(file, path.Dir(path.Dir(file)), text)
	}
	for file, text := range sources(t, ".go") {
		for _, statement := range stringsOf(t, file, text) {
			if isStatement.MatchString(statement) {
				check(file, path.Dir(file), statement)
			}
		}
	}
}

// stringsOf returns the strings of a file of Go.
func stringsOf(t *testing.T, file, text string) (all []string) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, value)
		}
		return true
	})
	return all
}

// sources returns the files of the product, tests aside, whose names end in ext.
func sources(t *testing.T, ext string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"../cmd", "../internal"} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ext) || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "testkit") {
				return err
			}
			text, err := os.ReadFile(path.Join(dir, file))
			all[path.Join(dir, file)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// readTable returns the last column of the table, by package directory, and the directories in
// the order of the table.
func readTable(t *testing.T) (table map[string]string, order []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), tableStart+"\n|---|---|---|\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no table that starts with %q", tableStart)
	}
	table = map[string]string{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		dir := strings.Trim(cells[1], " `")
		if _, twice := table[dir]; twice {
			t.Errorf("ARCHITECTURE.md lists %s twice", dir)
		}
		table[dir] = strings.TrimSpace(cells[3])
		order = append(order, dir)
	}
	return table, order
}

// readImports returns our own packages imported by each package directory, tests
// aside. Packages that have only tests import nothing.
func readImports(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		dir := path.Dir(file)
		if !strings.HasSuffix(file, ".go") || dir == "internal" || inOtherModule(dir) {
			return nil
		}
		if _, seen := imports[dir]; !seen {
			imports[dir] = nil
		}
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		for _, imported := range importsOf(t, "../"+file) {
			if ours, isOurs := strings.CutPrefix(imported, module); isOurs {
				imports[dir] = append(imports[dir], ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// inOtherModule reports whether a folder is not part of the product's module.
func inOtherModule(dir string) bool {
	return strings.HasPrefix(dir, "tools/") || dir == "bench" || strings.HasPrefix(dir, "bench/")
}

// cell formats imports as the table does: sorted, without the internal/ prefix.
func cell(imports []string) string {
	if len(imports) == 0 {
		return noImports
	}
	var names []string
	for _, name := range imports {
		names = append(names, strings.TrimPrefix(name, "internal/"))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	return list
}
