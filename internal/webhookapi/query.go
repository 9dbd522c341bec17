package webhookapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/account"
)

// The limits of the parameters, all of them here.
const (
	defaultLimit = 50
	maxLimit     = 200
	maxSequence  = 1<<53 - 1 // what every JSON client can hold exactly
)

// A query is the parameters of a request in their order. Those that an operation
// does not know are ignored.
type query []parameter

type parameter struct{ name, value string }

func parseQuery(raw string) query {
	var q query
	for part := range strings.SplitSeq(raw, "&") {
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			name = rawName
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			value = rawValue // it has a %, as no value that is allowed has
		}
		if part != "" {
			q = append(q, parameter{name, value})
		}
	}
	return q
}

// refuseKey refuses a key in the address, where logs would keep it.
func (q query) refuseKey() error {
	for _, p := range q {
		if !account.HoldsKey(p.name) && !account.HoldsKey(p.value) {
			continue
		}
		if account.HoldsKey(p.name) {
			p.name = "" // it would stand in the answer
		}
		return invalid(cut(p.name), "Une clé d’API ne va pas dans l’adresse, où les journaux la garderaient : envoyez-la dans l’en-tête « Authorization: Bearer … ». Révoquez celle-ci si l’adresse a circulé.")
	}
	return nil
}

// get finds the one value of a parameter, "" when it is not given; allowed is what
// to say when it has two, or an empty one.
func (q query) get(name, allowed string) (string, error) {
	var values []string
	for _, p := range q {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	switch {
	case len(values) > 1:
		return "", invalid(name, "Le paramètre "+quote(name)+" est donné plusieurs fois ; une seule valeur est admise : "+allowed+".")
	case len(values) == 1 && values[0] == "":
		return "", invalid(name, "Le paramètre "+quote(name)+" est vide ; valeurs admises : "+allowed+".")
	case len(values) == 1:
		return values[0], nil
	}
	return "", nil
}

func (q query) refuse(name, value, allowed string) error {
	return invalid(name, "Le paramètre "+quote(name)+" vaut "+quote(value)+" ; valeurs admises : "+allowed+".")
}

// choice reads one of the names, "" when it is not given.
func (q query) choice(name string, names []string) (string, error) {
	allowed := strings.Join(names, ", ")
	value, err := q.get(name, allowed)
	if err != nil || value == "" || slices.Contains(names, value) {
		return value, err
	}
	return "", q.refuse(name, value, allowed)
}

// integer reads a number from least to most.
func (q query) integer(name string, unset, least, most int64) (int64, error) {
	allowed := "un entier de " + strconv.FormatInt(least, 10) + " à " + strconv.FormatInt(most, 10)
	value, err := q.get(name, allowed)
	if err != nil || value == "" {
		return unset, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most || value[0] == '+' || value[0] == '-' {
		return 0, q.refuse(name, value, allowed)
	}
	return n, nil
}

// limit reads how many records a page may have.
func (q query) limit() (int, error) {
	n, err := q.integer("limit", defaultLimit, 1, maxLimit)
	return int(n), err
}

// id reads the id of a record, "" when it is not given.
func (q query) id(name, prefix string) (string, error) {
	allowed := "un identifiant comme « " + prefix + "… »"
	value, err := q.get(name, allowed)
	if err != nil || value == "" || isID(prefix, value) {
		return value, err
	}
	return "", q.refuse(name, value, allowed)
}

// isID tells whether s can be the id of something. What cannot is not asked for:
// PostgreSQL refuses a text with a NUL or bad UTF-8 as an error, not as unknown.
func isID(prefix, s string) bool {
	id, ok := strings.CutPrefix(s, prefix)
	return ok && len(id) == 26 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// with is the same query with one parameter changed, for a link to the next page.
// It keeps only the names given, as these values were found good.
func (q query) with(name, value string, keep ...string) string {
	next := url.Values{name: {value}}
	for _, p := range q {
		if slices.Contains(keep, p.name) {
			next.Set(p.name, p.value)
		}
	}
	return "?" + next.Encode()
}
