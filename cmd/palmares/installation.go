package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// An installation is the server that a package, or somebody who followed deploy/palmares.service,
// has installed on this machine.
type installation struct {
	settings string // the file with the environment of the server
	user     string // that the server runs as
	folder   string // that it runs in
	adopted  bool   // this command has its settings
	denied   bool   // this command would have them, if its user might read the file
}

// installed is where the unit has it.
var installed = installation{settings: "/etc/palmares/palmares.env", user: "palmares", folder: "/var/lib/palmares"}

// adopt gives a command the settings of the installation, unless it names a database itself.
// Only root and the server's user may read them.
func (i *installation) adopt(args []string) error {
	isNamed := func(arg string) bool { return arg == "--database" || strings.HasPrefix(arg, "--database=") }
	if os.Getenv("PALMARES_DATABASE") != "" || slices.ContainsFunc(args, isNamed) {
		return nil
	}
	text, err := os.ReadFile(i.settings)
	i.denied = errors.Is(err, fs.ErrPermission)
	if i.denied || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	values := parseSettings(string(text))
	database := values["PALMARES_DATABASE"]
	if database == "" {
		database = "sqlite:palmares.db" // as in the unit
	}
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok && !filepath.IsAbs(path) {
		database = "sqlite:" + filepath.Join(i.folder, path)
	}
	values["PALMARES_DATABASE"] = database
	for name, value := range values {
		if _, given := os.LookupEnv(name); given || value == "" {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %s cannot be set: %w", i.settings, name, err)
		}
	}
	i.adopted = true
	return nil
}

// misspelt returns an error if a variable looks like a setting, and no option reads it.
func misspelt(options []*kong.Flag) error {
	known := []string{"PALMARES_TOKEN"}
	for _, option := range options {
		known = append(known, option.Envs...)
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.Contains(name, "PALMARES_") && !slices.Contains(known, name) {
			return fmt.Errorf("%q is no setting, and is ignored: correct it in %s or wherever it is set; "+
				"`palmares serve --help` shows all of them", name, installed.settings)
		}
	}
	return nil
}

// parseSettings returns the variables in the text of a file that shells can read, as systemd does:
// NAME=VALUE, with or without quotes.
func parseSettings(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") || strings.HasPrefix(name, ";") {
			continue
		}
		for _, quote := range []string{`"`, `'`} {
			inner, opened := strings.CutPrefix(value, quote)
			if inner, closed := strings.CutSuffix(inner, quote); opened && closed {
				value = inner
				break
			}
		}
		values[strings.TrimSpace(name)] = value
	}
	return values
}

// own gives a folder of root to the user of the server, who writes there at the desk.
func (i *installation) own(dir string, stderr io.Writer) error {
	if !i.adopted || os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup(i.user)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(who.Uid)
	gid, err2 := strconv.Atoi(who.Gid)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "palmares: %s belongs to %s, as whom the desk writes there\n", dir, i.user)
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, uid, gid))
	})
}

// become makes root the user of the server, so that no file of the database belongs to root, and
// says whose settings are used.
func (i *installation) become(stderr io.Writer) error {
	if i.denied {
		i.denied = false // it is said once
		fmt.Fprintf(stderr, "palmares: this is not about the server of this machine: for that, run it as root, "+
			"who may read %s\n", i.settings)
	}
	if !i.adopted || os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup(i.user)
	if err != nil {
		return fmt.Errorf("the settings of %s are for the user %s, whom this machine does not have: %w",
			i.settings, i.user, err)
	}
	if err := errors.Join(becomeUser(who), os.Setenv("HOME", who.HomeDir)); err != nil {
		return fmt.Errorf("cannot run as %s: %w", i.user, err)
	}
	fmt.Fprintf(stderr, "palmares: running as %s, with the settings of %s\n", i.user, i.settings)
	return nil
}
