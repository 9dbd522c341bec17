package deskdb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/sqldb"
)

// ErrNoEditor: nobody of that address is at the desk.
var ErrNoEditor = fmt.Errorf("editor %w", sqldb.ErrNotFound)

// MaxEditors is how many people may be at the desk.
const MaxEditors = 200

// An Editor is somebody who writes at the desk, whatever the role. The address need not have an
// account yet: the first sign-in creates it. Its JSON is what its owner exports.
type Editor struct {
	Email   string       `json:"-"`    // as returned by account.NormalizeEmail
	Name    string       `json:"name"` // what is published is signed with it
	Role    account.Role `json:"role"`
	AddedAt time.Time    `json:"added_at"`
}

// Editors are the people of the desk.
type Editors struct{ db *sqldb.DB }

// Add adds somebody, or changes the name and the role of somebody who is there. ErrInvalid: the
// address, the name or the role. ErrTooMany: there are MaxEditors.
func (s *Editors) Add(ctx context.Context, e Editor, now time.Time) (Editor, error) {
	email, invalidEmail := account.NormalizeEmail(e.Email)
	name, invalidName := account.NormalizeEditorName(e.Name)
	role, invalidRole := account.ParseRole(string(e.Role))
	if err := cmp.Or(invalidEmail, invalidName, invalidRole); err != nil {
		return Editor{}, sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	return sqldb.Write(ctx, s.db, func(tx *sql.Tx) (Editor, error) {
		added, err := sqldb.Row(ctx, tx, `INSERT INTO editors (email, name, role, added_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (email) DO UPDATE SET name = excluded.name, role = excluded.role
			RETURNING email, name, role, added_at`, sqldb.ScanFields[Editor], email, name, string(role), sqldb.FormatTime(now))
		if err == nil {
			err = endShares(ctx, tx, email)
		}
		if err != nil {
			return Editor{}, err
		}
		return added, sqldb.AtMost(ctx, tx, MaxEditors, "people at the desk: remove somebody first", `editors`)
	})
}

// List lists everybody, by name.
func (s *Editors) List(ctx context.Context) ([]Editor, error) {
	all, err := sqldb.List(ctx, s.db, selectEditors+`LIMIT $1`, sqldb.ScanFields[Editor], MaxEditors)
	slices.SortFunc(all, func(a, b Editor) int {
		return strings.Compare(strings.ToLower(a.Name)+"\x00"+a.Email, strings.ToLower(b.Name)+"\x00"+b.Email)
	})
	return all, err
}

// Find returns who has an address. ErrNotFound: nobody at the desk.
func (s *Editors) Find(ctx context.Context, email string) (Editor, error) {
	normal, err := account.NormalizeEmail(email)
	if err != nil {
		return Editor{}, noEditor(email)
	}
	e, err := sqldb.Row(ctx, s.db.Reads(), selectEditors+`WHERE email = $1`, sqldb.ScanFields[Editor], normal)
	return e, s.db.Explain(ctx, sqldb.OrMissing(err, noEditor(email)))
}

// Remove ends a role at once, with its private links. The working copies stay, for editors. ErrNotFound: nobody at the desk
// has the address.
func (s *Editors) Remove(ctx context.Context, email string) error {
	normal, err := account.NormalizeEmail(email)
	if err != nil {
		return noEditor(email)
	}
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		err := sqldb.ExecSome(ctx, tx, noEditor(email), `DELETE FROM editors WHERE email = $1`, normal)
		return cmp.Or(err, endShares(ctx, tx, normal))
	})
}

// endShares ends the private links of somebody to copies that she may not open any more.
func endShares(ctx context.Context, tx *sql.Tx, email string) error {
	return sqldb.Exec(ctx, tx, `DELETE FROM shares WHERE maker = $1 AND NOT EXISTS (SELECT 1 FROM editors, working_copies
		WHERE editors.email = $1 AND working_copies.id = copy_id AND (role = $2 OR author = $1))`, email, string(account.Editor))
}

func noEditor(email string) error {
	return sqldb.ProblemWith(email, ErrNoEditor, "%q is not at the desk", email)
}

const selectEditors = `SELECT email, name, role, added_at FROM editors `

// IsEditor reports whether somebody at the desk has an address.
func IsEditor(ctx context.Context, q sqldb.Queryer, email string) (bool, error) {
	return sqldb.Value[bool](ctx, q, `SELECT EXISTS (SELECT 1 FROM editors WHERE email = $1)`, email)
}
