package webhookapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"palmares/internal/web"
)

// maxBody is the largest body that is read; the largest that makes sense, a URL and
// every event type, has less than 3 kB.
const maxBody = 16 << 10

// A body is the JSON object of a request. It is read strictly: a misspelt field could
// create an endpoint that receives everything, or nothing.
type body map[string]json.RawMessage

// readBody reads the body of a request, which may have the named fields. Without any
// the body may be missing.
func (r *request) readBody(names ...string) (body, error) {
	if r.ContentLength > maxBody { // before reading: a client that waits for 100 Continue need not send it
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, web.Invalid("", "Le corps de la requête n’est pas arrivé en entier : envoyez-le de nouveau.")
	case len(raw) > maxBody:
		return nil, tooLarge()
	case len(raw) == 0 && len(names) == 0:
		return nil, nil
	case len(raw) == 0:
		return nil, web.Invalid("", "Le corps de la requête est vide : envoyez un objet JSON ("+allowedFields(names)+").")
	case !isJSON(r.Header):
		return nil, notJSON()
	}
	return parseBody(raw, names)
}

// isJSON reports whether the headers say that a body is JSON, in UTF-8 and not compressed.
func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	isUTF8 := charset == "" || strings.EqualFold(charset, "utf-8")
	return err == nil && kind == "application/json" && isUTF8 && h.Get("Content-Encoding") == ""
}

// parseBody parses one object that has only the named fields, each at most once.
func parseBody(raw []byte, names []string) (body, error) {
	malformed := func() (body, error) {
		return nil, web.Invalid("",
			"Le corps de la requête n’est pas un objet JSON bien formé, seul et en UTF-8 ("+allowedFields(names)+").")
	}
	if !utf8.Valid(raw) { // encoding/json would replace invalid bytes
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
			return nil, web.Invalid(name, "Le champ "+web.Quote(name)+" est donné plusieurs fois : "+
				"une seule valeur est admise.")
		}
		if !slices.Contains(names, name) {
			return nil, web.Invalid(web.Shorten(name),
				"Le champ "+web.Quote(name)+" n’est pas admis ("+allowedFields(names)+").")
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

// text reads a field that is a string; ok is false if it is missing.
func (b body) text(name string) (value string, ok bool, err error) {
	raw, ok := b[name]
	if !ok {
		return "", false, nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", false, web.Invalid(name, "Le champ "+web.Quote(name)+" doit être une chaîne de caractères.")
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
			err = errors.New("not a string") // Unmarshal would accept null
		}
		if err == nil {
			err = json.Unmarshal(item, &value)
		}
		values = append(values, value)
	}
	if err != nil || items != nil && len(items) == 0 {
		return nil, false, web.Invalid(name, "Le champ "+web.Quote(name)+" doit être "+allowed+".")
	}
	return values, true, nil
}
