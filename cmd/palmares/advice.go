package main

import (
	"errors"
	"fmt"
	"strings"

	"palmares/internal/store"
	"palmares/internal/webhook"
)

// message returns the text of an error for the terminal: on one line, and where the
// store says what is wrong, followed by the command or option that helps.
func message(err error) string {
	text := err.Error()
	if problem, ok := errors.AsType[*store.Error](err); ok {
		text = strings.Replace(text, problem.Error(), problem.Error()+advice(problem), 1)
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// advice returns what to do about a problem, "" when its message says that already.
func advice(problem *store.Error) string {
	is := func(kind error) bool { return errors.Is(problem, kind) }
	switch {
	case is(store.ErrAccountExists):
		return fmt.Sprintf(": change its plan with `palmares account plan %s PLAN`", problem.Subject)
	case is(store.ErrNoAccount):
		return ": see `palmares account list`, or create one with `palmares account create`"
	case is(store.ErrKeyLimit):
		return ": revoke one with `palmares key revoke ID`, or change the plan"
	case is(store.ErrNoKey):
		return ": see `palmares key list EMAIL`"
	case is(store.ErrPlan):
		return fmt.Sprintf(": change it with `palmares account plan %s pro`", problem.Subject)
	case is(store.ErrNoEndpoint):
		return ": see `palmares webhook list EMAIL`"
	case is(store.ErrNoDelivery):
		return fmt.Sprintf(": see `palmares webhook deliveries ID`; they are kept for %d days",
			int(webhook.Keep.Hours())/24)
	case is(store.ErrNoToken):
		return ": see `palmares token list`"
	case is(store.ErrNoVersion):
		return ": see `palmares log`"
	case is(store.ErrForeignFile):
		return ": give --database another path; nothing was changed"
	case is(store.ErrNotSQLite):
		return ": give --database the path of one, or of a file that does not exist yet; nothing was changed"
	}
	return ""
}
