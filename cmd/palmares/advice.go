package main

import (
	"errors"
	"fmt"
	"strings"

	"palmares/internal/accountdb"
	"palmares/internal/catalogdb"
	"palmares/internal/deskdb"
	"palmares/internal/problem"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

// message returns the text of an error for the terminal: on one line, and where the
// store says what is wrong, followed by the command or option that helps.
func message(err error, in problem.Language) string {
	text := problem.Of(err).In(in)
	if of, ok := errors.AsType[*sqldb.Error](err); ok {
		text = strings.Replace(text, of.Error(), of.Error()+advice(of), 1)
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// advice returns what to do about a problem, "" when its message says that already.
func advice(of *sqldb.Error) string {
	is := func(kind error) bool { return errors.Is(of, kind) }
	switch {
	case is(accountdb.ErrAccountExists):
		return fmt.Sprintf(": change its plan with `palmares account plan %s PLAN`", of.Subject)
	case is(accountdb.ErrNoAccount):
		return ": see `palmares account list`, or create one with `palmares account create`"
	case is(accountdb.ErrKeyLimit):
		return ": revoke one with `palmares key revoke ID`, or change the plan"
	case is(accountdb.ErrNoKey):
		return ": see `palmares key list EMAIL`"
	case is(accountdb.ErrPlan):
		return fmt.Sprintf(": change it with `palmares account plan %s pro`", of.Subject)
	case is(accountdb.ErrNoEndpoint):
		return ": see `palmares webhook list EMAIL`"
	case is(accountdb.ErrNoDelivery):
		return fmt.Sprintf(": see `palmares webhook deliveries ID`; they are kept for %d days",
			int(webhook.Keep.Hours())/24)
	case is(accountdb.ErrNoToken):
		return ": see `palmares token list`"
	case is(deskdb.ErrNoEditor):
		return ": see `palmares editor list`"
	case is(catalogdb.ErrNoVersion):
		return ": see `palmares log`"
	case is(sqldb.ErrForeignFile):
		return ": give --database another path; nothing was changed"
	case is(sqldb.ErrNotSQLite):
		return ": give --database the path of one, or of a file that does not exist yet; nothing was changed"
	}
	return ""
}
