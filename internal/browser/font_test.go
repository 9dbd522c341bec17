package browser_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A typeface is what a machine that knows no other fonts shows pages in. Layouts
// must not depend on the fonts of the machine that runs the tests, so a browser
// knows one typeface only.
type typeface struct {
	name                   string
	sans, serif, monospace string // font families
	debian                 string // package that has them
}

var (
	// Wide is what most Linux machines have: the widest common letters.
	wide = typeface{"wide", "DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono", "fonts-dejavu-core"}
	// Narrow has letters of about two thirds of that width.
	narrow = typeface{"narrow", "Roboto Condensed", "Roboto Condensed", "Roboto Condensed", "fonts-roboto-unhinted"}
)

func (f typeface) families() []string {
	return slices.Compact([]string{f.sans, f.serif, f.monospace})
}

// configure writes a fontconfig file to a folder that knows this typeface alone, and
// returns its path.
func (f typeface) configure(dir string) (string, error) {
	fonts := filepath.Join(dir, "fonts")
	if err := os.Mkdir(fonts, 0o755); err != nil {
		return "", err
	}
	for _, family := range f.families() {
		files, err := f.files(family)
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if err := os.Symlink(file, filepath.Join(fonts, filepath.Base(file))); err != nil && !errors.Is(err, os.ErrExist) {
				return "", err
			}
		}
	}
	type alias struct {
		Binding string   `xml:"binding,attr"`
		Family  string   `xml:"family"`
		Prefer  []string `xml:"prefer>family"`
	}
	config := struct {
		XMLName  xml.Name `xml:"fontconfig"`
		Dir      string   `xml:"dir"`
		CacheDir string   `xml:"cachedir"`
		Aliases  []alias  `xml:"alias"`
	}{
		Dir: fonts, CacheDir: filepath.Join(dir, "cache"),
		Aliases: []alias{
			{"strong", "sans-serif", []string{f.sans}},
			{"strong", "sans", []string{f.sans}},
			{"strong", "system-ui", []string{f.sans}},
			{"strong", "serif", []string{f.serif}},
			{"strong", "monospace", []string{f.monospace}},
		},
	}
	text, err := xml.Marshal(config)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "fonts.conf")
	return path, os.WriteFile(path, text, 0o644)
}

// files returns the font files of a family, as the machine's own configuration knows
// them.
func (f typeface) files(family string) ([]string, error) {
	list := exec.Command("fc-list", "--format", "%{file}\n", family+":width=100")
	list.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FONTCONFIG_") })
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("fc-list: %w: install it (on Debian: sudo apt-get install fontconfig) and run the tests again", err)
	}
	files := strings.Fields(string(out))
	if len(files) == 0 {
		return nil, fmt.Errorf("the font %s is missing: install it (on Debian: sudo apt-get install %s) and run the tests again", family, f.debian)
	}
	return files, nil
}
