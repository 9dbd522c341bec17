package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/node"
	"palmares/internal/osfile"
)

type backupCommand struct {
	File      string `arg:"" optional:"" help:"File to write, which must not exist; or a folder, for a file with the time as its name; or - for standard output." type:"path"`
	KeepDays  int    `help:"With a folder: then remove older backups, but those of the last days that have any (default: remove none)." placeholder:"N" type:"number" what:"a number of days" range:"1-10000"`
	Elsewhere bool   `help:"Only note, for check and the metrics, that another program has just made a backup."`
}

// The names of the backups in a folder begin with their day.
const (
	backupName = "palmares-20060102T150405Z"
	backupsAre = "palmares-????????T??????Z.d*"
	backupDay  = len("palmares-20060102")
)

func (c *backupCommand) Run(inv *invocation) error {
	switch {
	case c.Elsewhere:
		return inv.withExisting(func(st *node.Database) error { return noteBackup(inv, st) })
	case c.File == "":
		return errors.New("where to? Give a file, a folder, or - for standard output")
	case c.File == "-" && isTerminal(inv.stdout):
		return errors.New("a backup is no text for a terminal: redirect it to a file or a program")
	}
	if err := installed.become(inv.stderr); err != nil {
		return err
	}
	if info, err := os.Stat(c.File); err != nil || !info.IsDir() {
		return c.write(inv, c.File, false)
	}
	earlier, err := fs.Glob(os.DirFS(c.File), backupsAre)
	if err != nil {
		return err
	}
	if isAbsent(inv.database) && len(earlier) == 0 {
		return inv.printf("there is no database %s yet, and so no backup\n", inv.database)
	}
	name := inv.now().UTC().Format(backupName) + ".dump" // of PostgreSQL
	if strings.HasPrefix(inv.database, "sqlite:") {
		name = strings.TrimSuffix(name, ".dump") + ".db"
	}
	err = c.write(inv, filepath.Join(c.File, name), len(earlier) > 0)
	if err == nil && c.KeepDays > 0 {
		err = c.removeOld(append(earlier, name))
	}
	return err
}

// removeOld keeps the backups of the last KeepDays days that have a backup, and removes the others: neither a wrong
// clock nor a time without backups removes any.
func (c *backupCommand) removeOld(names []string) (err error) {
	slices.Sort(names)
	days := map[string]bool{}
	for _, name := range slices.Backward(names) {
		days[name[:backupDay]] = true
		if len(days) > c.KeepDays {
			err = errors.Join(err, os.Remove(filepath.Join(c.File, name)))
		}
	}
	return err
}

// write writes a backup to a file or to standard output, once it is verified. After others it must have a catalogue: a
// database without one has lost it.
func (c *backupCommand) write(inv *invocation, file string, isLater bool) error {
	if _, err := os.Lstat(file); err == nil && file != "-" {
		return fmt.Errorf("%s exists: choose another name, or move it away", file)
	}
	key := keyFile(inv.database)
	path, isFile := strings.CutPrefix(inv.database, "sqlite:")
	isReadOnly := isFile && osfile.IsReadOnly(path)
	beside := filepath.Dir(file)
	if file == "-" && isFile && !isReadOnly {
		beside = filepath.Dir(path) // which has room, and is on a disk
	} else if file == "-" {
		beside = os.TempDir()
	}
	dir, err := osfile.TempDir(beside)
	if err != nil {
		return fmt.Errorf("nothing can be written in %s: choose another folder, or have your shell write the file: "+
			"`palmares backup - >FILE` (%w)", beside, err)
	}
	defer os.RemoveAll(dir)
	if err := osfile.RemoveLeftovers(beside); err != nil {
		return fmt.Errorf("what a backup that was killed has left in %s cannot be removed: %w", beside, err)
	}
	if isReadOnly { // as after the disk has failed: SQLite cannot open it there, and nobody writes to it
		inv.database = "sqlite:" + filepath.Join(dir, "palmares.db")
		for _, suffix := range []string{"", "-wal"} {
			if err := copyTo(filepath.Join(dir, "palmares.db"+suffix), path+suffix); err != nil {
				return err
			}
		}
	}
	return inv.withExisting(func(st *node.Database) error {
		verified := filepath.Join(dir, "backup")
		version, err := st.Backup(inv.ctx, verified)
		if err != nil {
			return err
		}
		if version == 0 && isLater {
			return fmt.Errorf("nothing is published in %s, and there are backups from before: restore the last one, or "+
				"make the first backup of a new catalogue in another folder", inv.database)
		}
		info, err := os.Stat(verified)
		if err != nil {
			return err
		}
		said := inv.stdout
		if file == "-" {
			said, err = inv.stderr, copyFile(inv.stdout, verified)
		} else {
			err = os.Link(verified, file) // unlike a rename, a link replaces nothing
			if err != nil && !errors.Is(err, fs.ErrExist) {
				err = copyTo(file, verified) // where the disk has no links
			}
			if err == nil {
				err = syncFile(file)
			}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(said, "%s: version %d of the catalogue, %.1f MB, verified\n", file, version, float64(info.Size())/1e6)
		if err := noteBackup(inv, st); err != nil {
			fmt.Fprintf(inv.stderr, "palmares: its date cannot be noted for `check` and the metrics: %v\n", err)
		}
		if _, err := os.Stat(key); err == nil {
			fmt.Fprintf(said, "keep %s in another place: it opens the secrets of webhooks\n", key)
		}
		return nil
	})
}

func noteBackup(inv *invocation, st *node.Database) error {
	return st.Upkeep.Note(inv.ctx, catalogdb.Backup, catalogdb.Done{At: inv.now()})
}

// copyTo copies a file, if there is one, to a new one.
func copyTo(target, name string) error {
	f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(copyFile(f, name), f.Close())
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(target)
	}
	return err
}

// copyFile writes the content of a file.
func copyFile(to io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, f)
	return err
}

// syncFile makes a file and its name survive a power cut.
func syncFile(file string) error {
	for _, name := range []string{file, filepath.Dir(file)} {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
