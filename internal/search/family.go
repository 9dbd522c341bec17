package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// things are fillers that name what is wanted, if a query has no better word: « créer une
// application » is about applications.
var things = set(`alternative app appli application applications applis apps artificielle assistant automatique automatiques
	avis creation ia intelligence prix tarif`)

// fillers are everyday words of a request that say little about what is wanted: « je
// cherche un outil pour faire… ». They count little and are not required, unless a query
// has no other words.
var fillers = set(`actuellement afin ai aide aider aimerais aurait ainsi aller alternative app appli application applications applis apps apres
	artificielle assistant aupres aussi automatique automatiquement automatiques autre avant avez avis avoir
	beaucoup besoin bien bon bonne bonjour bons bonsoir cela cher cherche chercher chez choisir comment concernant concevoir connaissez conseillez construire
	creation cree creer devoir dois donne donner efficace encore entre etre existe fabriquer facile facilement faire fais fait
	faites faut fonctionne grace gratuit gratuite gratuitement ia ici ideal intelligence intelligent leur
	ligne liste logiciel logiciels lors ma meilleur meilleure meilleures meilleurs merci mes mieux mise moi moins
	mon moyen nouveau nouveaux nouvelle obtenir on outil outils parmi partir pas pendant perdons perdre permet permettant
	permettre personnel peut peux plateforme plus plusieurs possible pourrait pourriez pouvoir prix propose puis puisse quand
	quel quelle quelles quelqu quelque quels quoi rapide rapidement realiser recommandez sans savoir selon
	sert salut simple simplement solution solutions sommes souhaite souhaiterais suis svp tarif temps tool top tous tout toute toutes
	tres trouver type utile utilisation utilise utiliser va vers veut veux via vite vois voudrais vraiment
	vue`)

const fillerFactor = 0.2

// families lists words that belong together although their stems differ and no rule
// joins them. Verbs of the third group, mostly: their nouns come from Latin.
//
//go:embed families.txt
var families string

// synonyms lists words that mean nearly the same in a catalogue of tools. One with hyphens
// is a phrase, see phrases; one with a tilde is only evoked by the others.
//
//go:embed synonyms.txt
var synonyms string

// A kinTable maps stems to the root of their family, and roots to words that mean the same.
type kinTable struct {
	root     map[string]string
	synonyms map[string][]string
	words    lexicon // all of them
}

var kinTables = sync.OnceValue(func() *kinTable {
	all := Words(families + synonyms)
	slices.Sort(all)
	t := &kinTable{map[string]string{}, map[string][]string{}, newLexicon(slices.Compact(all))}
	s := newStemmer()
	for line := range strings.Lines(families) {
		words := strings.Fields(strings.ReplaceAll(line, "-", ""))
		for _, word := range words {
			// The mark keeps these roots apart from those found by rule.
			if stem := s.stem(word); t.root[stem] == "" {
				t.root[stem] = "=" + words[0]
			}
		}
	}
	for line := range strings.Lines(synonyms) {
		words := strings.Fields(line)
		for i, word := range words {
			root := t.rootOf(s.stem(word))
			t.synonyms[root] = append(t.synonyms[root], slices.Concat(words[:i], words[i+1:])...)
		}
	}
	return t
})

// notDerived are stems in ag that are no verb with the suffix -age.
var notDerived = set("partag avantag ouvrag personnag langag messag paysag visag dommag bagag garag")

// rootOf returns the root of the family of a stem: what derived words have in common that
// the stemmer keeps apart, as in montage, monteur and monter.
func (t *kinTable) rootOf(stem string) string {
	if root, ok := t.root[stem]; ok {
		return root
	}
	if base, ok := strings.CutSuffix(stem, "ifi"); ok && len(base) > 2 { // planifier, planification
		return base + "if"
	}
	if base, ok := strings.CutSuffix(stem, "iv"); ok && len(base) > 2 { // fictive, fictif
		return base + "if"
	}
	for _, suffix := range [...]string{"eur", "ric", "ag"} {
		base, ok := strings.CutSuffix(stem, suffix)
		if !ok || len(base) < 4 || notDerived[stem] {
			continue
		}
		if before, ok := strings.CutSuffix(base, "y"); ok {
			base = before + "i" // nettoyage, nettoie
		}
		if root, ok := t.root[base]; ok {
			return root
		}
		return base
	}
	return stem
}

func rootOf(stem string) string { return kinTables().rootOf(stem) }

// indexKin groups the terms by root.
func (x *Index) indexKin() {
	roots := make([]string, x.stems.len())
	for i := range roots {
		roots[i] = rootOf(x.stems.at(i))
	}
	byRoot := sortedOrder(roots)
	distinct := make([]string, 0, len(roots))
	x.kinStart = make([]uint32, 0, len(roots)+1)
	for at, term := range byRoot {
		if root := roots[term]; at == 0 || root != distinct[len(distinct)-1] {
			distinct = append(distinct, root)
			x.kinStart = append(x.kinStart, uint32(at))
		}
	}
	x.roots, x.kin = newLexicon(distinct), byRoot
	x.kinStart = append(x.kinStart, uint32(len(byRoot)))
}

// appendKin appends the terms of the family of a word, and its synonyms.
func (x *Index) appendKin(terms []queryTerm, stem stemmer, word string) []queryTerm {
	own := rootOf(stem.stem(word))
	terms = x.appendFamily(terms, own, related)
	for _, other := range kinTables().synonyms[own] {
		confidence := float32(synonymous)
		if other[0] == '~' {
			confidence = evoked
		}
		other = strings.ReplaceAll(strings.TrimPrefix(other, "~"), "-", " ")
		terms = x.appendFamily(terms, rootOf(stem.stem(other)), confidence)
	}
	return terms
}

func (x *Index) appendFamily(terms []queryTerm, root string, confidence float32) []queryTerm {
	if i, ok := x.roots.find(root); ok {
		for _, term := range x.kin[x.kinStart[i]:x.kinStart[i+1]] {
			terms = append(terms, queryTerm{term: term, confidence: confidence, kin: true})
		}
	}
	return terms
}
