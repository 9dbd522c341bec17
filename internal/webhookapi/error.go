package webhookapi

import (
	"context"
	"errors"
	"strconv"

	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

func missingKey() *web.Error {
	return web.NewError(web.CodeMissingKey,
		"Les webhooks demandent une clé d’API de l’offre Pro : envoyez l’en-tête « Authorization: "+
			"Bearer plm_… ».")
}

func planRequired() *web.Error {
	return web.NewError(web.CodePlanRequired, "Les webhooks sont réservés à l’offre Pro : voir /tarifs.")
}

func pathNotFound() *web.Error {
	return web.NewError(web.CodeNotFound,
		"Ce chemin n’existe pas : la description, "+documentPath+", donne tous les chemins (sans barre oblique finale).")
}

func endpointNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound,
		"Aucun de vos points de réception n’a l’identifiant "+web.Quote(id)+" : la liste est à "+endpointsPath+".")
}

func deliveryNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound,
		"Aucun de vos envois n’a l’identifiant "+web.Quote(id)+" : ils sont gardés 30 jours et listés à "+endpointsPath+"/{id}/deliveries.")
}

func endpointLimit() *web.Error {
	return web.NewError(web.CodeEndpointLimit,
		"Le compte a déjà "+strconv.Itoa(webhook.MaxEndpoints)+" points de réception, le plus qu’il puisse avoir : "+
			"supprimez-en un d’abord.")
}

// tooManyPings asks for a whole minute: by then there is room again, whenever in the
// last minute the pings were.
func tooManyPings() *web.Error {
	e := web.NewError(web.CodeTooManyRequests,
		"Ce point de réception a déjà eu "+strconv.Itoa(webhook.PingsAMinute)+" essais en une minute, "+
			"le plus qui soit admis : réessayez dans une minute.")
	e.RetryAfter = "60"
	return e
}

func tooManyResends() *web.Error {
	e := web.NewError(web.CodeTooManyRequests,
		"Ce point de réception a déjà eu "+strconv.Itoa(webhook.ResendsAMinute)+" renvois, ou "+strconv.Itoa(webhook.PingsAMinute)+" essais, en une minute, le plus qui soit admis : réessayez dans une minute, ou récupérez tout depuis une date avec « recover ».")
	e.RetryAfter = "60"
	return e
}

// endpointInactive refuses a ping. It need not mention suspended endpoints: their owner
// has no Pro key to ask with.
func endpointInactive() *web.Error {
	return web.NewError(web.CodeEndpointInactive,
		"Ce point de réception est en pause ou désactivé, et rien ne lui est envoyé : "+
			"remettez-le d’abord à « active ».")
}

func recoveryRunning(id string) *web.Error {
	return web.NewError(web.CodeRecoveryRunning,
		"Une récupération de ce point de réception est en cours : attendez qu’elle soit achevée (voir "+endpointsPath+"/"+id+"/recoveries).")
}

func tooLarge() *web.Error {
	return web.NewError(web.CodePayloadTooLarge,
		"Le corps de la requête est trop long : "+strconv.Itoa(maxBody)+" octets au plus.")
}

func notJSON() *web.Error {
	return web.NewError(web.CodeUnsupportedMediaType,
		"Le corps de la requête doit être du JSON, non compressé : envoyez-le avec l’en-tête « Content-Type: "+
			"application/json ».")
}

// unavailable is for a database that is busy or unreachable.
func unavailable(err error) *web.Error {
	return web.Unavailable(err, "Rien n’a été changé, car cette demande ne peut pas être traitée")
}

// asError returns the public form of an error, and logs what callers must not see.
func (h *Handler) asError(ctx context.Context, pattern string, err error) error {
	if _, ok := errors.AsType[*web.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, accountdb.ErrPlan):
		return planRequired()
	case errors.Is(err, accountdb.ErrEndpointLimit):
		return endpointLimit()
	case errors.Is(err, accountdb.ErrTooMany):
		return tooManyPings()
	case errors.Is(err, accountdb.ErrInactive):
		return endpointInactive()
	case ctx.Err() != nil:
		return unavailable(err) // the caller has disconnected
	}
	h.cfg.Log.Error("a webhook API request failed", "route", pattern, "error", err)
	if sqldb.IsOutage(err) {
		return unavailable(err)
	}
	return err // sent as an internal error
}
