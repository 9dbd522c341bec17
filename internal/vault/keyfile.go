package vault

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
)

// A Sealed text is what a secret is stored as.
type Sealed struct {
	Owner string // the id of whatever has the secret
	Text  string
}

// A Store keeps sealed texts.
type Store interface {
	// SealedSecrets returns all of them.
	SealedSecrets(ctx context.Context) ([]Sealed, error)
	// ReplaceSecret stores replacement instead of a text, unless its owner no longer has that.
	ReplaceSecret(ctx context.Context, old Sealed, replacement string) error
}

// Secrets are the stores of a database.
type Secrets []Store

// Sealed returns all sealed texts.
func (all Secrets) Sealed(ctx context.Context) (found []Sealed, err error) {
	for _, s := range all {
		some, problem := s.SealedSecrets(ctx)
		found, err = append(found, some...), errors.Join(err, problem)
	}
	return found, err
}

// A KeySource is where the keys that seal secrets come from.
type KeySource struct {
	// Given is the value of --secret-key; "" if it was not given.
	Given string
	// File holds the key if none is given. It is "" where one must be given: nodes that
	// share a PostgreSQL database must all have the same.
	File string
}

// Check refuses keys that cannot be used, as far as that is known without the database.
func (k KeySource) Check() error {
	if k.Given == "" && k.File == "" {
		return errors.New("--secret-key is missing: with PostgreSQL every node needs the same key; " +
			"create it once with `openssl rand -base64 32`, keep it, and set PALMARES_SECRET_KEY")
	}
	if k.Given == "" {
		return nil
	}
	if _, err := ParseKeys(k.Given); err != nil {
		return fmt.Errorf("--secret-key: %w", err)
	}
	return nil
}

// Open returns a Sealer that opens everything in a database. Keys that do not are
// refused: nothing could be signed, and no other key would open what they seal from now
// on. A key file is created if there is none and nothing is sealed yet, in a folder that
// must exist.
func (k KeySource) Open(ctx context.Context, secrets Secrets) (Sealer, error) {
	stored, err := secrets.Sealed(ctx)
	if err != nil {
		return Sealer{}, err
	}
	return k.open(stored)
}

// Usable reports whether a database has secrets, and returns an error if the keys do not
// open them all. It creates no key file.
func (k KeySource) Usable(ctx context.Context, secrets Secrets) (bool, error) {
	stored, err := secrets.Sealed(ctx)
	if err != nil || len(stored) == 0 {
		return false, err
	}
	_, err = k.open(stored)
	return true, err
}

// Sealer returns the keys without looking at the database. It creates no key file.
func (k KeySource) Sealer() (Sealer, error) { return k.keys(false) }

func (k KeySource) open(stored []Sealed) (Sealer, error) {
	sealer, err := k.keys(len(stored) == 0)
	if err != nil {
		return Sealer{}, err
	}
	for _, s := range stored {
		switch id := sealer.Missing(s.Text); {
		case id == "":
		case k.Given != "":
			return Sealer{}, fmt.Errorf("the secret of %s is sealed with key %s, which is not in --secret-key: "+
				"add the previous key, after a comma if there is a new one", s.Owner, id)
		default:
			return Sealer{}, fmt.Errorf("the secret of %s is sealed with key %s, which is not the key in %s: "+
				"restore that file from the backup of this database, or pass the key with --secret-key", s.Owner, id, k.File)
		}
	}
	return sealer, nil
}

// Where returns how to find the keys, for a sentence; "" if they were given.
func (k KeySource) Where() string {
	if k.Given != "" {
		return ""
	}
	return ": it is in " + k.File
}

// Save writes the keys to the key file of another database. A file that has others is
// refused.
func (k KeySource) Save(file string) error {
	text := k.Given
	if text == "" {
		var err error
		text, err = readKeyFile(k.File)
		if err != nil {
			return err
		}
	}
	if err := createKeyFile(file, text); err != nil {
		return err
	}
	found, err := readKeyFile(file)
	if err == nil && found != strings.TrimSpace(text) {
		err = fmt.Errorf("%s has another key than secrets are sealed with: move it away; "+
			"nothing was changed", file)
	}
	return err
}

// keys reads the keys. It creates a missing key file if create is set.
func (k KeySource) keys(create bool) (Sealer, error) {
	if err := k.Check(); err != nil {
		return Sealer{}, err
	}
	if k.Given != "" {
		return ParseKeys(k.Given)
	}
	text, err := readKeyFile(k.File)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return Sealer{}, fmt.Errorf("%s is missing, and the secrets in the database are sealed with its "+
				"key: restore it from the backup, or pass the key with --secret-key", k.File)
		}
		err = createKeyFile(k.File, newKey())
		if err == nil {
			text, err = readKeyFile(k.File) // another process may have been first
		}
	}
	if err != nil {
		return Sealer{}, err
	}
	sealer, err := ParseKeys(text)
	if err != nil {
		return Sealer{}, fmt.Errorf("%s, which seals secrets, is damaged: restore it from a backup (%w)",
			k.File, err)
	}
	return sealer, nil
}

// Reseal seals with the first key what another key sealed, so that the operator can drop
// that key. It returns how many secrets it resealed; those that fail do not stop the
// others.
func (s Sealer) Reseal(ctx context.Context, secrets Secrets) (int, error) {
	resealed := 0
	var errs []error
	for _, store := range secrets {
		stored, err := store.SealedSecrets(ctx)
		errs = append(errs, err)
		for _, held := range stored {
			if s.Current(held.Text) {
				continue
			}
			secret, err := s.Open(held.Owner, held.Text)
			if err == nil {
				err = store.ReplaceSecret(ctx, held, s.Seal(held.Owner, secret))
			}
			if err == nil {
				resealed++
			}
			errs = append(errs, err)
		}
	}
	return resealed, errors.Join(errs...)
}

// readKeyFile reads a key file that only its owner can read.
func readKeyFile(file string) (string, error) {
	opened, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("%s, which seals secrets, cannot be read by the user that runs palmares: %w",
			file, err)
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return "", err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file: palmares keeps the key that seals secrets there; "+
			"move it away", file)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s is readable by others than its owner, and it seals secrets: "+
			"run `chmod 600 %s`", file, file)
	}
	const maxSize = 4 << 10 // some fifty keys
	text := make([]byte, min(info.Size(), maxSize))
	if _, err := opened.ReadAt(text, 0); err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", file, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// newKey returns a random key.
func newKey() string {
	var key [KeySize]byte
	rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// createKeyFile writes keys to a file, unless the file exists. They are written to
// another name first and then linked: of several processes that start at once one
// creates the key, and none reads half of it.
func createKeyFile(file, keys string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the key that seals secrets cannot be stored beside the database: %w; "+
				"let the user that runs palmares write there, or pass --secret-key", err)
		}
	}()
	partial, err := os.CreateTemp(filepath.Dir(file), ".palmares-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name()) // its other name stays
	_, err = partial.WriteString(keys + "\n")
	if err := errors.Join(err, partial.Sync(), partial.Close()); err != nil {
		return err
	}
	if err := os.Link(partial.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// What is sealed is useless without this key: it must survive a power failure as the
	// database does.
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
