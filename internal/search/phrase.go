package search

import (
	"strings"
	"sync"
)

// phrases are words that mean something else together than apart: a « compte rendu » is
// neither an account nor a rendering. Stop words between them are left out. What follows
// an equals sign means the same. They are indexed wherever they occur; any other two
// words of a query simply add up.
const phrases = `
compte rendu = procès verbal
site internet = site web
page web
page vente = landing page
boutique ligne = ecommerce
open source = code ouvert = libre
code source
logiciel libre = open source
no code = sans code
mot clé
moteur recherche
base données
tableau bord
carte mentale
voix off
service client
ressource humaine
lettre motivation
boîte réception
arrière plan
emploi temps
prise note
note frais
bruit fond
libre droit
ligne commande
hors ligne
revue presse
revue code
réseau social
bac sable
mise page
bande son
sous titre
feuille calcul
intelligence artificielle
`

// phraseTable finds phrases by the stems of their words.
type phraseTable struct {
	first, second map[string]uint16 // number of a stem, from 1
	joined        map[[2]uint16]string
	same          map[string][]string // by phrase, those that mean the same
}

var phraseTables = sync.OnceValue(func() *phraseTable {
	t := &phraseTable{map[string]uint16{}, map[string]uint16{}, map[[2]uint16]string{}, map[string][]string{}}
	number := func(of map[string]uint16, stem string) uint16 {
		if of[stem] == 0 {
			of[stem] = uint16(len(of) + 1)
		}
		return of[stem]
	}
	s := newStemmer()
	for line := range strings.Lines(strings.TrimSpace(phrases)) {
		var all []string
		for part := range strings.SplitSeq(strings.TrimSpace(line), " = ") {
			words := keyWords(part)
			all = append(all, strings.Join(words, " "))
			if len(words) == 2 {
				key := [2]uint16{number(t.first, s.stem(words[0])), number(t.second, s.stem(words[1]))}
				t.joined[key] = all[len(all)-1]
			}
		}
		t.same[all[0]] = all[1:]
		for _, other := range all[1:] {
			if _, ok := t.same[other]; !ok && strings.Contains(other, " ") {
				t.same[other] = all[:1]
			}
		}
	}
	return t
})

// find returns the phrase that two words form, or "".
func (t *phraseTable) find(s stemmer, first, second string) string {
	return t.joined[[2]uint16{t.first[s.stem(first)], t.second[s.stem(second)]}]
}

// phrase returns the word of a query that stands for a phrase: the phrase, what means the
// same, and at worst one of its words.
func (x *Index) phrase(stem stemmer, phrase string) queryWord {
	q := queryWord{text: phrase}
	if i, ok := x.stems.find(phrase); ok {
		q.terms = append(q.terms, queryTerm{term: uint32(i), confidence: exact})
	}
	for _, other := range phraseTables().same[phrase] {
		if i, ok := x.stems.find(stem.stem(other)); ok {
			q.terms = append(q.terms, queryTerm{term: uint32(i), confidence: related, kin: true})
		}
	}
	first, second, _ := strings.Cut(phrase, " ")
	q.terms = x.appendJoined(q.terms, first+second)
	for _, word := range []string{first, second} {
		if i, ok := x.stems.find(stem.stem(word)); ok {
			q.terms = append(q.terms, queryTerm{term: uint32(i), confidence: partOfPhrase, kin: true})
		}
	}
	q.terms = compact(q.terms)
	return q
}
