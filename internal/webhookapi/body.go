package webhookapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxBody is the longest body that is read; the longest that makes sense, an
// address and every type of event, has less than 3 kB.
const maxBody = 16 << 10

// A body is the JSON object that a request carries. It is read strictly: what is
// misspelt here would be an endpoint that hears of everything, or of nothing.
type body map[string]json.RawMessage

// readBody reads the body of a request that may have the fields named. With none
// named there need be no body.
func readBody(r *http.Request, names ...string) (body, error) {
	if r.ContentLength > maxBody { // a client that waits for 100 Continue need not send it
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, invalid("", "Le corps de la requête n’est pas arrivé en entier : envoyez-le de nouveau.")
	case len(raw) > maxBody:
		return nil, tooLarge()
	case len(raw) == 0 && len(names) == 0:
		return nil, nil
	case len(raw) == 0:
		return nil, invalid("", "Le corps de la requête est vide : envoyez un objet JSON ("+allowedFields(names)+").")
	case !isJSON(r.Header):
		return nil, notJSON()
	}
	return parseBody(raw, names)
}

// isJSON tells whether a body is said to be JSON and nothing else.
func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	return err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8")) && h.Get("Content-Encoding") == ""
}

// parseBody reads one object with fields of the names given, each at most once.
func parseBody(raw []byte, names []string) (body, error) {
	malformed := func() (body, error) {
		return nil, invalid("", "Le corps de la requête n’est pas un objet JSON bien formé, seul et en UTF-8 ("+allowedFields(names)+").")
	}
	if !utf8.Valid(raw) { // encoding/json would replace what is not
		return malformed()
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return malformed()
	}
	b := body{}
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return malformed()
		}
		if _, twice := b[name]; twice {
			return nil, invalid(name, "Le champ "+quote(name)+" est donné plusieurs fois : une seule valeur est admise.")
		}
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known {
			return nil, invalid(cut(name), "Le champ "+quote(name)+" n’est pas admis ("+allowedFields(names)+").")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return malformed()
		}
		b[name] = value
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return malformed()
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return malformed()
	}
	return b, nil
}

func allowedFields(names []string) string {
	if len(names) == 0 {
		return "aucun champ n’est admis"
	}
	return "champs admis : " + strings.Join(names, ", ")
}

// text reads a field that is a string; ok is false when it is not there.
func (b body) text(name string) (value string, ok bool, err error) {
	raw, ok := b[name]
	if !ok {
		return "", false, nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", false, invalid(name, "Le champ "+quote(name)+" doit être une chaîne de caractères.")
	}
	return value, true, nil
}

// texts reads a field that is a list of strings, or null.
func (b body) texts(name, allowed string) (values []string, ok bool, err error) {
	raw, ok := b[name]
	if !ok {
		return nil, false, nil
	}
	var items []json.RawMessage
	err = json.Unmarshal(raw, &items)
	for _, item := range items {
		var value string
		if err == nil && item[0] != '"' {
			err = errors.New("not a string") // null would be taken for ""
		}
		if err == nil {
			err = json.Unmarshal(item, &value)
		}
		values = append(values, value)
	}
	if err != nil || items != nil && len(items) == 0 {
		return nil, false, invalid(name, "Le champ "+quote(name)+" doit être "+allowed+".")
	}
	return values, true, nil
}
