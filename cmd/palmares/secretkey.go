package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"palmares/internal/store"
	"palmares/internal/webhook"
)

// sealer makes what seals the secrets of webhooks in a database, of the keys that
// --secret-key gave. Keys that do not open all that is there are refused: nothing could
// be signed, and what they sealed now nobody else could open.
func (s *session) sealer(ctx context.Context, st *store.Store, given string) (webhook.Sealer, error) {
	held, err := st.Endpoints.SealedSecrets(ctx)
	if err != nil {
		return webhook.Sealer{}, err
	}
	sealer, err := s.keys(given, len(held) == 0)
	if err != nil {
		return webhook.Sealer{}, err
	}
	for _, h := range held {
		for _, sealed := range []string{h.Secret, h.OldSecret} {
			switch id := sealer.Missing(sealed); {
			case id == "":
			case given != "":
				return webhook.Sealer{}, fmt.Errorf("the webhook secret of %s is sealed under the key %s, which --secret-key does not give: give the key that was used before, after a comma if there is a new one", h.EndpointID, id)
			default:
				return webhook.Sealer{}, fmt.Errorf("the webhook secret of %s is sealed under the key %s, which is not that of %s: restore that file from the backup of this database, or give the key with --secret-key", h.EndpointID, id, s.keyFile())
			}
		}
	}
	return sealer, nil
}

// keys reads the keys of --secret-key. On SQLite, where one machine has the database,
// a key is made by itself the first time, which is while there is nothing to open;
// nodes that share a PostgreSQL must be given the same.
//
// It is called after the database was opened: that makes the folder.
func (s *session) keys(given string, first bool) (webhook.Sealer, error) {
	if given != "" {
		sealer, err := webhook.ParseKeys(given)
		if err != nil {
			return sealer, fmt.Errorf("--secret-key: %w", err)
		}
		return sealer, nil
	}
	if !s.onSQLite() {
		return webhook.Sealer{}, errors.New("--secret-key is missing: with PostgreSQL every node is given the same; make it once with `openssl rand -base64 32`, keep it, and set PALMARES_SECRET_KEY")
	}
	file := s.keyFile()
	keys, err := readKeyFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if !first {
			return webhook.Sealer{}, fmt.Errorf("%s is missing, and the secrets of webhooks in the database are sealed under its key: restore it from the backup, or give the key with --secret-key", file)
		}
		if err = makeKeyFile(file); err == nil {
			keys, err = readKeyFile(file) // another process may have been first: one key holds
		}
	}
	if err != nil {
		return webhook.Sealer{}, err
	}
	sealer, err := webhook.ParseKeys(keys)
	if err != nil {
		return sealer, fmt.Errorf("%s, which seals the secrets of webhooks, is damaged: restore it from a backup (%w)", file, err)
	}
	return sealer, nil
}

func (s *session) onSQLite() bool { return strings.HasPrefix(s.database, "sqlite:") }

// keyFile is where the key of a database on SQLite is kept.
func (s *session) keyFile() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.database, "sqlite:"), ".db") + ".key"
}

// readKeyFile reads a key that is nobody else's to read.
func readKeyFile(file string) (string, error) {
	opened, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%s, which seals the secrets of webhooks, cannot be read by the user that runs palmares: %w", file, err)
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return "", err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file: it is where palmares keeps the key that seals the secrets of webhooks; move what is there away", file)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s may be read by others than its owner, and it seals the secrets of webhooks: run `chmod 600 %s`", file, file)
	}
	const most = 4 << 10 // some fifty keys
	text := make([]byte, min(info.Size(), most))
	if _, err := opened.ReadAt(text, 0); err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// makeKeyFile makes a key in a file. It is written whole under another name and
// then given its own, which fails if there is one already: of several processes that
// start at once one makes the key, and no one ever reads half of it.
func makeKeyFile(file string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the key that seals the secrets of webhooks cannot be kept beside the database: %w; let the user that runs palmares write there, or give --secret-key", err)
		}
	}()
	var key [webhook.KeySize]byte
	rand.Read(key[:])                                                  // never fails
	draft, err := os.CreateTemp(filepath.Dir(file), ".palmares-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) // its other name stays
	_, err = draft.WriteString(base64.StdEncoding.EncodeToString(key[:]) + "\n")
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err != nil {
		return err
	}
	if err := os.Link(draft.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// What is sealed under this key is of no use without it: it must outlast a power
	// cut as the database does.
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
