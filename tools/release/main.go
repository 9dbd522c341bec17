// Command release makes what a release of Palmarès consists of: archives, Debian packages, an
// OCI image, a list of modules and licences, and notes. The same commit and the same Go become
// the same bytes, on any machine. See `make release`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	root := flag.String("root", ".", "folder of the source")
	out := flag.String("out", "dist", "folder to write, which is emptied first")
	asked := flag.String("version", "", "version to make; the source must say the same")
	commit := flag.String("commit", "unknown", "commit of the source")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64",
		"systems to build for")
	flag.Parse()
	r, err := open(*root, *asked)
	if err == nil {
		r.out, r.commit = *out, *commit
		err = r.make(strings.Split(*platforms, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is a version of the source on its way to the files that people install.
type release struct {
	root    string // of the source
	out     string // the folder for the result
	version string
	commit  string
	time    time.Time         // of the commit; every file has it
	texts   map[string][]byte // by path: licences, README and completions, which all archives have
}

// A binary is the program for one system.
type binary struct {
	os, arch string
	path     string
}

var versionInSource = regexp.MustCompile(`(?m)^const version = "(\d+\.\d+\.\d+(?:-[0-9a-z.]+)?)"$`)

// open reads which release the source in a folder is.
func open(root, asked string) (*release, error) {
	const file = "cmd/palmares/version.go"
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	found := versionInSource.FindSubmatch(source)
	if found == nil {
		return nil, fmt.Errorf("%s has no version", file)
	}
	r := &release{root: root, version: string(found[1]), texts: map[string][]byte{}}
	if asked != "" && asked != r.version {
		return nil, fmt.Errorf("version %s is asked for, and the source is %s: change %s", asked, r.version, file)
	}
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH, the time of all files: %w", err)
	}
	r.time = time.Unix(epoch, 0).UTC()
	return r, nil
}

// make writes the release.
func (r *release) make(platforms []string) error {
	stage, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	binaries, err := r.build(stage, platforms)
	if err != nil {
		return err
	}
	modules, err := r.modules(binaries)
	if err != nil {
		return err
	}
	if err := r.read(modules); err != nil {
		return err
	}
	if err := r.pack(stage, binaries); err != nil {
		return err
	}
	bill, err := r.bill(modules)
	if err != nil {
		return err
	}
	changes, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes, err := r.notes(string(changes))
	if err != nil {
		return err
	}
	return errors.Join(r.write(".spdx.json", bill), r.write("_notes.md", []byte(notes)))
}

// name returns the name of a file of this release.
func (r *release) name(suffix string) string { return "palmares_" + r.version + suffix }

// write writes a file of this release.
func (r *release) write(suffix string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, r.name(suffix)), content, 0o644)
}

// run runs a program in the folder of the source and returns its output.
func (r *release) run(env []string, args ...string) ([]byte, error) {
	command := exec.Command(args[0], args[1:]...)
	command.Dir = r.root
	// Nothing of the machine goes into a binary.
	command.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-trimpath -buildvcs=false",
		"GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "LC_ALL=C"), env...)
	output, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, failed.Stderr)
	}
	return output, err
}

// build builds the program for each platform, as a static binary.
func (r *release) build(stage string, platforms []string) ([]binary, error) {
	var binaries []binary
	for _, platform := range platforms {
		fmt.Println("building for", platform)
		goos, goarch, _ := strings.Cut(platform, "/")
		path := filepath.Join(stage, goos+"_"+goarch)
		if _, err := r.run([]string{"GOOS=" + goos, "GOARCH=" + goarch}, "go", "build",
			"-ldflags", "-s -w -X main.commit="+r.commit, "-o", path, "./cmd/palmares"); err != nil {
			return nil, err
		}
		binaries = append(binaries, binary{goos, goarch, path})
	}
	return binaries, nil
}

// read reads what all archives have beside the binary.
func (r *release) read(modules []module) error {
	if err := r.documents(); err != nil {
		return err
	}
	r.texts["THIRD-PARTY-LICENSES"] = notices(modules)
	help, err := r.run(nil, "go", "run", "./cmd/palmares", "--help")
	if err != nil {
		return err
	}
	r.texts["palmares.1"] = manual(help, r.texts["docs/operating.md"])
	for shell, file := range map[string]string{"bash": "palmares.bash", "zsh": "_palmares", "fish": "palmares.fish"} {
		script, err := r.run(nil, "go", "run", "./cmd/palmares", "completion", shell)
		if err != nil {
			return err
		}
		r.texts["completions/"+file] = script
	}
	return nil
}

// documents reads what people read, and the units and configurations that it tells of.
func (r *release) documents() error {
	names, err := fs.Glob(os.DirFS(r.root), "*.md")
	names = append(names, "LICENSE")
	for _, folder := range []string{"docs", "deploy"} {
		err = errors.Join(err, fs.WalkDir(os.DirFS(r.root), folder, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && e.Name()[0] != '.' { // deploy/.env has passwords
				names = append(names, name)
			}
			return err
		}))
	}
	for _, name := range names {
		var failed error
		r.texts[name], failed = os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
		err = errors.Join(err, failed)
	}
	return err
}

// manual returns the manual page: the commands, and what operators need at night.
func manual(help, operating []byte) []byte {
	text := strings.ReplaceAll(string(help)+"\n"+string(operating), `\`, `\e`)
	text = regexp.MustCompile(`(?m)^[.']`).ReplaceAllString(text, `\&$0`)
	return []byte(".TH PALMARES 1\n.SH NAME\npalmares \\- catalogue of tested AI tools: API, website, feeds and webhooks\n" +
		".SH DESCRIPTION\nAll documents are in /usr/share/doc/palmares.\n.nf\n" + text)
}

// pack writes the archives, the packages and the image.
func (r *release) pack(stage string, binaries []binary) error {
	for _, b := range binaries {
		if err := r.archive(b); err != nil {
			return err
		}
		if b.os != "linux" {
			continue
		}
		if err := r.deb(stage, b); err != nil {
			return err
		}
	}
	return r.image(stage, binaries)
}

// notes returns the section of the changelog about this version, without its heading.
func (r *release) notes(changes string) (string, error) {
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(r.version) + `\n`)
	at := heading.FindStringIndex(changes)
	if at == nil {
		return "", errors.New("CHANGELOG.md has no section " + r.version)
	}
	section, _, _ := strings.Cut(changes[at[1]:], "\n## ")
	return strings.TrimSpace(section) + "\n", nil
}
