package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"palmares/internal/catalog"
)

// A topic is what the tools of the judged catalogue are about; see testdata/judged.txt.
type topic struct {
	name      string
	category  string // label
	taglines  []string
	sentences []string
	mentions  []string
}

// A judgedTool is what the generator knows about a tool.
type judgedTool struct {
	topic, second string // second is "" for most
	open          bool   // open source
}

// The reviews of a real catalogue follow one plan, and most of what they say could be
// said of any tool. These sentences use the words of many topics on purpose.
var plan = []struct {
	heading   string
	topical   int // number of sentences about the topic
	sentences []string
}{
	{"Présentation", 2, []string{
		"{nom} est un outil français qui utilise l’intelligence artificielle.",
		"Pour créer un compte, il suffit d’une adresse mail et d’une minute.",
		"Une vidéo de démonstration présente les fonctions sur le site de l’éditeur.",
		"Lancé il y a deux ans, ce logiciel est utilisé par plusieurs milliers d’équipes.",
		"L’application fonctionne avec une simple connexion internet, sans rien installer.",
		"L’éditeur présente {nom} comme le meilleur outil de sa catégorie, ce que nous avons voulu vérifier.",
		"On peut l’utiliser seul ou en équipe, sur ordinateur et sur téléphone.",
		"Nous avons fait nos essais pendant trois semaines, avec des textes, des images et des tableaux.",
	}},
	{"Fonctionnalités", 2, []string{
		"Un moteur de recherche permet de retrouver ses documents.",
		"Le rendu est soigné, et chaque document garde une trace des modifications.",
		"On peut partager un projet avec un client, en lecture ou en écriture.",
		"Les données peuvent être exportées en PDF ou vers un tableur.",
		"L’outil propose des modèles pour bien commencer.",
		"Un historique permet de revenir à la version de la veille.",
		"L’interface de programmation intéressera les développeurs.",
		"Le logiciel s’intègre aux applications de messagerie et d’agenda.",
	}},
	{"Points forts", 0, []string{
		"La prise en main est rapide, même pour qui n’a jamais utilisé ce genre d’outil.",
		"Le résultat est fiable et facile à corriger.",
		"Le support répond en français, par mail ou par téléphone.",
		"Cela se traduit par un gain de temps que nous avons mesuré.",
		"La qualité de l’écriture et le respect des consignes sont remarquables.",
		"Les réglages aident à trouver un style qui convient.",
		"Le site de l’éditeur est clair, et la documentation traduite en français.",
		"L’automatisation des tâches simples fonctionne bien.",
	}},
	{"Points faibles", 0, []string{
		"La connexion se perd parfois, et il faut recommencer.",
		"Les réponses sont lentes en fin de journée.",
		"On regrette l’absence d’une version pour téléphone.",
		"La création d’un second compte demande un appel au service client.",
		"Les images sont compressées, ce qui nuit au rendu.",
		"Le code n’est pas publié, et l’audit annoncé se fait attendre.",
		"Il faut corriger le texte à la main une fois sur cinq.",
		"Certaines traductions de l’interface font sourire.",
	}},
	{"Tarifs", 0, []string{
		"Comptez {prix} pour la formule courante.",
		"La facture est mensuelle, et la résiliation se fait en ligne.",
		"Une version d’essai gratuite permet de se faire une idée.",
		"Les étudiants et les associations paient moins cher.",
		"Le paiement annuel fait gagner deux mois.",
		"Aucune carte bancaire n’est demandée pour essayer.",
	}},
	{"Pour qui ?", 0, []string{
		"Les indépendants et les petites entreprises y trouveront leur compte.",
		"Un enseignant, un chercheur ou un journaliste peut l’utiliser sans formation.",
		"Les équipes de vente et de marketing sont les premières visées.",
		"Il convient à qui cherche un outil simple pour faire une chose bien.",
		"Les grandes entreprises voudront une gestion des droits plus fine.",
		"Pour un usage personnel, la formule de base suffit.",
	}},
	{"Notre avis", 1, []string{
		"Au terme de nos essais, nous recommandons {nom} sans réserve.",
		"Bien qu’imparfait, c’est un outil que nous continuerons à utiliser.",
		"Après une réunion avec l’éditeur, nous avons revu notre note.",
		"Il reste à faire, mais le projet est sérieux.",
		"Parmi les logiciels que nous avons testés, il se classe dans la moyenne.",
		"À essayer avant de choisir, en comparant deux ou trois concurrents.",
	}},
}

var openSentences = []string{
	"Le code est publié en open source, sous licence MIT.",
	"C’est un logiciel libre, que l’on peut installer sur son propre serveur.",
	"Le projet est open source : le code source complet est ouvert à tous.",
}

// readTopics returns the topics of the judged catalogue and the queries about them.
func readTopics(t testing.TB) (topics []topic, queries []judgedQuery) {
	t.Helper()
	text, err := os.ReadFile("testdata/judged.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		last := len(topics) - 1
		switch mark {
		case "==":
			name, category, _ := strings.Cut(rest, " | ")
			topics = append(topics, topic{name: name, category: category})
		case "+":
			topics[last].taglines = append(topics[last].taglines, rest)
		case "-":
			topics[last].sentences = append(topics[last].sentences, rest)
		case "~":
			topics[last].mentions = append(topics[last].mentions, rest)
		case "?":
			queries = append(queries, parseJudged(t, rest, topics[last].name))
		}
	}
	return topics, queries
}

// A judgedGenerator writes the judged catalogue.
type judgedGenerator struct {
	r      *rand.Rand
	topics []topic
	names  map[string]bool
}

// judgedCatalog returns a catalogue of 2,000 tools, always the same, and what each is
// about, by slug.
func judgedCatalog(t testing.TB) (*catalog.Catalog, map[string]judgedTool, []judgedQuery) {
	t.Helper()
	topics, queries := readTopics(t)
	g := &judgedGenerator{r: rand.New(rand.NewPCG(2_000, 16)), topics: topics, names: map[string]bool{}}
	c := &catalog.Catalog{}
	for i := range topics {
		if slug := slugOf(topics[i].category); !slices.ContainsFunc(c.Categories, func(c catalog.Category) bool { return c.Slug == slug }) {
			c.Categories = append(c.Categories, catalog.Category{Slug: slug, Label: topics[i].category})
		}
	}
	about := map[string]judgedTool{}
	for range 2_000 {
		tool, is := g.tool()
		c.Tools = append(c.Tools, tool)
		about[tool.Slug] = is
	}
	c.Sort()
	return c, about, queries
}

// slugOf returns the slug of a label, short and unlike it, as editors choose them.
func slugOf(label string) string { return "c-" + strings.Join(Words(label), "-")[:4] }

func (g *judgedGenerator) tool() (*catalog.Tool, judgedTool) {
	// Some topics have three times as many tools as others.
	at := g.r.IntN(len(g.topics))
	if at%3 == 0 && g.r.IntN(3) > 0 {
		at = g.r.IntN(len(g.topics))
	}
	topic := &g.topics[at]
	is := judgedTool{topic: topic.name, open: g.r.IntN(8) == 0}
	name := g.name()
	t := &catalog.Tool{
		Slug: strings.Join(Words(name), "-"), Name: name, Category: slugOf(topic.category), Tagline: pickOne(g.r, topic.taglines),
	}
	t.Pricing, t.Price = g.price()
	if g.r.IntN(6) > 0 {
		score := float64(30+g.r.IntN(65)) / 10
		t.Score = &score
	}
	var second *[]string
	if g.r.IntN(5) == 0 {
		if other := &g.topics[g.r.IntN(len(g.topics))]; other != topic {
			is.second, second = other.name, &other.sentences
		}
	}
	if is.open && g.r.IntN(3) == 0 {
		t.Tagline += ", en open source"
	}
	if is.second != "" || g.r.IntN(7) > 0 {
		t.Body = g.review(t, topic, second, is.open)
	} else {
		is.open = is.open && strings.Contains(t.Tagline, "open source")
	}
	return t, is
}

// review writes a review by the plan that all reviews share.
func (g *judgedGenerator) review(t *catalog.Tool, topic *topic, second *[]string, open bool) string {
	var b strings.Builder
	order := g.r.Perm(len(topic.sentences))
	for i, part := range plan {
		fmt.Fprintf(&b, "## %s\n\n", part.heading)
		var sentences []string
		for range part.topical {
			sentences = append(sentences, topic.sentences[order[0]])
			order = order[1:]
		}
		for _, k := range g.r.Perm(len(part.sentences))[:2+g.r.IntN(2)] {
			sentences = append(sentences, part.sentences[k])
		}
		switch i {
		case 1:
			if second != nil {
				sentences = append(sentences, pickOne(g.r, *second))
			}
			if open {
				sentences = append(sentences, pickOne(g.r, openSentences))
			}
		case 3:
			if g.r.IntN(2) == 0 { // in passing
				sentences = append(sentences, pickOne(g.r, g.topics[g.r.IntN(len(g.topics))].mentions))
			}
		}
		b.WriteString(strings.Join(sentences, " ") + "\n\n")
	}
	return strings.NewReplacer("{nom}", t.Name, "{prix}", t.Price).Replace(b.String())
}

func (g *judgedGenerator) name() string {
	syllables := strings.Fields("ba bel bri ca cli co da del dor fa fi flo ga gri ja ka kel la li lo lu ma mi mo na ni no o pa pi pli ra ri ro sa si so ta ti to tri va vel vi vo xa zel zo")
	for {
		var b strings.Builder
		for range 3 {
			b.WriteString(syllables[g.r.IntN(len(syllables))])
		}
		name := []rune(b.String())
		name[0] = unicode.ToUpper(name[0])
		if g.names[string(name)] {
			continue
		}
		g.names[string(name)] = true
		if g.r.IntN(5) == 0 {
			return string(name) + " " + pickOne(g.r, []string{"Studio", "Pro", "Lab", "Note", "Flow", "Voix", "Site"})
		}
		return string(name)
	}
}

func (g *judgedGenerator) price() (catalog.Pricing, string) {
	pricing := catalog.Pricing("freemium")
	switch n := g.r.IntN(100); {
	case n < 14:
		return "gratuit", "0 €/mois"
	case n < 45:
		pricing = "payant"
	}
	amount := 4 + g.r.IntN(60)
	switch n := g.r.IntN(20); {
	case n < 3:
		return pricing, fmt.Sprintf("%d €/utilisateur/mois", amount)
	case n < 6:
		return pricing, fmt.Sprintf("%d €/an", amount*10)
	case n == 6:
		return pricing, "0,05 €/minute"
	}
	return pricing, fmt.Sprintf("%d,90 €/mois", amount)
}

func pickOne(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }
