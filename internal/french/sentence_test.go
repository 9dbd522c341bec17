package french_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"palmares/internal/french"
)

// Every text with two words in the source that makes sentences about content folders is translated, with
// all that is put into it.
func TestEverySentenceAboutAFolderIsInTheTable(t *testing.T) {
	texts := 0
	for _, pattern := range []string{
		"../content/*.go", "../markdown/*.go", "../picture/*.go", "../publication/revision.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || slices.Contains(writers, filepath.Base(file)) {
				continue
			}
			for at, text := range textsOf(t, file) {
				texts++
				english, args := instance(text)
				got := french.Sentence(english)
				if got == english {
					t.Errorf("%s: not in sentences.txt: %s", at, english)
				}
				for _, arg := range args {
					if !strings.Contains(got, arg) {
						t.Errorf("%s: %s\nlacks %s: %s", at, english, arg, got)
					}
				}
			}
		}
	}
	if texts < 250 {
		t.Errorf("only %d texts were found", texts)
	}
}

// writers are files that write folders and pages.
var writers = []string{"write.go", "schema.go", "link.go", "figure.go", "node.go", "render.go", "callout.go"}

// internal are texts that nobody reads.
var internal = []string{
	"there are enough problems", "the scheduled record %s %w", "version https://git-lfs", "<!doctype html", "<!doctype svg",
	"not a git repository (or any", "mapping value is not allowed",
}

var (
	twoWords = regexp.MustCompile(`[a-z]{2,} [a-z]+|^(?:a|an) [a-zA-Z]+`)
	isFrench = regexp.MustCompile(`[éèêàç’«]`)
)

// textsOf returns the texts of a file, unless it says in French itself what it says. What is not a
// constant in them is a %s.
func textsOf(t *testing.T, file string) map[token.Position]string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts, hasFrench := map[token.Position]string{}, false
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			return !strings.HasPrefix(fmt.Sprint(n.Fun), "&{regexp ")
		case ast.Expr:
			text, isText := textOf(n)
			hasFrench = hasFrench || isFrench.MatchString(text)
			if isText && twoWords.MatchString(text) && !slices.Contains(internal, text) {
				texts[files.Position(n.Pos())] = text
			}
			return !isText
		}
		return true
	})
	if hasFrench {
		return nil
	}
	return texts
}

func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := textOf(e.X)
		right, isRight := textOf(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "%s"
		}
		if !isRight {
			right = "%s"
		}
		return left + right, true
	}
	return "", false
}

var formatVerb = regexp.MustCompile(`%[.0-9]*[sqdUvwgf]|%%`)

// instance fills a format, and returns what French must have of it.
func instance(format string) (english string, args []string) {
	if strings.HasSuffix(format, " ") {
		format += "%s"
	}
	n := 0
	english = formatVerb.ReplaceAllStringFunc(format, func(verb string) string {
		n++
		given, arg := fmt.Sprintf("s%dz", n), ""
		switch verb[len(verb)-1] {
		case '%':
			return "%"
		case 'q':
			given, arg = fmt.Sprintf(`"q%dz"`, n), fmt.Sprintf("«\u00a0q%dz\u00a0»", n)
		case 'd':
			given = fmt.Sprint(70 + n)
		case 'g', 'f':
			given, arg = fmt.Sprintf("7.%d", n), fmt.Sprintf("7,%d", n)
		}
		if arg == "" {
			arg = given
		}
		args = append(args, arg)
		return given
	})
	if rest, ok := strings.CutPrefix(english, "s1z"); ok && regexp.MustCompile(`^[a-z]`).MatchString(rest) {
		english, args[0] = "field: "+rest, "field" // which it is about
	}
	return english, args
}

func TestSentencesAreWrittenAsAFrenchEditorDoes(t *testing.T) {
	for _, c := range []struct{ english, want string }{
		{"name is missing", "name manque"},
		{"slug in item 2 of categories is missing", "slug dans l’élément 2 de categories manque"},
		{`score must be a number from 0 to 10, not "8,5"; write 8.5`, "score doit être un nombre de 0 à 10, et non «~8,5~»^; écrivez 8.5"},
		{`pricing must be gratuit, freemium or payant, not "libre"`, "pricing doit être gratuit, freemium ou payant, et non «~libre~»"},
		{`unknown field "scoer" in item 1 of sources; did you mean "score"?`, "champ inconnu «~scoer~» dans l’élément 1 de sources^; vouliez-vous dire «~score~»^?"},
		{`the link to "a\"b.md" leads nowhere: there is no tool "a"`, `le lien vers «~a"b.md~» ne mène nulle part~: outil «~a~» introuvable`},
		{`there is no author "a"`, "auteur «~a~» introuvable"},
		{`the link to "x" leads nowhere: tool "a" is a draft; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: l’outil «~a~» est un brouillon^; publiez-le d’abord, ou enlevez le lien"},
		{`the link to "x" leads nowhere: comparison "a" is a draft; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: le comparatif «~a~» est un brouillon^; publiez-le d’abord, ou enlevez le lien"},
		{`the link to "x" leads nowhere: retired tool "a" is a draft; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: la notice de l’outil retiré «~a~» est un brouillon^; publiez-la d’abord, ou enlevez le lien"},
		{`the link to "x" leads nowhere: page "a" is not public any more; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: la page «~a~» est hors ligne^; publiez-la d’abord, ou enlevez le lien"},
		{`the link to "x" leads nowhere: article "a" is a draft; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: l’article «~a~» est un brouillon^; publiez-le d’abord, ou enlevez le lien"},
		{`the link to "x" leads nowhere: author "a" is a draft; publish it first, or remove the link`, "le lien vers «~x~» ne mène nulle part~: la page de l’auteur «~a~» est un brouillon^; publiez-la d’abord, ou enlevez le lien"},
		{`author "a" has no page in auteurs/; write "A" if this is meant`, "l’auteur «~a~» n’a pas de page dans auteurs/^; écrivez «~A~» si c’est la même personne"},
		{`introduction: the link to "x" leads nowhere: page "a" is not public before 2027-01-01T08:00:00Z; publish it first, or remove the link`, "introduction~: le lien vers «~x~» ne mène nulle part~: la page «~a~» est invisible avant le 2027-01-01T08:00:00Z^; publiez-la d’abord, ou enlevez le lien"},
		{`author is missing`, "author manque"},
		{"description: this heading has no text; write one", "description~: ce titre n’a pas de texte^; écrivez-en un"},
		{"1 problem in cat: fix it and run the command again", "1 problème dans cat~: corrigez-le et relancez la commande"},
		{"2 problems in cat: fix them and run the command again", "2 problèmes dans cat~: corrigez-les et relancez la commande"},
		{"2 warnings in cat: fix them, or run the command without --strict", "2 avertissements dans cat~: corrigez-les, ou relancez la commande sans --strict"},
		{"cat: no problem in 2 tools, 0 comparisons, 1 retired tool, 1 category; 2 warnings", "cat~: aucun problème dans 2 outils, 0 comparatif, 1 outil retiré, 1 catégorie^; 2 avertissements"},
		{"published version 3: 1 added, 2 changed; now 2 tools, 3 pages", "version 3 publiée~: 1 ajout, 2 modifications^; désormais 2 outils, 3 pages"},
		{"would publish version 3: 1 removed; now 1 tool", "la version 3 serait publiée~: 1 suppression^; ce seraient 1 outil"},
		{"changed   outils/plume: price nothing → 12 €/mois, tagline Vite → nothing", "modifié   outils/plume: price rien → 12 €/mois, tagline Vite → rien"},
		{"1 published tool is missing: a; add an entry in cimetiere/ for each, name it as an alias of the tool it became, or pass --allow-removals", "1 outil publié manque~: a^; écrivez une notice dans cimetiere/ pour chacun, donnez-le comme alias de l’outil qu’il est devenu, ou ajoutez --allow-removals"},
		{"a draft without tool_a and tool_b cannot be shown yet", "un brouillon sans tool_a ni tool_b ne peut pas encore être montré"},
		{"what nobody has said", "what nobody has said"},
		{strings.Repeat("1 tool, ", 1000), strings.Repeat("1 tool, ", 1000)},
	} {
		want := strings.NewReplacer("~", french.Space, "^", french.Narrow).Replace(c.want)
		if got := french.Sentence(c.english); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", c.english, got, want)
		}
	}
}

func BenchmarkSentence(b *testing.B) {
	for b.Loop() {
		french.Sentence(`slug in item 2 of categories must be gratuit, freemium or payant, not "libre"`)
	}
}
