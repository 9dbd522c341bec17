package problem

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/french"
)

// literals returns the texts in the source that look like codes, and the codes that New is called with.
func literals(t *testing.T) (all, called map[string]bool) {
	t.Helper()
	all, called = map[string]bool{}, map[string]bool{}
	file := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					all[text] = true
				}
			case *ast.CallExpr:
				at := map[string]int{"&{problem New}": 0, "&{problem Wrap}": 1}
				i, isNew := at[fmt.Sprint(n.Fun)]
				if !isNew {
					return true
				}
				if code, ok := n.Args[i].(*ast.BasicLit); ok {
					text, err := strconv.Unquote(code.Value)
					called[text] = err == nil
				}
			}
			return true
		})
		return nil
	}
	for _, root := range []string{"..", "../../cmd"} {
		if err := filepath.WalkDir(root, file); err != nil {
			t.Fatal(err)
		}
	}
	return all, called
}

func TestTheCodesInTheSourceAreThoseOfTheTable(t *testing.T) {
	byCode, _ := load()
	used, called := literals(t)
	for code := range called {
		if byCode[code] == (entry{}) {
			t.Errorf("%s is not in table.txt", code)
		}
	}
	for code := range byCode {
		family, name, _ := strings.Cut(code, "-") // which the source may put together
		if code != "" && !used[code] && !(used[family+"-"] && used[name]) {
			t.Errorf("nothing uses %s", code)
		}
	}
	if len(called) < 200 || len(byCode) < 400 {
		t.Errorf("only %d codes are called, and %d are in the table", len(called), len(byCode))
	}
}

func TestEverySentenceHasTheSameArgumentsInBothLanguages(t *testing.T) {
	text, err := os.ReadFile("table.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	known := map[string]bool{}
	verbs := func(text string) (all []string) {
		next := 0
		for _, found := range verb.FindAllStringSubmatch(text, -1) {
			i := next
			if next++; found[1] != "" {
				i = int(found[1][0] - '1')
			}
			if found[2] != "%" {
				all = append(all, strconv.Itoa(i)+found[2])
			}
		}
		slices.Sort(all)
		return all
	}
	for i := 0; i < len(lines); i += 2 {
		code, english, ok := strings.Cut(lines[i], ": ")
		inFrench, isFrench := strings.CutPrefix(lines[i+1], "\t")
		switch {
		case !ok || !isFrench || strings.TrimSpace(english) == "" || strings.TrimSpace(inFrench) == "":
			t.Errorf("line %d: %s", i+1, lines[i])
		case known[code] && code != "":
			t.Errorf("%s is there twice", code)
		case code != "" && !slices.Equal(verbs(english), verbs(inFrench)):
			t.Errorf("%s: %v and %v", code, verbs(english), verbs(inFrench))
		}
		known[code] = true
	}
}

// inFrench is what only French has, outside of quotations and examples.
var inFrench = regexp.MustCompile(`(?i)[éèêàçùôîœ]|’[a-z]{3}|\b(les|des|est|pas|sont|ce|cette|votre|nous|une|un|où|avec|ou)\b`)

func TestTheEnglishOfASentenceHasNoFrench(t *testing.T) {
	byCode, _ := load()
	quoted := regexp.MustCompile(`".*?"|\(.*?\)`)
	for code, e := range byCode {
		if said := quoted.ReplaceAllString(e.english, ""); inFrench.MatchString(said) {
			t.Errorf("%s: %s", code, said)
		}
	}
}

func TestSentencesAreSaidInTheLanguageOfTheSentenceAroundThem(t *testing.T) {
	typographic := strings.NewReplacer("~", french.Space, "^", french.Narrow)
	for _, c := range []struct {
		text            Text
		english, french string
	}{
		{New("missing", "name"), "name is missing", "name manque"},
		{New("missing", New("item", 2, "sources", "")), "item 2 of sources is missing", "l’élément 2 de sources manque"},
		{
			New("link-leads-nowhere", `a"b.md`, New("no-outils", "a")),
			`the link to "a\"b.md" leads nowhere: there is no tool "a"`, `le lien vers «~a"b.md~» ne mène nulle part~: outil «~a~» introuvable`,
		},
		{
			New("link-leads-nowhere", "x", New("hidden-pages", "a", New("is-hidden-before", "2027-01-01T08:00:00Z"))),
			`the link to "x" leads nowhere: page "a" is not public before 2027-01-01T08:00:00Z; publish it first, or remove the link`,
			"le lien vers «~x~» ne mène nulle part~: la page «~a~» est invisible avant le 2027-01-01T08:00:00Z^; publiez-la d’abord, ou enlevez le lien",
		},
		{
			New("section-id-twice", "prix", 1), `section id "prix" is already used 1 lines above; give one of them another id with {#id}`,
			"l’ancre «~prix~» est déjà prise 1 ligne plus haut^; donnez une autre ancre à l’un des deux avec {#ancre}",
		},
		{New("problems-in", 1, "cat"), "1 problem in cat: fix it and run the command again", "1 problème dans cat~: corrigez-le et relancez la commande"},
		{New("problems-in", 2, "cat"), "2 problems in cat: fix them and run the command again", "2 problèmes dans cat~: corrigez-les et relancez la commande"},
		{New("count-comparatifs", 0), "0 comparisons", "0 comparatif"},
		{New("progress-sent", New("stage-sending"), 1.25, 2.5, 50), "sending: 1.2 of 2.5 MB (50 %)", "envoi~: 1,2 sur 2,5 Mo (50 %)"},
		{New("link-scheme", "a%20b"), `the link to "a%20b" is not rendered; only http, https, mailto and links within the catalogue are`, "le lien vers «~a%20b~» ne s’affiche pas^; seuls http, https, mailto et les liens dans le catalogue sont admis"},
		{New("file-unreadable", Foreign("permission denied")), "the file cannot be read: permission denied", "le fichier ne peut pas être lu~: permission refusée"},
		{
			Foreign("invalid character 'x' after object key"), "invalid character 'x' after object key",
			"caractère 'x' inattendu après le nom d’un champ",
		},
		{Foreign("the page answers with status 404"), "the page answers with status 404", "la page répond par le statut 404"},
		{Foreign("what nobody has said"), "what nobody has said", "what nobody has said"},
		{Named("stage-", "picture files"), "picture files", "images"},
		{Named("stage-", "events"), "events", "events"},
		{
			Of(errors.Join(New("missing", "name"), Wrap(fs.ErrClosed, "missing", "url"), fs.ErrExist)),
			"name is missing\nurl is missing\nfile already exists", "name manque\nurl manque\nfile already exists",
		},
		{
			Of(fmt.Errorf("%w, not %w", fs.ErrExist, fs.ErrClosed)),
			"file already exists, not file already closed", "file already exists, not file already closed",
		},
		{Join(", ", New("count-outils", 1), New("count-pages", 2)), "1 tool, 2 pages", "1 outil, 2 pages"},
	} {
		if want := typographic.Replace(c.french); c.text.English != c.english || c.text.French != want {
			t.Errorf("got  %s\nwant %s\ngot  %s\nwant %s", c.text.English, c.english, c.text.French, want)
		}
	}
	if err := Wrap(fs.ErrClosed, "missing", "url"); !errors.Is(err, fs.ErrClosed) {
		t.Error("the cause is lost")
	}
}
