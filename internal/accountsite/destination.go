package accountsite

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
)

// The destinations of a sign-in besides the account. Their addresses are made here and never taken
// from a request, so that no link to the sign-in leads to another site.
const (
	DeskPath   = "/redaction"
	copiesPath = DeskPath + "/copies/"
)

// pathOf returns the path of a destination, "" for a word that is none.
func pathOf(destination string) string {
	switch {
	case destination == "redaction":
		return DeskPath
	case account.IsID(account.CopyID, destination):
		return copiesPath + destination
	}
	return ""
}

// SignInPath returns the address of the form to sign in that leads back to a page of the desk, as
// far as it is a destination: a working copy, or the desk.
func SignInPath(page string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(page, copiesPath), "/")
	if pathOf(id) == "" {
		id = "redaction"
	}
	return withDestination(homePath, id)
}

func withDestination(address, destination string) string {
	switch {
	case pathOf(destination) == "":
		return address
	case strings.Contains(address, "?"):
		return address + "&vers=" + url.QueryEscape(destination)
	}
	return address + "?vers=" + url.QueryEscape(destination)
}

// destination returns where the visitor wants to go after the sign-in, "" for the account.
func (r *request) destination() string {
	if to := r.FormValue("vers"); pathOf(to) != "" {
		return to
	}
	return ""
}

// editor returns what the owner is at the desk, nil for nothing.
func editorOf(ctx context.Context, desk *deskdb.Store, a account.Account) (*deskdb.Editor, error) {
	e, err := desk.Editors.Find(ctx, a.Email)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return &e, err
}
