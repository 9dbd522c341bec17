package webhookapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// Errors that callers see are those of package api: one form for the whole server.

func refuse(status int, code, text string) *api.Error {
	return &api.Error{Status: status, Code: code, Text: text}
}

// invalid refuses a parameter or a field of the body; name is "" for what has none.
func invalid(name, text string) *api.Error {
	return &api.Error{Status: http.StatusBadRequest, Code: "invalid_parameter", Text: text, Param: name}
}

func missingKey() *api.Error {
	return refuse(http.StatusUnauthorized, "missing_api_key",
		"Les webhooks demandent une clé d’API de la formule Pro : envoyez l’en-tête « Authorization: Bearer plm_… ».")
}

func planRequired() *api.Error {
	return refuse(http.StatusForbidden, "plan_required", "Les webhooks sont réservés à la formule Pro : voir /tarifs.")
}

func pathNotFound() *api.Error {
	return refuse(http.StatusNotFound, "not_found",
		"Ce chemin n’existe pas : la description, "+documentPath+", donne tous les chemins (sans barre oblique finale).")
}

func endpointNotFound(id string) *api.Error {
	return refuse(http.StatusNotFound, "not_found",
		"Aucun de vos points de réception n’a l’identifiant "+quote(id)+" : la liste est à "+endpointsPath+".")
}

func deliveryNotFound(id string) *api.Error {
	return refuse(http.StatusNotFound, "not_found",
		"Aucun de vos envois n’a l’identifiant "+quote(id)+" : ils sont gardés 30 jours et listés à "+endpointsPath+"/{id}/deliveries.")
}

func methodNotAllowed(method, allowed string) *api.Error {
	return refuse(http.StatusMethodNotAllowed, "method_not_allowed",
		"La méthode "+quote(method)+" n’est pas admise ici : utilisez "+strings.ReplaceAll(allowed, ", ", " ou ")+".")
}

func endpointLimit() *api.Error {
	return refuse(http.StatusConflict, "endpoint_limit",
		"Le compte a déjà "+strconv.Itoa(webhook.MaxEndpoints)+" points de réception, le plus qu’il puisse avoir : supprimez-en un d’abord.")
}

// tooManyPings tells to wait a whole minute: then, however the pings before lay
// in it, there is room again.
func tooManyPings() *api.Error {
	return refuse(http.StatusTooManyRequests, "too_many_requests",
		"Ce point de réception a déjà eu "+strconv.Itoa(webhook.PingsAMinute)+" essais en une minute, le plus qui soit admis : réessayez dans une minute.")
}

// endpointInactive is for a ping. One that is suspended has no key to ask with.
func endpointInactive() *api.Error {
	return refuse(http.StatusConflict, "endpoint_inactive",
		"Ce point de réception est en pause ou désactivé, et rien ne lui est envoyé : remettez-le d’abord à « active ».")
}

func recoveryRunning(id string) *api.Error {
	return refuse(http.StatusConflict, "recovery_running",
		"Un rattrapage de ce point de réception est en cours : attendez qu’il soit achevé (voir "+endpointsPath+"/"+id+"/recoveries).")
}

func tooLarge() *api.Error {
	return refuse(http.StatusRequestEntityTooLarge, "payload_too_large",
		"Le corps de la requête est trop long : "+strconv.Itoa(maxBody)+" octets au plus.")
}

func notJSON() *api.Error {
	return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type",
		"Le corps de la requête doit être du JSON, non compressé : envoyez-le avec l’en-tête « Content-Type: application/json ».")
}

// unavailable is for a database that is busy or away.
func unavailable() *api.Error {
	return refuse(http.StatusServiceUnavailable, "unavailable",
		"Le service ne peut pas répondre pour l’instant, et rien n’a été changé : réessayez dans quelques secondes.")
}

// internalError is all that a stranger learns of a failure of ours.
func internalError() *api.Error {
	return refuse(http.StatusInternalServerError, "internal", "Une erreur interne s’est produite ; elle est consignée. Réessayez plus tard.")
}

// quote sets words of the caller in French quotation marks.
func quote(s string) string { return "« " + cut(s) + " »" }

// cut keeps words of the caller's making short: an error must not become a way to
// have long texts echoed.
func cut(s string) string {
	const most = 100
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// found gives a store's ErrNotFound the sentence of what was looked for; other
// errors stay.
func found(err error, missing *api.Error) error {
	if errors.Is(err, store.ErrNotFound) {
		return missing
	}
	return err
}

// asError gives any error its public form, and logs what a stranger must not
// read.
func (h *Handler) asError(ctx context.Context, pattern string, err error) *api.Error {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, store.ErrPlan):
		return planRequired()
	case errors.Is(err, store.ErrEndpointLimit):
		return endpointLimit()
	case errors.Is(err, store.ErrTooMany):
		return tooManyPings()
	case errors.Is(err, store.ErrInactive):
		return endpointInactive()
	case ctx.Err() != nil:
		return unavailable() // the caller left: nobody reads it
	}
	h.cfg.Log.Error("a request about webhooks failed", "route", pattern, "error", err)
	for _, passing := range []error{store.ErrBusy, store.ErrFull, store.ErrReadOnly, store.ErrUnreachable} {
		if errors.Is(err, passing) {
			return unavailable()
		}
	}
	return internalError()
}

// wireError is the one form of errors on the wire, that of package api.
type wireError struct {
	Error string `json:"error"`
	Code  string `json:"code"`
	Param string `json:"param,omitempty"`
}

// writeError is the one place where an error becomes an answer.
func (h *Handler) writeError(w http.ResponseWriter, r *http.Request, at *route, err error) {
	e := h.asError(r.Context(), r.Pattern, err)
	if e.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", at.allowed())
	}
	write(w, e)
}

func write(w http.ResponseWriter, e *api.Error) {
	body := catalog.AppendJSON(nil, wireError{e.Text, e.Code, e.Param})
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	switch e.Status {
	case http.StatusUnauthorized:
		h["WWW-Authenticate"] = []string{"Bearer"}
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "5")
	case http.StatusTooManyRequests:
		h.Set("Retry-After", "60") // see tooManyPings
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the caller is gone: nobody is left to tell
}

// WriteInternalError answers a request whose handler failed before it wrote
// anything.
func (h *Handler) WriteInternalError(w http.ResponseWriter) {
	clear(w.Header())
	write(w, internalError())
}
