package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/french"
	"palmares/internal/quota"
	"palmares/internal/wire"
)

// An Error is a response that says what is wrong and what to do about it. Its sentence is
// French, see For, and is sent, so it must not contain the text of an internal error.
type Error struct {
	Code       Code
	Text       string
	Param      string       // the parameter or field at fault, for CodeInvalidParameter
	Grant      *quota.Grant // for CodeQuotaExceeded
	Allow      string       // the methods of the path, for CodeMethodNotAllowed
	RetryAfter string       // in seconds; 503 has a default
}

func (e *Error) Error() string { return e.Text }

// Status returns the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Info().Status }

// NewError returns an error. Without a text it has that of its code.
func NewError(code Code, text string) *Error {
	if text == "" {
		text = code.Info().Text
	}
	return &Error{Code: code, Text: text}
}

// Invalid refuses a parameter, or a field of a body; name is empty for what has none.
func Invalid(name, text string) *Error {
	return &Error{Code: CodeInvalidParameter, Text: text, Param: name}
}

// KeyError is the response to a key that was not accepted: one of the reasons of package
// account, or that it could not be looked up.
func KeyError(err error) *Error {
	switch {
	case errors.Is(err, account.ErrInvalidKey):
		return NewError(CodeInvalidKey, "")
	case errors.Is(err, account.ErrRevokedKey):
		return NewError(CodeRevokedKey, "")
	case errors.Is(err, account.ErrExpiredKey):
		return NewError(CodeExpiredKey, "")
	case errors.Is(err, account.ErrSuspendedKey):
		return NewError(CodeSuspendedKey, "")
	}
	return Unavailable(err, "Cette clé d’API ne peut pas être vérifiée")
}

// Unavailable is the response when err keeps the service from doing what was asked; what says
// what it cannot do. Callers are not told to try again soon if that cannot help.
func Unavailable(err error, what string) *Error {
	if !IsPermanent(err) {
		return NewError(CodeUnavailable, what+" pour l’instant : réessayez dans quelques secondes.")
	}
	e := NewError(CodeUnavailable, what+" : le service a besoin d’une intervention de son exploitant, "+
		"et l’a consigné.")
	e.RetryAfter = RetryLater
	return e
}

// IsPermanent reports whether err, of the store, stays until somebody acts.
func IsPermanent(err error) bool {
	p, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err)
	return ok && p.Permanent()
}

// MissingKey refuses an anonymous caller.
func MissingKey() *Error {
	return NewError(CodeMissingKey, "Cette opération demande une clé d’API (gratuite) : "+
		"envoyez l’en-tête « Authorization: Bearer plm_… ».")
}

// ToolNotFound says that no tool has a slug, nor had.
func ToolNotFound(slug string) *Error {
	return NewError(CodeToolNotFound,
		"Aucun outil n’a l’identifiant "+Quote(slug)+" : la liste est à /api/v1/tools.")
}

// ToolRetired says since when a tool is retired, why, and by which one it is succeeded, if
// by any.
func ToolRetired(name, day, reason, successor string) *Error {
	text := "L’outil « " + name + " » est retiré du catalogue depuis le " + day +
		" (" + reason + ") : voir /api/v1/cimetiere"
	if successor != "" {
		text += " et son successeur, /api/v1/tools/" + successor
	}
	return NewError(CodeToolNotFound, text+".")
}

// keyInAddress refuses a key in the parameter of that name. isPublic: caches may store responses.
func keyInAddress(name string, isPublic bool) *Error {
	logs := "les journaux"
	if isPublic {
		logs = "journaux et caches"
	}
	return Invalid(Shorten(name), "Une clé d’API ne va pas dans l’adresse, où "+logs+" la garderaient : "+
		"envoyez-la dans l’en-tête "+
		"« Authorization: Bearer … ». Révoquez celle-ci si l’adresse a circulé.")
}

// methodNotAllowed refuses a method where others are allowed.
func methodNotAllowed(method, allowed, why string) *Error {
	return &Error{
		Code: CodeMethodNotAllowed, Allow: allowed, Text: "La méthode " + Quote(method) + " n’est pas admise" + why,
	}
}

// quotaExceeded refuses a request. isBulk: the catalogue is offered as a whole.
func quotaExceeded(g *quota.Grant, isBulk bool) *Error {
	text := "Le quota de " + french.Count(g.Tier.Limit()) + " requêtes par jour est épuisé ; il se renouvelle à " +
		g.ResetAt() + ". "
	if g.Tier == quota.Anonymous {
		text += "Une clé gratuite en donne " + french.Count(quota.Free.Limit()) + " (voir /tarifs)"
	} else {
		text += "La formule Pro n’a pas de quota (voir /tarifs)"
	}
	if isBulk {
		text += " ; l’export, /data/v1/export, a tout le catalogue"
	}
	return &Error{Code: CodeQuotaExceeded, Text: text + ".", Grant: g}
}

// Quote puts words of the caller in French quotation marks.
func Quote(s string) string { return "« " + Shorten(s) + " »" }

// Shorten limits words of the caller that an error repeats: it must not be a way to have
// long texts echoed.
func Shorten(s string) string {
	const limit = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// AsError returns the public form of any error.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return NewError(CodeInternal, "")
}

// JSON returns the body of the error: the one form that errors have.
func (e *Error) JSON() []byte {
	type quotaFields struct {
		Tier      string `json:"tier"`
		Limit     int    `json:"limit"`
		Remaining int    `json:"remaining"`
		ResetAt   string `json:"reset_at"`
	}
	body := struct {
		Error string `json:"error"`
		Code  Code   `json:"code"`
		Param string `json:"param,omitempty"`
		*quotaFields
	}{Error: e.Text, Code: e.Code, Param: e.Param}
	if g := e.Grant; g != nil {
		body.quotaFields = &quotaFields{g.Tier.String(), g.Tier.Limit(), g.Remaining, g.ResetAt()}
	}
	return wire.AppendJSON(nil, body)
}

// RetrySoon is the value of Retry-After for a service that is expected back in a moment.
const RetrySoon = "5"

// RetryLater is that for one that somebody has to repair.
const RetryLater = "60"

// WriteError sends an error of an API that is not Public.
func WriteError(w http.ResponseWriter, r *http.Request, err error) { new(Sender).WriteError(w, r, err) }

// WriteError sends an error: the one place where an error becomes a response.
func (s *Sender) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	e := AsError(err).For(r)
	body := e.JSON()
	s.setErrorHeaders(w.Header(), e)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status())
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// setErrorHeaders sets the headers of an error, except Content-Length.
func (s *Sender) setErrorHeaders(h http.Header, e *Error) {
	h["Content-Type"] = jsonType
	h["X-Content-Type-Options"] = noSniff
	h["Cache-Control"] = noStore
	if s.public {
		h["Vary"] = []string{h.Get("Vary") + ", Accept-Language"}
	}
	switch e.Status() {
	case http.StatusNotFound:
		if s.public {
			h["Cache-Control"] = cacheMinute
		}
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = []string{"Bearer"}
	case http.StatusMethodNotAllowed:
		h.Set("Allow", e.Allow)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", RetrySoon)
	}
	if e.RetryAfter != "" {
		h.Set("Retry-After", e.RetryAfter)
	}
}
