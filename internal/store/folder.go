package store

import (
	"context"
	"database/sql"
	"errors"

	"palmares/internal/catalog"
)

// A Folder is a content folder that has what is published: from one day to another,
// publishing it again changes nothing and gives no warnings. The zero value is none.
type Folder struct {
	Digest      string // of everything that decides about the result; "" for none
	From, Until string // days, YYYY-MM-DD
}

// Is reports whether a folder with that digest need not be read on a day.
func (f Folder) Is(digest, day string) bool {
	return digest != "" && digest == f.Digest && f.From <= day && day <= f.Until
}

// ErrOtherFolder: the folder is not known to have what is published.
var ErrOtherFolder = errors.New("the folder is not that of the published version")

// Folder returns the folder of the published version.
func (s *Catalogue) Folder(ctx context.Context) (f Folder, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		f, err = folder(ctx, tx)
		return err
	})
	return f, err
}

func folder(ctx context.Context, tx *sql.Tx) (f Folder, err error) {
	err = tx.QueryRowContext(ctx, `SELECT folder, folder_from, folder_until FROM publications WHERE version = (SELECT version FROM catalogue)`).
		Scan(&f.Digest, &f.From, &f.Until)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return f, err
}

// setFolder records the folder of the version that stands.
func (p *publication) setFolder(ctx context.Context, f Folder) error {
	_, err := p.tx.ExecContext(ctx, `UPDATE publications SET folder = $1, folder_from = $2, folder_until = $3 WHERE version = $4`,
		f.Digest, f.From, f.Until, p.head.Version)
	return err
}

// folder returns the folder of this publication; the zero value if it is not known to
// give the same result again.
func (p *publication) folder() Folder {
	f := p.opts.Folder
	if f.Digest == "" {
		return Folder{}
	}
	f.From = catalog.Day(p.now)
	return f
}

// isNewFolder reports whether the folder, which changes nothing, replaces that of the
// version that stands. One whose price changes are stored now does not: only its next
// publication shows that it has nothing to add.
func (p *publication) isNewFolder(ctx context.Context) (bool, error) {
	f := p.folder()
	if f.Digest == "" || len(p.diff.Listed) > 0 {
		return false, nil
	}
	stored, err := folder(ctx, p.tx)
	return !stored.Is(f.Digest, f.From), err
}

// Counts are how many records of each kind are published.
type Counts struct{ Tools, Comparisons, Retired, Categories, Pages, Pictures int }

// Stand is Publish for a folder that was not read, as it has the digest of
// opts.Folder. ErrOtherFolder: it must be read.
func (s *Catalogue) Stand(ctx context.Context, opts PublishOptions) (version int64, n Counts, err error) {
	err = s.publish(ctx, nil, opts, func(p *publication) error {
		if err := p.begin(ctx); err != nil {
			return err
		}
		f, err := folder(ctx, p.tx)
		if err != nil {
			return err
		}
		if !f.Is(opts.Folder.Digest, catalog.Day(p.now)) {
			return ErrOtherFolder
		}
		version = p.head.Version
		err = p.tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM tools), (SELECT count(*) FROM comparisons), (SELECT count(*) FROM retired),
			(SELECT count(*) FROM categories), (SELECT count(*) FROM pages), (SELECT count(*) FROM pictures)`).
			Scan(&n.Tools, &n.Comparisons, &n.Retired, &n.Categories, &n.Pages, &n.Pictures)
		if err != nil {
			return err
		}
		return p.stand(ctx)
	})
	return version, n, err
}
