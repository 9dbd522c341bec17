package site

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"palmares/internal/webhook"
	"palmares/tools/webhooks"
)

const webhooksPath = "/docs/webhooks"

// An eventText says when an event is sent, and what its object is.
type eventText struct{ Name, When, Object string }

// A receiver is a program to copy.
type receiver struct {
	ID, Language string
	Fence        string // the language of a block in Markdown
	Needs        string
	Install      string // the command that installs what it needs, or ""
	Code         string
}

// An outcomeText says what an outcome of an attempt means.
type outcomeText struct {
	Name webhook.Outcome
	Text string
}

// A retry is a line of the schedule.
type retry struct {
	Number       int
	After, InAll string
}

var eventTexts = []eventText{
	{"tool.created", "un outil arrive", "l’outil, comme dans `/api/v1/tools`"},
	{"tool.updated", "un champ de sa fiche change, prix compris", "l’outil"},
	{"tool.retired", "un outil part au cimetière, ou son entrée y change", "l’élément de `/api/v1/cimetiere`"},
	{"tool.restored", "un outil revient du cimetière", "l’outil"},
	{"tool.removed", "un outil disparaît sans passer par le cimetière", "`null`"},
	{"pricing.updated", "`pricing` ou `price` change, en plus de `tool.updated`", "l’élément de `/api/v1/pricing`"},
	{"comparatif.published", "un comparatif paraît", "l’élément de `/api/v1/comparatifs`"},
	{"comparatif.updated", "un comparatif publié change", "le même"},
	{"comparatif.unpublished", "un comparatif est retiré", "`null`"},
	{"article.published", "un article paraît", "l’article sans son texte"},
	{"article.updated", "un article change, ou a une autre adresse", "le même"},
	{"article.removed", "un article est retiré", "`null`"},
	{"review.updated", "l’avis d’un outil déjà au catalogue est nouveau ou réécrit", "l’avis sans son texte"},
	{"page.updated", "une page de l’éditeur est nouvelle ou réécrite", "la page sans son texte"},
	{"embeddings.updated", "`reason` le dit : l’outil entre parmi les 300 premiers (`entered`), " +
		"son texte change (`changed`), ou il en sort (`left`)", "le document sans `chunks`, `null` s’il en sort"},
	{
		"catalog.updated", "une publication est finie, après tous ses autres événements",
		"`version`, la dernière `position` et le `state` de `/data/v1/changes` à ce moment, et le nombre " +
			"d’événements par type",
	},
	{"webhook.ping", "vous l’avez demandé", "`null`"},
}

var outcomeTexts = []outcomeText{
	{webhook.OK, "reçu : une réponse 2xx"},
	{webhook.HTTPStatus, "toute autre réponse"},
	{webhook.Timeout, "pas de réponse complète à temps"},
	{webhook.Resolve, "le nom de domaine ne mène à rien"},
	{webhook.Connect, "pas de connexion, ou elle s’est rompue"},
	{webhook.TLS, "pas de TLS 1.2 ou plus récent, ou pas de certificat valable"},
	{webhook.Blocked, "le nom mène à une adresse à laquelle rien n’est envoyé, comme celle d’un réseau privé"},
	{webhook.Secret, "nous ne pouvons pas lire votre secret : rien n’est envoyé, et ce n’est pas une tentative ; " +
		"si cela dure, changez-le"},
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

// retries is the schedule of deliveries.
func retries() []retry {
	var all []retry
	var sum time.Duration
	for i, delay := range webhook.DefaultSchedule() {
		sum += delay
		r := retry{i + 1, "aussitôt", ""}
		if delay > 0 {
			r.After, r.InAll = waited(delay), waited(sum)
		}
		all = append(all, r)
	}
	return all
}

// waited formats a delay by its two largest units.
func waited(d time.Duration) string {
	units := []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "j"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	var parts []string
	for _, unit := range units {
		if n := d / unit.length; n > 0 && len(parts) < 2 && (unit.name != "j" || n > 1) {
			parts = append(parts, strconv.Itoa(int(n))+" "+unit.name)
			d %= unit.length
		}
	}
	return strings.Join(parts, " ")
}

// webhooks shows how to receive events. A publisher who hides Pro hides it.
func (s *Site) webhooks(r *request) (*response, error) {
	if !r.pro() {
		return nil, notFound("Ce catalogue n’envoie pas de webhooks ; son flux Atom annonce ses changements.")
	}
	return s.guide(r, "webhooks", guidePage{
		Page: s.page(r, "Webhooks", "Recevoir ce que le catalogue publie : événements, signatures, "+
			"récepteurs à copier, nouvelles tentatives.", webhooksPath),
		Deck:  "Chaque publication du catalogue, annoncée à votre serveur par des requêtes signées.",
		Types: eventTexts, Examples: eventExamples(), Receivers: receivers(), Retries: retries(), Outcomes: outcomeTexts,
	}), nil
}
