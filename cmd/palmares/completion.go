package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

type shellCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *shellCommand) Run(inv *invocation, parser *kong.Kong) error {
	return completions.ExecuteTemplate(inv.stdout, c.Shell, completable(parser.Model.Node, ""))
}

// A place is where a command line may go on: after nothing, or after a command.
type place struct {
	Path  string   // "" or the commands so far, as in /account/create
	Words []string // commands, options and values that may follow
}

// completable returns the place after a command and those after the commands below it.
func completable(after *kong.Node, path string) []place {
	here, below := place{Path: path}, []place(nil)
	for _, command := range after.Children {
		here.Words = append(here.Words, command.Name)
		below = append(below, completable(command, path+"/"+command.Name)...)
	}
	for _, argument := range after.Positional {
		if argument.Enum != "" {
			here.Words = append(here.Words, argument.EnumSlice()...)
		}
	}
	for _, group := range after.AllFlags(true) {
		for _, flag := range group {
			here.Words = append(here.Words, "--"+flag.Name)
		}
	}
	return append([]place{here}, below...)
}

//go:embed completion.tmpl
var completionScripts string

// completions holds a script for each shell: it follows the commands to a place, and offers
// the words that may follow there, options after a dash only, or names of files.
var completions = template.Must(template.New("").Funcs(template.FuncMap{"join": strings.Join}).Parse(completionScripts))
