package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// Read returns the bytes of a picture or of one of its variants. ErrNotFound: there is
// none with this hash.
func (s *Pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	content, err := sqldb.Value[[]byte](ctx, s.db.Reads(), `SELECT bytes FROM picture_files WHERE hash = $1`, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, sqldb.ProblemWith(hash, sqldb.ErrNotFound, "there is no picture %s in %s", hash, s.db.Name())
	}
	return content, s.db.Explain(ctx, err)
}

// Known returns a function that finds a published picture by the SHA-256 of its file,
// so that it need not be decoded again: of the file as it was published, or as it was
// exported.
func (s *Pictures) Known(ctx context.Context) (func(source string) (catalog.Picture, bool), error) {
	known := map[string]catalog.Picture{}
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		all, err := gather(ctx, tx, gathering{}, "kind = $1", pictureKind.Name)
		if err != nil {
			return err
		}
		if err := loadScheduled(ctx, tx, &all.Catalog); err != nil {
			return err
		}
		for _, pictures := range []map[string]catalog.Picture{all.Pictures, all.Held} {
			for _, p := range pictures {
				known[p.Source], known[p.Hash] = p, p
			}
		}
		return nil
	})
	return func(source string) (catalog.Picture, bool) {
		p, ok := known[source]
		return p, ok
	}, err
}

// writePictureFiles stores the bytes that are new in a version, and removes those that left
// keptVersions ago.
func (p *publication) writePictureFiles(ctx context.Context, version int64) error {
	if p.diff.Pictures || len(p.next.Held)+len(p.old.Catalog.Held) > 0 {
		used := map[string]bool{}
		for _, pictures := range []map[string]catalog.Picture{p.next.Pictures, p.next.Held} {
			for _, picture := range pictures {
				for _, name := range picture.Names() {
					used[name] = true
				}
			}
		}
		stored, err := p.markFiles(ctx, used, version)
		if err != nil {
			return err
		}
		if err := p.writeFiles(ctx, used, stored); err != nil {
			return err
		}
	}
	return sqldb.Exec(ctx, p.tx, `DELETE FROM picture_files WHERE left_in > 0 AND left_in <= $1`, version-keptVersions)
}

// markFiles records which stored files the new version uses, and returns their hashes.
func (p *publication) markFiles(ctx context.Context, used map[string]bool, version int64) (map[string]bool, error) {
	type file struct {
		hash   string
		leftIn int64
	}
	files, err := sqldb.Rows(ctx, p.tx, `SELECT hash, left_in FROM picture_files`,
		func(scan sqldb.Scanner, f *file) error {
			return scan(&f.hash, &f.leftIn)
		})
	if err != nil {
		return nil, err
	}
	stored := make(map[string]bool, len(files))
	for _, f := range files {
		stored[f.hash] = true
		leftIn := f.leftIn
		switch {
		case used[f.hash]:
			leftIn = 0
		case leftIn == 0:
			leftIn = version
		}
		if leftIn == f.leftIn {
			continue
		}
		if err := sqldb.Exec(ctx, p.tx, `UPDATE picture_files SET left_in = $1
			WHERE hash = $2`, leftIn, f.hash); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// writeFiles stores the bytes that are used and not stored yet, one file at a time.
func (p *publication) writeFiles(ctx context.Context, used, stored map[string]bool) error {
	hashes := slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(hash string) bool { return stored[hash] })
	if len(hashes) == 0 {
		return nil
	}
	insert, err := p.tx.PrepareContext(ctx, `INSERT INTO picture_files (hash, left_in, bytes) VALUES ($1, 0, $2)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for i, hash := range hashes {
		p.progress("picture files", i, len(hashes))
		if p.opts.Pictures == nil {
			return fmt.Errorf("the bytes of the picture %s are missing: publish again", hash)
		}
		content, err := p.opts.Pictures.Read(ctx, hash)
		if err != nil {
			return fmt.Errorf("the picture %s cannot be read: publish again (%w)", hash, err)
		}
		if _, err := insert.ExecContext(ctx, hash, content); err != nil {
			return err
		}
	}
	p.progress("picture files", len(hashes), len(hashes))
	return nil
}
