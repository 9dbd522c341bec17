package webhookapi

import (
	"context"
	"errors"

	"palmares/internal/accountdb"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/web"
	"palmares/internal/webhook"
)

func planRequired() *web.Error {
	return web.NewError(web.CodePlanRequired, problem.New("webhooks-for-pro"))
}

func endpointNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound, problem.New("endpoint-not-found", web.Shorten(id), endpointsPath))
}

func deliveryNotFound(id string) *web.Error {
	return web.NewError(web.CodeNotFound, problem.New("delivery-not-found", web.Shorten(id), endpointsPath))
}

// tooMany asks for a whole minute: by then there is room again, whenever in the last minute the requests were.
func tooMany(text problem.Text) *web.Error {
	e := web.NewError(web.CodeTooManyRequests, text)
	e.RetryAfter = "60"
	return e
}

func tooLarge() *web.Error {
	return web.NewError(web.CodePayloadTooLarge, problem.New("body-too-long", maxBody))
}

// unavailable is for a database that is busy or unreachable.
func unavailable(err error) *web.Error {
	return web.Unavailable(err, problem.New("webhooks-unchanged"))
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
		return web.NewError(web.CodeEndpointLimit, problem.New("endpoint-limit", webhook.MaxEndpoints))
	case errors.Is(err, accountdb.ErrKeyReused):
		return web.NewError(web.CodeKeyReused, problem.New("idempotency-key-reused"))
	case errors.Is(err, sqldb.ErrTooMany):
		return tooMany(problem.New("endpoint-pings", webhook.PingsAMinute))
	case errors.Is(err, accountdb.ErrInactive):
		// Suspended endpoints need not be mentioned: their owner has no Pro key to ask with.
		return web.NewError(web.CodeEndpointInactive, problem.New("endpoint-inactive"))
	case ctx.Err() != nil:
		return unavailable(err) // the caller has disconnected
	}
	h.cfg.Log.Error("a webhook API request failed", "route", pattern, "error", err)
	if sqldb.IsOutage(err) {
		return unavailable(err)
	}
	return err // sent as an internal error
}
