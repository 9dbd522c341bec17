package site

import (
	"sync"

	"palmares/internal/webhook"
	"palmares/tools/webhooks"
)

const webhooksPath = "/docs/webhooks"

// A receiver is a program to copy.
type receiver struct {
	ID, Language string
	Fence        string // the language of a block in Markdown
	Needs        string
	Install      string // the command that installs what it needs, or ""
	Code         string
}

// receivers are the programs of tools/webhooks, which the tests of package webhook run.
var receivers = sync.OnceValue(func() []receiver {
	all := []receiver{
		{"recepteur.go", "Go", "go", "Avec la bibliothèque officielle", "go get " +
			"github.com/standard-webhooks/standard-webhooks/libraries", "receiver.go"},
		{
			"recepteur.js", "JavaScript", "js", "Avec la bibliothèque officielle", "npm install standardwebhooks",
			"receiver.mjs",
		},
		{"recepteur.python", "Python", "python", "Avec la bibliothèque standard", "", "receiver.py"},
	}
	for i := range all {
		code, err := webhooks.Examples.ReadFile("examples/" + all[i].Code)
		if err != nil {
			panic(err) // it is embedded
		}
		all[i].Code = string(code)
	}
	return all
})

var eventExamples = sync.OnceValue(webhook.Examples)

// webhooks shows how to receive events. A publisher who hides Pro hides it.
func (s *Site) webhooks(r *request) (*response, error) {
	if !r.pro() {
		return nil, notFound("Ce catalogue n’envoie pas de webhooks ; son flux Atom annonce ses changements.")
	}
	return s.guide(r, "webhooks", s.page(r, "Webhooks", "Recevoir ce que le catalogue publie\u00a0: événements, signatures, "+
		"récepteurs à copier, nouvelles tentatives.", webhooksPath), guide{
		Deck:     "Chaque publication du catalogue, annoncée à votre serveur par des requêtes signées.",
		Examples: eventExamples(), Receivers: receivers(),
	})
}
