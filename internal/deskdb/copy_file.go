package deskdb

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"palmares/internal/sqldb"
)

// A CopyFile is a picture that a working copy adds to the content folder.
type CopyFile struct {
	Path string // in the content folder
	Data []byte
}

// PutFile stores a picture of a working copy, replaces it, or without bytes removes it. If its text shows the picture,
// that makes the next revision, also of c, which nobody has approved. ErrNotFound: there is no such copy; ErrInvalid: the
// path, or it is too large; sqldb.ErrTooMany: there are MaxCopyFiles, or they have more than MaxFilesBytes.
func (s *Copies) PutFile(ctx context.Context, c *WorkingCopy, f CopyFile, now time.Time) error {
	if err := checkPath(f.Path); err != nil {
		return err
	}
	if len(f.Data) > MaxFileBytes {
		return sqldb.Problem(sqldb.ErrInvalid, nil, "the picture has %d bytes; the maximum is %d", len(f.Data), MaxFileBytes)
	}
	revised, err := sqldb.Write(ctx, s.db, func(tx *sql.Tx) (int64, error) {
		stored, err := lockCopy(ctx, s.db, tx, c.ID)
		if err == nil {
			err = putFile(ctx, tx, c.ID, f)
		}
		if err != nil || !bytes.Contains(stored.Data, []byte(f.Path)) {
			return 0, err
		}
		return 1, stored.revise(ctx, tx, stored.Data, now, ``)
	})
	c.Revision += revised
	return err
}

func putFile(ctx context.Context, tx *sql.Tx, id string, f CopyFile) error {
	if len(f.Data) == 0 {
		return sqldb.Exec(ctx, tx, `DELETE FROM copy_files WHERE copy_id = $1 AND path = $2`, id, f.Path)
	}
	err := sqldb.Exec(ctx, tx, `INSERT INTO copy_files (copy_id, path, bytes) VALUES ($1, $2, $3)
		ON CONFLICT (copy_id, path) DO UPDATE SET bytes = excluded.bytes`, id, f.Path, f.Data)
	if err != nil {
		return err
	}
	if err := sqldb.AtMost(ctx, tx, MaxCopyFiles, "pictures in the working copy: publish it first",
		`copy_files WHERE copy_id = $1`, id); err != nil {
		return err
	}
	size, err := sqldb.Value[int64](ctx, tx, `SELECT sum(length(bytes)) FROM copy_files WHERE copy_id = $1`, id)
	if err == nil && size > MaxFilesBytes {
		err = sqldb.Problem(sqldb.ErrTooMany, nil, "the pictures of the working copy would have %d bytes; the maximum is %d: "+
			"make them smaller", size, MaxFilesBytes)
	}
	return err
}

// Paths lists the pictures of a working copy without their bytes.
func (s *Copies) Paths(ctx context.Context, id string) ([]string, error) {
	all, err := sqldb.List(ctx, s.db, `SELECT path FROM copy_files WHERE copy_id = $1 LIMIT $2`, sqldb.ScanText,
		knownCopy(id), MaxCopyFiles)
	slices.Sort(all)
	return all, err
}

// Files returns the pictures of a working copy, by path.
func (s *Copies) Files(ctx context.Context, id string) ([]CopyFile, error) {
	all, err := sqldb.List(ctx, s.db, `SELECT path, bytes FROM copy_files WHERE copy_id = $1 LIMIT $2`,
		sqldb.ScanFields[CopyFile], knownCopy(id), MaxCopyFiles)
	slices.SortFunc(all, func(a, b CopyFile) int { return strings.Compare(a.Path, b.Path) })
	return all, err
}
