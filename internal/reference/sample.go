package reference

import (
	"embed"
	"strings"
	"text/template"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// A sample is an API call in one language, ready to copy and run.
type sample struct {
	ID       string // of the element that holds it
	Language string
	Code     string
}

// calls has a template for each language. Samples read the key from an environment variable, so that
// none suggests writing one into a program.
var calls = template.Must(template.New("").Funcs(template.FuncMap{"shell": shellQuote, "literal": literal}).
	ParseFS(templateFiles, "templates/calls.txt"))

// samplesOf returns the samples of a call. Each is complete: it runs unchanged
// once the key is set, if the operation needs one.
func samplesOf(operation, address string, keyed bool) (list []sample) {
	for _, language := range []string{"curl", "JavaScript", "Python", "Go"} {
		list = append(list, newSample(operation+"."+strings.ToLower(language), language, address, keyed))
	}
	return list
}

func newSample(id, language, address string, keyed bool) sample {
	var code strings.Builder
	call := struct {
		Address string
		Keyed   bool
	}{address, keyed}
	if err := calls.ExecuteTemplate(&code, language, call); err != nil {
		panic(err) // the template does not fit its data: any test of the page finds that
	}
	return sample{id, language, code.String()}
}

// shellQuote quotes s as one word of a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// literal quotes s as a JSON string, which JavaScript, Python and Go read the same.
func literal(s string) string { return string(wire.AppendJSON(nil, s)) }

//go:embed samples
var programs embed.FS

// program returns one of the longer samples, which are separate files so that they
// can be run. The files name an example server and its credit line; base and
// credit replace them.
func program(name, base, credit string) string {
	code, err := programs.ReadFile("samples/" + name)
	if err != nil {
		panic(err) // the folder is embedded
	}
	const exampleBase = "https://palmares.example"
	example := catalog.Catalog{Name: "Palmarès", URL: exampleBase}
	replacer := strings.NewReplacer(literal(example.CreditLine()), literal(credit), exampleBase, base)
	return strings.TrimSpace(replacer.Replace(string(code)))
}
