package reference

import (
	"embed"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/wire"
)

// A sample is an API call in one language, ready to copy and run.
type sample struct {
	ID       string // of the element that holds it
	Language string
	Code     string
}

// keyVariable is the environment variable from which samples read the key, so
// that no sample suggests writing one into a program.
const keyVariable = "PALMARES_KEY"

// samplesOf returns the samples of a call. Each is complete: it runs unchanged
// once keyVariable is set, if the operation needs a key.
func samplesOf(operation, address string, keyed bool) []sample {
	return []sample{
		{operation + ".curl", "curl", curlSample(address, keyed)},
		{operation + ".javascript", "JavaScript", javascriptSample(address, keyed)},
		{operation + ".python", "Python", pythonSample(address, keyed)},
		{operation + ".go", "Go", goSample(address, keyed)},
	}
}

func curlSample(address string, keyed bool) string {
	if keyed {
		return "curl -H \"Authorization: Bearer $" + keyVariable + "\" \\\n  " + shellQuote(address)
	}
	return "curl " + shellQuote(address)
}

func javascriptSample(address string, keyed bool) string {
	call := "fetch(" + literal(address) + ");"
	if keyed {
		call = "fetch(" + literal(address) + ", {\n" +
			"  headers: { Authorization: `Bearer ${process.env." + keyVariable + "}` },\n});"
	}
	return "const response = await " + call + "\n" +
		"const body = await response.json();\n" +
		"if (!response.ok) throw new Error(body.error);\n" +
		"console.log(body);"
}

func pythonSample(address string, keyed bool) string {
	if keyed {
		return `import json
import os
import urllib.request

request = urllib.request.Request(
    ` + literal(address) + `,
    headers={"Authorization": "Bearer " + os.environ["` + keyVariable + `"]},
)
with urllib.request.urlopen(request) as response:
    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))`
	}
	return `import json
import urllib.request

with urllib.request.urlopen(` + literal(address) + `) as response:
    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))`
}

func goSample(address string, keyed bool) string {
	const begin, end = "package main\n\nimport (\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"\n)\n\nfunc main() {\n", `	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}`
	if keyed {
		return begin + "\trequest, err := http.NewRequest(\"GET\", " + literal(address) + `, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("` + keyVariable + `"))
	response, err := http.DefaultClient.Do(request)
` + end
	}
	return begin + "\tresponse, err := http.Get(" + literal(address) + ")\n" + end
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
