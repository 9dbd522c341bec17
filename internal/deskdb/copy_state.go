package deskdb

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/mail"
	"palmares/internal/sqldb"
)

// The states of a working copy.
const (
	CopyInProgress = "en-cours"
	CopyForReview  = "a-relire"
	CopyReady      = "prete" // approved
)

var copyStates = []string{CopyInProgress, CopyForReview, CopyReady}

// A CopyStep is a change of the state of a working copy.
type CopyStep struct {
	State string
	Note  string // to the reviewer, or back to the author
	By    string // the address of who makes the change
}

// SetState changes the state of the revision that somebody has seen, and queues the mails about
// that: to editors who are to review it, or to the author whose text was given back or approved.
// ErrNotFound; ErrInvalid; sqldb.ErrChanged: there is another revision.
func (s *Copies) SetState(ctx context.Context, id string, revision int64, step CopyStep, now time.Time) error {
	by, err := account.NormalizeEmail(step.By)
	if err != nil {
		return sqldb.Problem(sqldb.ErrInvalid, err, "%v", err)
	}
	if err := step.check(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		c, err := lockCopy(ctx, s.db, tx, id)
		if err == nil && c.Revision != revision {
			err = copyChanged(id)
		}
		if err != nil {
			return err
		}
		if err := sqldb.Exec(ctx, tx, `UPDATE working_copies SET state = $1, note = $2 WHERE id = $3`,
			step.State, step.Note, id); err != nil {
			return err
		}
		return queueReviewMails(ctx, tx, c, step.State, by, now)
	})
}

// queueReviewMails queues the mails about a new state. Nobody is told what she has done herself.
func queueReviewMails(ctx context.Context, tx *sql.Tx, c WorkingCopy, state, by string, now time.Time) error {
	kind, to := mail.Kind(""), []string{c.Author}
	var err error
	switch {
	case state == c.State:
		return nil
	case state == CopyForReview:
		kind = mail.ReviewAsked
		to, err = sqldb.Rows(ctx, tx, `SELECT email FROM editors WHERE role = $1 LIMIT $2`, sqldb.ScanText,
			string(account.Editor), MaxEditors)
	case state == CopyInProgress && c.State == CopyForReview:
		kind = mail.ReviewReturned
	case state == CopyReady:
		kind = mail.ReviewApproved
	default:
		return nil
	}
	for _, address := range to {
		if address != by && err == nil {
			err = accountdb.QueueMail(ctx, tx, mail.Request{To: address, Kind: kind, About: c.ID}, now)
		}
	}
	return err
}

func (step CopyStep) check() error {
	switch {
	case !slices.Contains(copyStates, step.State):
		return sqldb.Problem(sqldb.ErrInvalid, nil, "%q is not a state of a working copy: choose one of %s", step.State,
			strings.Join(copyStates, ", "))
	case !isText(step.Note) || utf8.RuneCountInString(step.Note) > MaxCopyNote:
		return sqldb.Problem(sqldb.ErrInvalid, nil, "the note is not text, or has more than %d characters: shorten it",
			MaxCopyNote)
	}
	return nil
}
