package api

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/snapshot"
)

// The limits of the parameters, all of them here.
const (
	defaultLimit = 50
	maxLimit     = 200
	maxPage      = 1<<53 - 1 // what every JSON client can hold exactly
	maxURL       = 8 << 10
)

var reasons = func() []string {
	names := make([]string, len(catalog.Reasons))
	for i, r := range catalog.Reasons {
		names[i] = string(r)
	}
	return names
}()

// checkLength refuses an address too long to be meant.
func checkLength(u *url.URL) error {
	if len(u.Path)+len(u.RawQuery) > maxURL {
		return invalidParameter("", "L’adresse est trop longue : "+strconv.Itoa(maxURL)+" octets au plus.")
	}
	return nil
}

// refuseKeyIn refuses a key in a query, where logs and caches would keep it.
func refuseKeyIn(query string) error {
	if query == "" {
		return nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			key, value = "", pair
		}
		name, err := url.QueryUnescape(key)
		if err != nil {
			name = key
		}
		v, err := url.QueryUnescape(value)
		if err != nil {
			v = value
		}
		if account.HoldsKey(v) || account.HoldsKey(name) {
			if account.HoldsKey(name) {
				name = "" // it would stand in the answer
			}
			return invalidParameter(name, "Une clé d’API ne va pas dans l’adresse, où journaux et caches la garderaient : envoyez-la dans l’en-tête « Authorization: Bearer … ». Révoquez celle-ci si l’adresse a circulé.")
		}
	}
	return nil
}

// params are the parameters of one request. The first thing wrong with them is
// kept in err; what is read afterwards does not matter.
type params struct {
	pairs []pair
	err   error
}

type pair struct{ key, value, raw string }

// known are the parameters that some operation reads. A pair whose name
// is none of them is ignored, even one that does not decode.
func isKnown(key string) bool {
	switch key {
	case "page", "limit", "category", "score_min", "obsolescence_max", "sort", "reason":
		return true
	}
	return false
}

func parse(query string) *params {
	p := &params{}
	if query == "" {
		return p
	}
	for part := range strings.SplitSeq(query, "&") {
		rawKey, rawValue, _ := strings.Cut(part, "=")
		key, err := url.QueryUnescape(rawKey)
		if err != nil || !isKnown(key) {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			value = "\xff" // refused as a value by whichever reader wants it
		}
		p.pairs = append(p.pairs, pair{key, value, rawValue})
	}
	return p
}

func (p *params) has(name string) bool {
	for _, kv := range p.pairs {
		if kv.key == name {
			return true
		}
	}
	return false
}

// get finds the one value of a parameter; allowed is what to say when it has
// two, or an empty one.
func (p *params) get(name, allowed string) (value string, ok bool) {
	for _, kv := range p.pairs {
		if kv.key != name {
			continue
		}
		if ok {
			p.fail(name, "est donné plusieurs fois ; une seule valeur est admise : "+allowed)
			return "", false
		}
		value, ok = kv.value, true
	}
	if ok && value == "" {
		p.fail(name, "est vide ; valeurs admises : "+allowed)
		return "", false
	}
	return value, ok
}

func (p *params) fail(name, text string) {
	if p.err == nil {
		p.err = invalidParameter(name, "Le paramètre « "+name+" » "+text+".")
	}
}

// text reads a parameter that may be any text, "" when it is not given.
func (p *params) text(name string) string {
	const allowed = "l’identifiant d’une catégorie, voir /api/v1/categories"
	value, ok := p.get(name, allowed)
	if ok && strings.ToValidUTF8(value, "") != value {
		p.fail(name, "n’est pas du texte UTF-8 bien encodé ; valeurs admises : "+allowed)
	}
	return value
}

// number reads a finite number, nil when it is not given.
func (p *params) number(name string) *float64 {
	const allowed = "un nombre, avec un point décimal, par exemple 7.5"
	value, ok := p.get(name, allowed)
	if !ok {
		return nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) || strings.ContainsAny(value, "xXpP_") {
		p.fail(name, "vaut "+quote(value)+" ; valeurs admises : "+allowed)
		return nil
	}
	return &x
}

// choice reads one of the names and gives its place, 0 when it is not given.
func (p *params) choice(name string, names []string) int {
	allowed := strings.Join(names, ", ")
	value, ok := p.get(name, allowed)
	if !ok {
		return 0
	}
	for i, n := range names {
		if n == value {
			return i
		}
	}
	p.fail(name, "vaut "+quote(value)+" ; valeurs admises : "+allowed)
	return 0
}

func (p *params) integer(name string, unset, most int64) int64 {
	allowed := "un entier de 1 à " + strconv.FormatInt(most, 10)
	value, ok := p.get(name, allowed)
	if !ok {
		return unset
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > most || value[0] == '+' {
		p.fail(name, "vaut "+quote(value)+" ; valeurs admises : "+allowed)
		return unset
	}
	return n
}

func (p *params) paging() snapshot.Paging {
	return snapshot.Paging{
		Number: p.integer("page", 1, maxPage),
		Limit:  int(p.integer("limit", defaultLimit, maxLimit)),
	}
}
