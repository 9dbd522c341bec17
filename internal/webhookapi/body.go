package webhookapi

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"palmares/internal/web"
)

// maxBody is the largest body that is read; the largest that makes sense, a URL and
// every event type, has less than 3 kB.
const maxBody = 16 << 10

// A body is the JSON object of a request. It is read strictly: a misspelt field could
// create an endpoint that receives everything, or nothing.
type body map[string]jsontext.Value

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
		return nil, web.NewError(web.CodeUnsupportedMediaType,
			"Le corps de la requête doit être du JSON, non compressé : envoyez-le avec l’en-tête « Content-Type: "+
				"application/json ».")
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
	var b body
	err := jsonv2.Unmarshal(raw, &b)
	if twice, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(err, jsontext.ErrDuplicateName) {
		name := twice.JSONPointer.LastToken()
		return nil, web.Invalid(web.Shorten(name), "Le champ "+web.Quote(name)+" est donné plusieurs fois : "+
			"une seule valeur est admise.")
	}
	if err != nil || b == nil {
		return nil, web.Invalid("",
			"Le corps de la requête n’est pas un objet JSON bien formé, seul et en UTF-8 ("+allowedFields(names)+").")
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !slices.Contains(names, name) {
			return nil, web.Invalid(web.Shorten(name),
				"Le champ "+web.Quote(name)+" n’est pas admis ("+allowedFields(names)+").")
		}
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
	var items []*string
	err = json.Unmarshal(raw, &items)
	if err != nil || items != nil && len(items) == 0 || slices.Contains(items, nil) {
		return nil, false, web.Invalid(name, "Le champ "+web.Quote(name)+" doit être "+allowed+".")
	}
	for _, item := range items {
		values = append(values, *item)
	}
	return values, true, nil
}
