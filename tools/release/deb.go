package main

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// deb writes the Debian package of a binary. Its scripts are in the folder deb.
func (r *release) deb(stage string, b binary) error {
	texts, err := os.MkdirTemp(stage, "texts")
	if err != nil {
		return err
	}
	var contents files.Contents
	add := func(source, destination, kind string, mode os.FileMode) {
		contents = append(contents, &files.Content{
			Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time},
		})
	}
	elsewhere := map[string]string{
		"LICENSE":                   "/usr/share/doc/palmares/copyright",
		"palmares.1":                "/usr/share/man/man1/palmares.1",
		"completions/palmares.bash": "/usr/share/bash-completion/completions/palmares",
		"completions/_palmares":     "/usr/share/zsh/vendor-completions/_palmares",
		"completions/palmares.fish": "/usr/share/fish/vendor_completions.d/palmares.fish",
	}
	for i, name := range slices.Sorted(maps.Keys(r.texts)) {
		source := filepath.Join(texts, strconv.Itoa(i))
		if err := os.WriteFile(source, r.texts[name], 0o644); err != nil {
			return err
		}
		add(source, cmp.Or(elsewhere[name], "/usr/share/doc/palmares/"+name), files.TypeFile, 0o644)
	}
	add("copyright", "/usr/share/doc/palmares/LICENSE", files.TypeSymlink, 0o777)
	deploy, scripts := filepath.Join(r.root, "deploy"), filepath.Join(r.root, "tools", "release", "deb")
	add(b.path, "/usr/bin/palmares", files.TypeFile, 0o755)
	for _, unit := range []string{
		"palmares.service", "palmares.socket", "palmares-backup.service", "palmares-backup.timer",
		"palmares-check.service", "palmares-check.timer", "palmares-sources.service", "palmares-sources.timer",
		"palmares-litestream.service",
	} {
		add(filepath.Join(deploy, unit), "/usr/lib/systemd/system/"+unit, files.TypeFile, 0o644)
	}
	for _, settings := range []string{"palmares.env", "litestream.yml"} {
		add(filepath.Join(deploy, settings), "/usr/share/palmares/"+settings, files.TypeFile, 0o644) // postinst copies them
	}

	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "palmares", Version: r.version, Arch: b.arch, Platform: "linux", MTime: r.time,
		Section: "web", Priority: "optional", License: "Apache-2.0",
		Maintainer: "The authors of Palmarès <palmares@catalogue.example>",
		Description: "catalogue of tested AI tools: API, website, feeds and webhooks\n" +
			"Palmarès turns a folder of Markdown into a public JSON API, a website in French,\n" +
			"data feeds and signed webhooks. It has SQLite built in, and can use PostgreSQL.",
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Depends:    []string{"passwd"},
			Recommends: []string{"ca-certificates"},
			Suggests:   []string{"litestream", "postgresql-client"},
			Contents:   contents,
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinst"),
				PreRemove:   filepath.Join(scripts, "prerm"),
				PostRemove:  filepath.Join(scripts, "postrm"),
			},
		},
	})
	var file bytes.Buffer
	if err := deb.Default.Package(info, &file); err != nil {
		return err
	}
	return r.write("_"+b.arch+".deb", file.Bytes())
}
