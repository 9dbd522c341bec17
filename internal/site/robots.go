package site

import (
	"strings"

	"palmares/internal/wire"
)

// trainers are the names by which crawlers that collect texts for models read robots.txt.
var trainers = strings.Fields("AI2Bot Amazonbot anthropic-ai Applebot-Extended Bytespider CCBot ClaudeBot cohere-training-data-crawler " +
	"Diffbot FacebookBot Google-Extended GPTBot ImagesiftBot meta-externalagent omgili PanguBot Timpibot")

// robots lets crawlers in everywhere: the API is for machines, and pages that are not worth indexing say
// so themselves. Those for models are kept out if the publisher wants that. The publisher's own lines
// follow the rules for all others, or begin groups of their own.
func (s *Site) robots(r *request) (*response, error) {
	c := r.snap.Catalog
	var text strings.Builder
	if c.DeniesTraining() {
		for _, name := range trainers {
			text.WriteString("User-agent: " + name + "\n")
		}
		text.WriteString("Disallow: /\n\n")
	}
	text.WriteString("User-agent: *\nAllow: /\n")
	for _, line := range c.Settings.Robots {
		text.WriteString(line + "\n")
	}
	text.WriteString("\nSitemap: " + c.URL + "/sitemap.xml\n")
	return newResponse(textType, []byte(text.String())), nil
}

// mining says in the form of the TDM Reservation Protocol of the W3C whether texts may be mined.
func (s *Site) mining(r *request) (*response, error) {
	reserved, policy := 0, ""
	if r.snap.Catalog.DeniesTraining() {
		reserved, policy = 1, r.snap.Catalog.URL+"/licence"
	}
	said := object{"location", "/", "tdm-reservation", reserved, "tdm-policy", policy}
	return newResponse("application/json; charset=utf-8", wire.AppendJSON(nil, []object{said})), nil
}
