package evidence

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html/atom"
)

// datedPath matches addresses of articles.
var datedPath = compile(`(?i)/(?:blog|news|actualites?|actus?|journal|presse?|changelog|release-notes|archives?|articles?|posts?|magazine|stories|aktuelles|(?:19|20)\d\d)/`)

// anyYear matches a year, and pastDay a day or month with its year.
var (
	anyYear = compile(`\b20\d\d\b`)
	since   = matcher(`\b(?:since|depuis|seit)(?: le| dem| the)?(?: \d{1,2}\.?)? ?$`)
	pastDay = compile(`(?i)(?:(?:jan|f[ée]v|feb|m[aä]r|a[pv]r|mai|may|juin|juil|jun|jul|ao[uû]|aug|sep|o[ck]t|nov|d[ée][cz])\pL*\.?(?: \d{1,2},)? |\b\d\d[./]\d\d[./])(20\d\d)\b|\b(20\d\d)-\d\d-\d\d\b`)
)

var (
	// notice matches what pages say of themselves when their prices no longer hold.
	notice = matcher(`\b(?:outdated|obsol[eè]tes?|veraltet|périmée?s?|wayback machine|archived (?:copy|version|page)|(?:copie|version) archivée|archivierte (?:version|seite|kopie|preise)|shut(?:ting|s)? down|sunset(?:ting|ted)?|ferme(?:ra)? ses portes|cesse(?:ra)? (?:son|ses) activités?|stellt den betrieb ein|` +
		`(?:sign-?ups|subscriptions|abonnements|inscriptions) (?:are|is|sont) (?:now )?(?:closed|fermée?s?|clos)|no longer apply|ne s[’']appliquent plus|gelten nicht mehr|` +
		`s[’']arrête(?:ra)? (?:le|en)|closes on|ferme(?:ra)? (?:le|en)|schließt (?:am|zum)|keine neuen kunden|(?:prices|prix|tarifs|preise)(?: shown| affichés)? (?:are|sont|gelten) (?:for|pour|für) (?-i:\p{Lu})\pL+|lorem ipsum dolor|(?:demo|sample|template) (?:data|preview)|(?:anciens|former|previous|old|alte) (?:tarifs|prix|prices|preise))\b`)
	// renamed matches what is said of tools that are now part of others.
	renamed = matcher(`\b(?:(?:is|are|has been) (?:now )?(?:part of|called|known as|renamed|acquired|merged)|(?:fait|font) (?:désormais |maintenant )?partie de|est devenue?|s[’']appelle|(?:heißt|gehört) jetzt|` +
		`(?:is|are) now (?-i:\p{Lu})\pL+|est désormais (?-i:\p{Lu})\pL+|remplacée?s? par|replaced by|ersetzt durch)\b`)
	// oldPage matches titles of pages that are about other times, other things or several tools.
	oldPage = matcher(`^archiv\pL*\b|\b(?:archived|archivée?s?|archivierte\pL*|ancien\pL*|histor\pL+|changelog|release notes|communiqué|press\pL*|(?:in the|dans les|in den) (?:media|médias|medien)|conditions (?:générales|d[’']\pL+)|terms (?:of|and)|CG[VU]|AGB|forums?|community|communauté|roadmap|(?:invoice|facture|rechnung) (?:n[°or]|#|\d)\S*|` +
		`survey|sondage|umfrage|affili\pL+|parrainage|jobs?|careers?|carrières?|recrut\pL+|karriere|vs|versus|alternatives?|concurren\pL+|competitors?|discontinued|eingestellt|end of life|fermeture|webinar|case stud\pL+|étude de cas|interview|sponsor\pL*|donat\pL+|soutenir|soutenez|support (?-i:\p{Lu})\pL+|partenaires?|partners?|(?:pour|for|für) (?:\pL+ )?(?:` + audience + `)|captcha|(?:are|be|is|êtes) (?:you )?(?:a )?(?:human|humain)|just a moment)\b`)
	// besides matches titles of pages about what is sold beside a tool, unless a hint says that it is the tool.
	besides = matcher(`\b(?:maintenance|hosting|hébergement|formations?|trainings?|schulung\pL*)\b`)
)

// said returns what a page says that it is: its title and its first heading.
func (p *page) said() string {
	said := p.title
	for i := range p.elements {
		if p.elements[i].tag == atom.H1 {
			said += "\n" + shorten(p.textOf(i), 300)
		}
		if len(said) > 4000 {
			break
		}
	}
	return said
}

// isOther reports whether a page says that it is not about today's prices of one tool.
func (p *page) isOther(all []amount) bool {
	return p.isDated || oldPage.MatchString(strings.ReplaceAll(p.said(), p.name, "Outil")) || p.hint == nil && besides.MatchString(p.said()) || notice.MatchString(p.text) || p.isRenamed() || p.namesPastYear(all)
}

// ofTool matches what pages call the tool that they are about.
var ofTool = compile(`^\W*(?:ce|cette|this|the|dieses?|diese|le|la) (?:produit|outil|logiciel|offre|service|product|tool|app|site|produkt|angebot)\b`)

// isRenamed reports whether a page says of the tool that it is now part of another one.
func (p *page) isRenamed() bool {
	for _, m := range renamed().FindAllStringIndex(p.text, 20) {
		start, _ := p.block(m[0])
		_, end := p.block(m[1] - 1)
		text := strings.ToLower(p.text[start:end])
		if strings.Contains(text, strings.ToLower(p.name)) || ofTool.MatchString(text) {
			return true
		}
	}
	return false
}

// perUser matches notes that all prices of a page are for one user each.
var perUser = compile(`(?im)^(?:\W*(?:all |tous les |toutes les |alle |nos |our |unsere )?(?:prix|tarifs?|prices?|pricing|preise|plans|formules|offres)\b[^€$£\n]{0,60})?(?:par|per|pro|/) ?(?:brands?|marques?|utilisat\pL+|users?|seats?|sièges?|(?:be)?nutzer|members?|membres?|lizenz|sites?|domaine?s?|locations?|stores?|boutiques?|editors?|éditeurs?|personne?|collaborat\pL+)\b[^€$£\n]{0,40}$`)

// isForEach reports whether a page says of all its prices that they are for one user each.
func (p *page) isForEach(all []amount) bool {
	for _, m := range perUser().FindAllStringIndex(p.text, 20) {
		if !slices.ContainsFunc(all, func(a amount) bool { return a.start <= m[0] && m[0] < a.end }) {
			return true
		}
	}
	return false
}

// isInArticle reports whether an amount stands in an article that has a day.
func (p *page) isInArticle(a *amount) bool {
	article := p.around(p.at(a.number), atom.Article)
	if article < 0 {
		return false
	}
	for i := article; i < len(p.elements) && p.elements[i].start <= p.elements[article].end; i++ {
		if p.elements[i].tag == atom.Time && p.isInside(i, article) {
			return true
		}
	}
	return false
}

// namesPastYear reports whether a page has a day of another year, or an earlier year in its title. Days in its margins
// and in sections without a price do not count, nor do those since which something holds.
func (p *page) namesPastYear(all []amount) bool {
	now := time.Now().Format("2006")
	for line := range strings.Lines(p.said()) {
		if labelWords.MatchString(line) && slices.ContainsFunc(anyYear().FindAllString(line, -1), func(year string) bool { return year < now }) {
			return true
		}
	}
	for _, m := range pastDay().FindAllStringSubmatchIndex(p.text, 100) {
		year := p.text[m[1]-4 : m[1]]
		if m[4] >= 0 {
			year = p.text[m[4]:m[5]]
		}
		if year == now || year < strconv.Itoa(time.Now().Year()-8) || p.elements[p.at(m[0])].role == margin || since.MatchString(p.text[max(0, m[0]-20):m[0]]) {
			continue
		}
		section, next := p.heading(m[0])
		if section < 0 || p.elements[section].tag == atom.H1 || slices.ContainsFunc(all, func(a amount) bool { return a.number > p.elements[section].start && a.number < next }) {
			return true
		}
	}
	return false
}

// isMissing reports whether a page says that there is none.
func (p *page) isMissing() bool {
	if missing.MatchString(p.said()) {
		return true
	}
	for line := range strings.Lines(p.text[:min(len(p.text), 600)]) {
		if len(p.text) < 1500 && missing.MatchString(line) && ofPages.MatchString(line) {
			return true
		}
	}
	return false
}
