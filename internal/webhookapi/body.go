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

	"palmares/internal/problem"
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
		return nil, web.Invalid("", problem.New("body-cut-off"))
	case len(raw) > maxBody:
		return nil, tooLarge()
	case len(raw) == 0 && len(names) == 0:
		return nil, nil
	case len(raw) == 0:
		return nil, web.Invalid("", problem.New("body-empty", allowedFields(names)))
	case !isJSON(r.Header):
		return nil, web.NewError(web.CodeUnsupportedMediaType, problem.New("body-not-json"))
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
		return nil, web.Invalid(web.Shorten(name), problem.New("body-field-twice", web.Shorten(name)))
	}
	if err != nil || b == nil {
		return nil, web.Invalid("", problem.New("body-malformed", allowedFields(names)))
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if !slices.Contains(names, name) {
			return nil, web.Invalid(web.Shorten(name), problem.New("field-not-allowed", web.Shorten(name), allowedFields(names)))
		}
	}
	return b, nil
}

func allowedFields(names []string) problem.Text {
	if len(names) == 0 {
		return problem.New("fields-none")
	}
	return problem.New("fields-allowed", strings.Join(names, ", "))
}

// text reads a field that is a string; ok is false if it is missing.
func (b body) text(name string) (value string, ok bool, err error) {
	raw, ok := b[name]
	if !ok {
		return "", false, nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &value) != nil {
		return "", false, web.Invalid(name, problem.New("field-no-string", web.Shorten(name)))
	}
	return value, true, nil
}

// texts reads a field that is a list of strings, or null.
func (b body) texts(name string, allowed problem.Text) (values []string, ok bool, err error) {
	raw, ok := b[name]
	if !ok {
		return nil, false, nil
	}
	var items []*string
	err = json.Unmarshal(raw, &items)
	if err != nil || items != nil && len(items) == 0 || slices.Contains(items, nil) {
		return nil, false, web.Invalid(name, problem.New("field-must-be", web.Shorten(name), allowed))
	}
	for _, item := range items {
		values = append(values, *item)
	}
	return values, true, nil
}
