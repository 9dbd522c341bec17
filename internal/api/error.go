package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/account"
	"palmares/internal/catalog"
	"palmares/internal/quota"
)

// An Error is an answer that says what is wrong and what to do about it. Its
// sentence is French and goes out as it is, so nothing of an inner error may
// stand in it.
type Error struct {
	Status int
	Code   string
	Text   string
	Param  string       // for invalid_parameter
	Grant  *quota.Grant // for quota_exceeded
}

func (e *Error) Error() string { return e.Text }

// wireError is the one form of errors on the wire.
type wireError struct {
	Error string `json:"error"`
	Code  string `json:"code"`
	Param string `json:"param,omitempty"`
	*wireQuota
}

// wireQuota is what a caller whose quota is used up is told besides.
type wireQuota struct {
	Tier      string `json:"tier"`
	Limit     int    `json:"limit"`
	Remaining int    `json:"remaining"`
	ResetAt   string `json:"reset_at"`
}

// KeyError is what the owner of a key is told when it was not accepted: one of the
// reasons of package account, or that it cannot be checked now.
func KeyError(err error) *Error {
	switch {
	case errors.Is(err, account.ErrInvalidKey):
		return InvalidKey()
	case errors.Is(err, account.ErrRevokedKey):
		return revokedKey()
	case errors.Is(err, account.ErrExpiredKey):
		return expiredKey()
	case errors.Is(err, account.ErrSuspendedKey):
		return suspendedKey()
	}
	return Unavailable()
}

// InvalidKey refuses a key that is malformed, mistyped or unknown.
func InvalidKey() *Error {
	return &Error{
		Status: http.StatusUnauthorized, Code: "invalid_api_key",
		Text: "La clé d’API n’est pas valable : envoyez-la telle qu’elle vous a été remise, dans un seul en-tête « Authorization: Bearer plm_… ».",
	}
}

// revokedKey refuses a key that its owner ended.
func revokedKey() *Error {
	return &Error{
		Status: http.StatusUnauthorized, Code: "revoked_api_key",
		Text: "Cette clé d’API a été révoquée : créez-en une autre et remplacez-la.",
	}
}

// expiredKey refuses a key whose time is over.
func expiredKey() *Error {
	return &Error{
		Status: http.StatusUnauthorized, Code: "expired_api_key",
		Text: "Cette clé d’API a expiré : utilisez celle qui la remplace, ou créez-en une autre.",
	}
}

// suspendedKey refuses a key above the number of its account's plan.
func suspendedKey() *Error {
	return &Error{
		Status: http.StatusForbidden, Code: "key_suspended",
		Text: "Cette clé d’API est suspendue : le compte a plus de clés que son offre n’en comprend. Révoquez une autre de ses clés, ou revenez à l’offre Pro (voir /compte).",
	}
}

// Unavailable says that a key cannot be checked now.
func Unavailable() *Error {
	return &Error{
		Status: http.StatusServiceUnavailable, Code: "unavailable",
		Text: "Cette clé d’API ne peut pas être vérifiée pour l’instant : réessayez dans quelques secondes.",
	}
}

// internalError is all that a stranger learns of a failure of ours.
func internalError() *Error {
	return &Error{
		Status: http.StatusInternalServerError, Code: "internal",
		Text: "Une erreur interne s’est produite ; elle est consignée. Réessayez plus tard.",
	}
}

func missingKey() *Error {
	return &Error{
		Status: http.StatusUnauthorized, Code: "missing_api_key",
		Text: "Cette opération demande une clé d’API (gratuite) : envoyez l’en-tête « Authorization: Bearer plm_… ».",
	}
}

func methodNotAllowed(method string) *Error {
	return &Error{
		Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
		Text: "La méthode " + quote(method) + " n’est pas admise : cette API ne fait que lire, utilisez GET ou HEAD.",
	}
}

func pathNotFound() *Error {
	return &Error{
		Status: http.StatusNotFound, Code: "not_found",
		Text: "Ce chemin n’existe pas : la description de l’API, /api/v1/openapi.json, donne tous les chemins (sans barre oblique finale).",
	}
}

func toolNotFound(slug string) *Error {
	return &Error{
		Status: http.StatusNotFound, Code: "tool_not_found",
		Text: "Aucun outil n’a l’identifiant " + quote(slug) + " : la liste est à /api/v1/tools.",
	}
}

func toolRetired(r *catalog.Retired) *Error {
	text := "L’outil « " + r.Name + " » est retiré du catalogue depuis le " + r.RetiredAt +
		" (" + string(r.Reason) + ") : voir /api/v1/cimetiere"
	if r.Successor != "" {
		text += " et son successeur, /api/v1/tools/" + r.Successor
	}
	return &Error{Status: http.StatusNotFound, Code: "tool_not_found", Text: text + "."}
}

func comparisonNotFound(slug string) *Error {
	return &Error{
		Status: http.StatusNotFound, Code: "comparatif_not_found",
		Text: "Aucun comparatif n’a l’identifiant " + quote(slug) + " : la liste est à /api/v1/comparatifs.",
	}
}

func notInEmbeddingsSet(slug string) *Error {
	return &Error{
		Status: http.StatusNotFound, Code: "not_in_embeddings_set",
		Text: "L’outil " + quote(slug) + " n’est pas dans la sélection des " + strconv.Itoa(catalog.TopSetSize) +
			" outils qui ont des extraits : sa fiche est à /api/v1/tools/" + slug + ".",
	}
}

func quotaExceeded(g quota.Grant) *Error {
	text := "Le quota de " + thousands(g.Tier.Limit()) + " requêtes par jour est épuisé ; il se renouvelle à " + g.ResetAt() + ". "
	if g.Tier == quota.Anonymous {
		text += "Une clé gratuite en donne " + thousands(quota.Free.Limit()) + " (voir /tarifs) ; "
	} else {
		text += "La formule Pro n’a pas de quota (voir /tarifs) ; "
	}
	text += "pour reprendre tout le catalogue, demandez-en l’export plutôt que de le parcourir."
	return &Error{Status: http.StatusTooManyRequests, Code: "quota_exceeded", Text: text, Grant: &g}
}

// thousands writes a number as French readers do.
func thousands(n int) string {
	s := strconv.Itoa(n)
	if len(s) > 3 {
		s = s[:len(s)-3] + " " + s[len(s)-3:]
	}
	return s
}

func invalidParameter(param, text string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_parameter", Param: param, Text: text}
}

// quote sets words of the caller in French quotation marks. They are cut: an
// error must not become a way to have long texts echoed.
func quote(s string) string {
	const most = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return "« " + s + " »"
}

// asError gives any error its public form.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return internalError()
}

// writeError is the one place where an error becomes an answer.
func writeError(w http.ResponseWriter, err error) {
	e := asError(err)
	wire := wireError{Error: e.Text, Code: e.Code, Param: e.Param}
	if g := e.Grant; g != nil {
		wire.wireQuota = &wireQuota{Tier: g.Tier.String(), Limit: g.Tier.Limit(), Remaining: g.Remaining, ResetAt: g.ResetAt()}
	}
	body := catalog.AppendJSON(nil, wire)
	h := w.Header()
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h["Cache-Control"] = noStore
	switch e.Status {
	case http.StatusNotFound:
		h["Cache-Control"] = cacheMinute
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = []string{"Bearer"}
	case http.StatusMethodNotAllowed:
		h.Set("Allow", allowedMethods)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "5")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the caller is gone: nobody is left to tell
}

// WriteInternalError answers a request whose handler failed before it wrote
// anything.
func (h *Handler) WriteInternalError(w http.ResponseWriter) {
	clear(w.Header())
	setCommonHeaders(w.Header(), h.cfg.Snapshot())
	writeError(w, internalError())
}
