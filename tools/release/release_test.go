package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// packed returns a folder with the archives, the packages and the image of stubs.
func packed(t *testing.T) string {
	t.Helper()
	r := &release{
		root: filepath.Join("..", ".."), out: t.TempDir(),
		version: "1.2.3", commit: "abc", time: time.Unix(1e9, 0).UTC(),
		texts: map[string][]byte{"LICENSE": []byte("licence"), "completions/_palmares": []byte("zsh")},
	}
	var binaries []binary
	for _, platform := range []string{"linux/amd64", "linux/arm64", "windows/amd64"} {
		var b binary
		b.os, b.arch, _ = strings.Cut(platform, "/")
		b.path = filepath.Join(t.TempDir(), "stub")
		if err := os.WriteFile(b.path, []byte("stub for "+b.arch), 0o755); err != nil {
			t.Fatal(err)
		}
		binaries = append(binaries, b)
	}
	if err := r.pack(t.TempDir(), binaries); err != nil {
		t.Fatal(err)
	}
	return r.out
}

// members returns the headers and contents in a tar archive, by name.
func members(t *testing.T, file io.Reader) (map[string]*tar.Header, map[string]string) {
	t.Helper()
	headers, contents := map[string]*tar.Header{}, map[string]string{}
	for r := tar.NewReader(file); ; {
		header, err := r.Next()
		if err == io.EOF {
			return headers, contents
		}
		content, readErr := io.ReadAll(r)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		headers[header.Name], contents[header.Name] = header, string(content)
	}
}

func TestTwoRunsWriteTheSameBytes(t *testing.T) {
	first, second := packed(t), packed(t)
	files, err := os.ReadDir(first)
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v; want three archives, two packages and an image", len(files), err)
	}
	for _, file := range files {
		a, _ := os.ReadFile(filepath.Join(first, file.Name()))
		b, err := os.ReadFile(filepath.Join(second, file.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", file.Name(), err)
		}
	}
}

func TestThePackageHasTheProgramItsUnitAndItsSettings(t *testing.T) {
	file, err := os.Open(filepath.Join(packed(t), "palmares_1.2.3_arm64.deb"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	headers, contents := map[string]*tar.Header{}, map[string]string{}
	for r := ar.NewReader(file); ; {
		part, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(part.Name, ".tar.gz") {
			plain, err := gzip.NewReader(r)
			if err != nil {
				t.Fatal(err)
			}
			h, c := members(t, plain)
			for name := range h {
				headers[name], contents[name] = h[name], c[name]
			}
		}
	}
	for name, mode := range map[string]int64{
		"./usr/bin/palmares": 0o755, "./usr/share/palmares/palmares.env": 0o644, "./usr/lib/systemd/system/palmares.service": 0o644,
		"./usr/lib/systemd/system/palmares-backup.service": 0o644, "./usr/lib/systemd/system/palmares-backup.timer": 0o644,
		"./usr/share/palmares/litestream.yml": 0o644, "./usr/lib/systemd/system/palmares-litestream.service": 0o644,
		"./usr/lib/systemd/system/palmares-sources.service": 0o644, "./usr/lib/systemd/system/palmares-sources.timer": 0o644,
		"./usr/lib/systemd/system/palmares.socket": 0o644, "./usr/lib/systemd/system/palmares-check.timer": 0o644,
		"./postinst": 0o755, "./prerm": 0o755, "./postrm": 0o755, "./usr/share/zsh/vendor-completions/_palmares": 0o644,
	} {
		if headers[name] == nil {
			name = strings.TrimPrefix(name, "./")
		}
		if h := headers[name]; h == nil || h.Mode != mode || h.Uid != 0 || !h.ModTime.Equal(time.Unix(1e9, 0)) {
			t.Errorf("%s: %+v; want mode %o, owner root, time of the commit", name, h, mode)
		}
	}
	if got := contents["./usr/bin/palmares"]; got != "stub for arm64" {
		t.Errorf("the program is %q", got)
	}
	if got := strings.TrimSpace(contents["./conffiles"]); got != "" {
		t.Errorf("an unattended upgrade would ask about %q", got)
	}
	for _, line := range []string{"Package: palmares", "Version: 1.2.3", "Architecture: arm64", "Depends: passwd"} {
		if !strings.Contains(contents["./control"], line+"\n") {
			t.Errorf("no %q in\n%s", line, contents["./control"])
		}
	}
}

// Links into the source, for those who change it, are not for those who have installed it.
func TestTheLinksOfTheDocumentsWorkOnceTheyAreInstalled(t *testing.T) {
	r := &release{root: filepath.Join("..", ".."), texts: map[string][]byte{}}
	if err := r.documents(); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for name := range r.texts {
		for ; name != "."; name = path.Dir(name) {
			has[name] = true
		}
	}
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link := regexp.MustCompile(`\]\(([^):# ]+)[^):]*\)`)
	links := 0
	for name, text := range r.texts {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range link.FindAllSubmatch(code.ReplaceAll(text, nil), -1) {
			links++
			if to := path.Join(path.Dir(name), string(found[1])); !has[to] {
				t.Errorf("%s links to %s, which is not installed", name, to)
			}
		}
	}
	if links < 50 || !has["deploy/palmares.service"] || !has["docs/operating.md"] || has["deploy/.env"] {
		t.Errorf("%d links in %d documents", links, len(r.texts))
	}
}

func TestTheImageIsValidAndSaysWhatTheDockerfileSays(t *testing.T) {
	file, err := os.Open(filepath.Join(packed(t), "palmares_1.2.3_oci.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dir := t.TempDir()
	headers, contents := members(t, file)
	for name, header := range headers {
		path := filepath.Join(dir, name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
			if err == nil {
				err = os.WriteFile(path, []byte(contents[name]), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 {
		t.Fatalf("%+v, %v; want one image of several platforms", top, err)
	}
	platforms, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := platforms.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Fatalf("%+v, %v; want two platforms", manifest, err)
	}
	dockerfile, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		image, err := platforms.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != m.Platform.Architecture {
			t.Fatalf("%+v, %v", config, err)
		}
		said := append(config.Config.Env, "USER "+config.Config.User, "WORKDIR "+config.Config.WorkingDir,
			`ENTRYPOINT ["`+config.Config.Entrypoint[0]+`"]`, `CMD ["`+config.Config.Cmd[0]+`"]`)
		for _, line := range said {
			if !strings.Contains(string(dockerfile), line) {
				t.Errorf("the Dockerfile does not say %s", line)
			}
		}
	}
}

func TestTheNotesAreTheSectionOfTheVersion(t *testing.T) {
	changes := "# Changelog\n\n## 1.2.4\n\nlater\n\n## 1.2.3\n\nthis\n\n### also\n\nthat\n\n## 1.2.2\n\nearlier\n"
	if got, err := (&release{version: "1.2.3"}).notes(changes); err != nil || got != "this\n\n### also\n\nthat\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (&release{version: "1.2"}).notes(changes); err == nil {
		t.Error("a section that is not there is found")
	}
}

func TestALicenceIsKnownByItsSentences(t *testing.T) {
	for dir, want := range map[string]string{
		"github.com/goreleaser/nfpm/v2": "MIT", "github.com/google/go-containerregistry": "Apache-2.0",
		roots: "BSD-3-Clause",
	} {
		lines, err := (&release{root: "."}).run(nil, "go", "list", "-m", "-f", "{{.Dir}}", dir)
		if err != nil {
			t.Fatal(err)
		}
		m := module{path: dir}
		if err := m.read(strings.TrimSpace(string(lines))); err != nil || m.licence != want {
			t.Errorf("%s: %q, %v; want %q", dir, m.licence, err, want)
		}
	}
	if err := new(module).read(t.TempDir()); err == nil {
		t.Error("a module without a licence is taken")
	}
}
