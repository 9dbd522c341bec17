package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestOnlySettingsOfTheServerAndSecretsAreReadFromTheEnvironment(t *testing.T) {
	commands := kong.Must(&commands{}).Model.Leaves(false)
	known := []string{"PALMARES_CONFORM_KEY"}
	serve := slices.IndexFunc(commands, func(c *kong.Node) bool { return c.Name == "serve" })
	for _, flag := range slices.Concat(commands[serve].AllFlags(false)...) {
		known = append(known, flag.Envs...)
	}
	for _, command := range commands {
		for _, flag := range slices.Concat(command.AllFlags(false)...) {
			if len(flag.Envs) > 0 && !slices.Contains(known, flag.Envs[0]) {
				t.Errorf("%s --%s has %s", command.Path(), flag.Name, flag.Envs)
			}
		}
	}
}

func TestABaseURLHasAHostAndNothingAfterItsPath(t *testing.T) {
	for text, want := range map[string]string{
		"https://catalogue.example":      "https://catalogue.example",
		"https://catalogue.example/":     "https://catalogue.example",
		"http://localhost:8080":          "http://localhost:8080",
		"http://[::1]:8080":              "http://[::1]:8080",
		"https://catalogue.example/a/":   "https://catalogue.example/a",
		"":                               "",
		"nowhere":                        "",
		"ftp://catalogue.example":        "",
		"https://":                       "",
		"https://:8080":                  "",
		"https://ada@catalogue.example":  "",
		"https://catalogue.example?a=1":  "",
		"https://catalogue.example?":     "",
		"https://catalogue.example/#top": "",
		"https://catalogue.example#":     "",
	} {
		var got baseURL
		if err := got.UnmarshalText([]byte(text)); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAWrongNumberIsQuotedBesideASecret(t *testing.T) {
	var stdout, stderr strings.Builder
	if run(t.Context(), []string{"serve", "--database", "postgres://ada:motdepasse@127.0.0.1/x", "--mcp-quota=-1"}, &stdout, &stderr) == 0 {
		t.Fatal("it is accepted")
	}
	if got := stderr.String(); !strings.Contains(got, `"-1" is not a number of calls`) || strings.Contains(got, "motdepasse") {
		t.Errorf("%s", got)
	}
}

func TestConnectionsFitIntoTheLimitOfOpenFiles(t *testing.T) {
	for _, test := range []struct {
		given connectionLimit
		files int
		want  connectionLimit // 0 if it is refused
	}{
		{0, 1 << 20, 16_384},
		{0, 16_384, 15_872},
		{0, 1024, 768},
		{0, 100, 75},
		{50_000, 1 << 20, 50_000},
		{100, 1024, 100},
		{1000, 1024, 0},
	} {
		got := test.given
		if err := got.fit(test.files); (err == nil) != (test.want != 0) || err == nil && got != test.want {
			t.Errorf("%d with %d files: %d, %v; want %d", test.given, test.files, got, err, test.want)
		}
	}
}
