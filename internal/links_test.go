package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

func TestEveryLinkBetweenTheDocumentsLeadsSomewhere(t *testing.T) {
	files, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil || len(docs) == 0 || len(files) == 0 {
		t.Fatal("no documents", err)
	}
	for _, file := range append(files, docs...) {
		for _, found := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(prose(t, file), ""), -1) {
			target, anchor, hasAnchor := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			to := file
			if target != "" {
				to = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", file, found[1], err)
			} else if hasAnchor && !anchors(t, to)[anchor] {
				t.Errorf("%s links to %s, but %s has no such heading", file, found[1], to)
			}
		}
	}
}

// prose returns a document without its blocks of code.
func prose(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return codeBlock.ReplaceAllString(string(text), "")
}

// anchors returns those that GitHub gives to the headings of a document.
func anchors(t *testing.T, file string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, found := range heading.FindAllStringSubmatch(prose(t, file), -1) {
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, found[1])] = true
	}
	return all
}
