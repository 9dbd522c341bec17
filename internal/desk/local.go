package desk

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/sqldb"
	"palmares/internal/worktree"
)

// Local is the desk on the machine of somebody who writes alone: her folder, whose files are the
// working copies, as far as worktree.CheckPath lets a desk write. Saving writes the file, and there is
// nobody to share, review or publish with. It is Folder and Copies of a Config, and says who she is.
type Local struct {
	Folder // and Copies are nil: what Local does not implement has no page
	Copies
	Root  *os.Root
	token string
}

// NewLocal returns the desk of a folder.
func NewLocal(root *os.Root) *Local { return &Local{Root: root, token: rand.Text()} }

// Visitor implements Config.Visitor. Whoever reaches the server is the author of the folder.
func (l *Local) Visitor(http.ResponseWriter, *http.Request) (Visitor, error) {
	return Visitor{Role: account.Editor, Token: l.token}, nil
}

// Read implements Folder.
func (l *Local) Read(path string) ([]byte, error) {
	if err := worktree.CheckPath(path); err != nil {
		return nil, err
	}
	return l.Root.ReadFile(path)
}

// With implements Folder. Changes are in the folder already.
func (l *Local) With([]worktree.Change) fs.FS { return l.Root.FS() }

// Unsent implements Folder.
func (l *Local) Unsent(context.Context) (int, error) { return 0, nil }

// Publish implements Folder. What is new is written before anything is removed.
func (l *Local) Publish(_ context.Context, p worktree.Publication) (err error) {
	for _, c := range p.Changes {
		if c.Data != nil && err == nil {
			err = l.write(c.Path, c.Data)
		}
	}
	for _, c := range p.Changes {
		if c.Data == nil && err == nil {
			err = l.Root.Remove(c.Path)
		}
	}
	return err
}

// Create implements Copies: a new record is written at once.
func (l *Local) Create(ctx context.Context, c deskdb.WorkingCopy, _ time.Time) (deskdb.WorkingCopy, error) {
	if worktree.Hash(c.Original) == "" {
		if err := l.write(c.Path, c.Data); err != nil {
			return c, err
		}
	}
	return l.Find(ctx, base64.RawURLEncoding.EncodeToString([]byte(c.Path)))
}

// Find implements Copies. The revision of a file is when it was written.
func (l *Local) Find(_ context.Context, id string) (c deskdb.WorkingCopy, err error) {
	file, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return c, sqldb.ErrNotFound
	}
	data, err := l.Read(string(file))
	info, missing := l.Root.Stat(string(file))
	if err != nil || missing != nil || strings.HasPrefix(string(file), "images/") {
		return c, sqldb.ErrNotFound
	}
	return deskdb.WorkingCopy{
		ID: id, Path: string(file), Base: worktree.Hash(data), Original: data, Data: data, State: deskdb.CopyInProgress,
		Revision: info.ModTime().UnixMicro(), SavedAt: info.ModTime().UTC(),
	}, nil
}

// List, Files and Paths implement Copies: everything is in the folder.
func (l *Local) List(context.Context) ([]deskdb.WorkingCopy, error)       { return nil, nil }
func (l *Local) Files(context.Context, string) ([]deskdb.CopyFile, error) { return nil, nil }
func (l *Local) Paths(context.Context, string) ([]string, error)          { return nil, nil }

// Save implements Copies.
func (l *Local) Save(ctx context.Context, id string, revision int64, data []byte, _ time.Time) (int64, error) {
	c, err := l.Find(ctx, id)
	if err != nil || worktree.Hash(data) == c.Base {
		return c.Revision, err
	}
	if c.Revision != revision {
		return 0, sqldb.ErrChanged
	}
	if err := l.write(c.Path, data); err != nil {
		return 0, err
	}
	c, err = l.Find(ctx, id)
	return c.Revision, err
}

// PutFile implements Copies.
func (l *Local) PutFile(_ context.Context, _ *deskdb.WorkingCopy, f deskdb.CopyFile, _ time.Time) error {
	return l.write(f.Path, f.Data)
}

// write writes a file so that it has the old or the new bytes at any moment.
func (l *Local) write(file string, data []byte) error {
	if err := worktree.CheckPath(file); err != nil {
		return err
	}
	dir, name := path.Split(file)
	if err := l.Root.MkdirAll(path.Clean(dir), 0o755); err != nil {
		return err
	}
	staged := dir + "." + name + ".palmares"
	if err := l.Root.WriteFile(staged, data, 0o644); err != nil {
		return err
	}
	return l.Root.Rename(staged, file)
}
