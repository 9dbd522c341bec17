package main

import "palmares/internal/content"

type schemaCommand struct {
	Kind  string `arg:"" help:"Kind of record: outil, comparatif, cimetiere, page, article, auteur or catalogue."`
	Jsonl bool   `help:"Of a JSON line instead of the front matter of a Markdown file."`
}

func (c *schemaCommand) Run(inv *invocation) error {
	schema, err := content.Schema(c.Kind, c.Jsonl)
	if err != nil {
		return err
	}
	_, err = inv.stdout.Write(schema)
	return err
}
