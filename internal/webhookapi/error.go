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

func planRequired() *web.Error {
	return web.NewError(web.CodePlanRequired, "Les webhooks sont réservés à l’offre Pro : voir /tarifs.")
}

func endpointNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound,
		"Aucun de vos points de réception n’a l’identifiant "+web.Quote(id)+" : la liste est à "+endpointsPath+".")
}

func deliveryNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound,
		"Aucun de vos envois n’a l’identifiant "+web.Quote(id)+" : ils sont gardés 30 jours et listés à "+endpointsPath+"/{id}/deliveries.")
}

// tooMany asks for a whole minute: by then there is room again, whenever in the last minute the requests were.
func tooMany(text string) *web.Error {
	e := web.NewError(web.CodeTooManyRequests, text)
	e.RetryAfter = "60"
	return e
}

func tooLarge() *web.Error {
	return web.NewError(web.CodePayloadTooLarge,
		"Le corps de la requête est trop long : "+strconv.Itoa(maxBody)+" octets au plus.")
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
		return web.NewError(web.CodeEndpointLimit,
			"Le compte a déjà "+strconv.Itoa(webhook.MaxEndpoints)+" points de réception, le plus qu’il puisse avoir : "+
				"supprimez-en un d’abord.")
	case errors.Is(err, accountdb.ErrKeyReused):
		return web.NewError(web.CodeKeyReused, "Une autre demande a déjà cette « Idempotency-Key » : donnez-en une autre à celle-ci.")
	case errors.Is(err, sqldb.ErrTooMany):
		return tooMany("Ce point de réception a déjà eu " + strconv.Itoa(webhook.PingsAMinute) + " essais en une minute, " +
			"le plus qui soit admis : réessayez dans une minute.")
	case errors.Is(err, accountdb.ErrInactive):
		// Suspended endpoints need not be mentioned: their owner has no Pro key to ask with.
		return web.NewError(web.CodeEndpointInactive,
			"Ce point de réception est en pause ou désactivé, et rien ne lui est envoyé : "+
				"remettez-le d’abord à « active ».")
	case ctx.Err() != nil:
		return unavailable(err) // the caller has disconnected
	}
	h.cfg.Log.Error("a webhook API request failed", "route", pattern, "error", err)
	if sqldb.IsOutage(err) {
		return unavailable(err)
	}
	return err // sent as an internal error
}
