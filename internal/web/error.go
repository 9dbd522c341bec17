package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/french"
	"palmares/internal/problem"
	"palmares/internal/quota"
	"palmares/internal/wire"
)

// An Error is a response that says what is wrong and what to do about it. Its sentence is sent, in the
// language that the request prefers, so it must not contain the text of an internal error.
type Error struct {
	Code       Code
	Text       problem.Text
	Param      string       // the parameter or field at fault, for CodeInvalidParameter
	Grant      *quota.Grant // for CodeQuotaExceeded
	Allow      string       // the methods of the path, for CodeMethodNotAllowed
	RetryAfter string       // in seconds; 503 has a default
}

func (e *Error) Error() string { return e.Text.French }

// Status returns the HTTP status of the error's code.
func (e *Error) Status() int { return e.Code.Info().Status }

// NewError returns an error.
func NewError(code Code, text problem.Text) *Error { return &Error{Code: code, Text: text} }

// ErrorOf returns the error of a code whose sentence is always the same.
func ErrorOf(code Code) *Error { return NewError(code, code.Info().Text) }

// Invalid refuses a parameter, or a field of a body; name is empty for what has none.
func Invalid(name string, text problem.Text) *Error {
	return &Error{Code: CodeInvalidParameter, Text: text, Param: name}
}

// KeyError is the response to a key that was not accepted: one of the reasons of package
// account, or that it could not be looked up.
func KeyError(err error) *Error {
	switch {
	case errors.Is(err, account.ErrInvalidKey):
		return ErrorOf(CodeInvalidKey)
	case errors.Is(err, account.ErrRevokedKey):
		return ErrorOf(CodeRevokedKey)
	case errors.Is(err, account.ErrExpiredKey):
		return ErrorOf(CodeExpiredKey)
	case errors.Is(err, account.ErrSuspendedKey):
		return ErrorOf(CodeSuspendedKey)
	}
	return Unavailable(err, problem.New("key-not-checked"))
}

// Unavailable is the response when err keeps the service from doing what was asked; what says
// what it cannot do. Callers are not told to try again soon if that cannot help.
func Unavailable(err error, what problem.Text) *Error {
	if !IsPermanent(err) {
		return NewError(CodeUnavailable, problem.New("unavailable-now", what))
	}
	e := NewError(CodeUnavailable, problem.New("unavailable-until-repaired", what))
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
func MissingKey() *Error { return NewError(CodeMissingKey, problem.New("key-missing")) }

// ToolNotFound says that no tool has a slug, nor had.
func ToolNotFound(slug string) *Error {
	return NewError(CodeToolNotFound, problem.New("tool-not-found", Shorten(slug)))
}

// ToolRetired says since when a tool is retired, why, and by which one it is succeeded, if
// by any.
func ToolRetired(name, day, reason, successor string) *Error {
	text := problem.New("tool-retired", name, day, reason)
	if successor != "" {
		text = problem.New("tool-succeeded", name, day, reason, successor)
	}
	return NewError(CodeToolNotFound, text)
}

// keyInAddress refuses a key in the parameter of that name. isPublic: caches may store responses.
func keyInAddress(name string, isPublic bool) *Error {
	logs := problem.New("logs")
	if isPublic {
		logs = problem.New("logs-and-caches")
	}
	return Invalid(Shorten(name), problem.New("key-in-address", logs))
}

// methodNotAllowed refuses a method where others are allowed.
func methodNotAllowed(allowed string, text problem.Text) *Error {
	return &Error{Code: CodeMethodNotAllowed, Allow: allowed, Text: text}
}

// quotaExceeded refuses a request. isBulk: the catalogue is offered as a whole.
func quotaExceeded(g *quota.Grant, isBulk bool) *Error {
	text := problem.New("quota-of-pro")
	if g.Tier == quota.Anonymous {
		text = problem.New("quota-of-free-key", count(quota.Free.Limit()))
	}
	if isBulk {
		text = problem.New("quota-export", text)
	}
	text = problem.New("quota-exceeded", count(g.Tier.Limit()), g.ResetAt(), text)
	return &Error{Code: CodeQuotaExceeded, Text: text, Grant: g}
}

// count returns a number with its thousands apart.
func count(n int) problem.Text {
	digits := french.Count(n)
	return problem.Text{English: strings.ReplaceAll(digits, french.Narrow, " "), French: digits}
}

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
	return ErrorOf(CodeInternal)
}

// JSON returns the body of the error in the language that a request prefers: the one form that errors have.
func (e *Error) JSON(r *http.Request) []byte {
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
	}{Error: e.Text.In(preferred(r)), Code: e.Code, Param: e.Param}
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
	e := AsError(err)
	body := e.JSON(r)
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

// preferred returns the language that Accept-Language asks for (RFC 9110 §12.5.4): English, or French, which any
// other language and no wish get. Of two languages of one weight the first is preferred.
func preferred(r *http.Request) problem.Language {
	language, most := problem.French, 0
	for _, line := range r.Header["Accept-Language"] {
		for item := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(item, ";")
			primary, _, _ := strings.Cut(strings.ToLower(strings.Trim(name, " \t")), "-")
			offered, isKnown := languages[primary]
			weight, ok := quality(rest)
			if ok && weight > most && isKnown {
				language, most = offered, weight
			}
		}
	}
	return language
}

// languages are those that Accept-Language may name.
var languages = map[string]problem.Language{"en": problem.English, "fr": problem.French, "*": problem.French}
