package site_test

import (
	"regexp"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

var givesAway = regexp.MustCompile(`(?i)libres? de droits|données libres|à condition d.en citer|à condition de citer|citer la source|` +
	`aucune autorisation|usage commercial|pour entraîner (?:ou|un)|sous licence libre|(?:qui|pour) reprend|réutilisation doit|(?:télécharger|prendre) d’un coup`)

// Nothing that the site of a publisher who reserves all rights says gives them away.
func TestReservedRightsAreGivenAwayNowhere(t *testing.T) {
	c := small()
	c.Settings.Licence = []catalog.Licence{{Name: catalog.Reserved}}
	c.Settings.Robots = []string{"Disallow: /archives/"}
	v := listen(t, demoless)
	c.URL = v.url
	v.publish(c, 1)
	pages := crawl(t, v, "/licence.md", "/donnees.md", "/tarifs", "/llms.txt", "/flux.atom", "/docs.md", "/robots.txt", "/.well-known/tdmrep.json", "/api/v1/openapi.json", "/docs/assistants.md")
	for path, r := range pages {
		if found := givesAway.FindString(r.body); found != "" {
			t.Errorf("%s says %q", path, found)
		}
		isPage := strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || strings.HasSuffix(path, ".atom")
		if isPage && !strings.Contains(r.body, "Tous droits réservés") {
			t.Errorf("%s does not say that all rights are reserved", path)
		}
	}
	v.get("/docs/donnees").ok().says("une copie demande l’accord")
	c.Pages = append(c.Pages, catalog.Page{Slug: "licence", Title: "Nos droits", Body: "Rien n’est à reprendre."})
	v.publish(c, 2)
	for _, path := range []string{"/licence", "/licence.md"} {
		v.get(path).ok().says("Une citation porte cette ligne").saysNot("ui reprend")
	}
	c.Pages = c.Pages[:len(c.Pages)-1]
	v.publish(c, 3)
	v.get("/robots.txt").ok().says("User-agent: GPTBot\n", "Disallow: /\n\nUser-agent: *\nAllow: /\nDisallow: /archives/\n\nSitemap: ")
	v.get("/.well-known/tdmrep.json").ok().says(`[{"location":"/","tdm-reservation":1,"tdm-policy":"` + v.url + `/licence"}]`)
	v.get("/llms.txt").ok().says("entraîner des modèles est refusé")
	v.get("/api/v1/openapi.json").ok().says(`{"name":"Tous droits réservés","url":"` + v.url + `/licence"}`)

	c.Settings.Licence = []catalog.Licence{{Name: "CC BY-NC 4.0", URL: "https://creativecommons.org/licenses/by-nc/4.0/"}}
	v.publish(c, 4)
	v.get("/licence").ok().says(`<a href="https://creativecommons.org/licenses/by-nc/4.0/" rel="noopener nofollow">CC BY-NC 4.0</a>`).saysNot("libres de droits")
	v.get("/donnees").ok().says(`"license":"https://creativecommons.org/licenses/by-nc/4.0/"`)

	c.Settings.Licence, c.Settings.AITraining = nil, catalog.TrainingDenied
	v.publish(c, 5)
	v.get("/licence").ok().says("libres de droits", "modèles est refusé").saysNot("alimenter un modèle")
	c.Settings.AITraining = ""
	v.publish(c, 6)
	v.get("/robots.txt").ok().saysNot("GPTBot")
	v.get("/.well-known/tdmrep.json").ok().says(`[{"location":"/","tdm-reservation":0}]`)
}
