package main

import (
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

type shellCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the completions of a shell.
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

// completions holds a script for each shell: it follows the commands to a place, and offers
// the words that may follow there, options after a dash only, or names of files.
var completions = template.Must(template.New("").Funcs(template.FuncMap{"join": strings.Join}).Parse(`
{{- define "places"}}{{range $i, $place := slice . 1}}{{if $i}}|{{end}}{{.Path}}{{end}}{{end -}}

{{- define "words"}}
	case "$at" in
{{- range .}}
	'{{.Path}}') word='{{join .Words " "}}' ;;
{{- end}}
	esac
{{- end -}}

{{- define "bash"}}# Completions of palmares for bash.
_palmares() {
	local at= word
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case "$at/$word" in {{template "places" .}}) at="$at/$word" ;; esac
	done
{{- template "words" .}}
	[[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || word=${word%%--*}
	COMPREPLY=($(compgen -W "$word" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _palmares palmares
{{end -}}

{{- define "zsh"}}#compdef palmares
_palmares() {
	local at= word
	for word in "${(@)words[2,CURRENT-1]}"; do
		case "$at/$word" in {{template "places" .}}) at="$at/$word" ;; esac
	done
{{- template "words" .}}
	[[ $words[CURRENT] == -* ]] || word=${word%%--*}
	compadd -- ${=word} || _files
}
if [ "$funcstack[1]" = _palmares ]; then _palmares "$@"; else compdef _palmares palmares; fi
{{end -}}

{{- define "fish"}}# Completions of palmares for fish.
function __palmares
	set -l at
	for word in (commandline -opc)[2..]
		switch "$at/$word"
			case{{range slice . 1}} {{.Path}}{{end}}
				set at "$at/$word"
		end
	end
	switch "$at"
{{- range .}}
		case '{{.Path}}'
			printf '%s\n' {{join .Words " "}}
{{- end}}
	end
end
complete -c palmares -n 'string match -q -- "-*" (commandline -ct)' -a '(__palmares | string match -- "-*")'
complete -c palmares -a '(__palmares | string match -v -- "-*")'
{{end -}}
`))
