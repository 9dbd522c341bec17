package main

import (
	"bytes"
	"os"
	"path/filepath"

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
	for name, destination := range map[string]string{
		"LICENSE":                   "/usr/share/doc/palmares/copyright",
		"THIRD-PARTY-LICENSES":      "/usr/share/doc/palmares/THIRD-PARTY-LICENSES",
		"README.md":                 "/usr/share/doc/palmares/README.md",
		"completions/palmares.bash": "/usr/share/bash-completion/completions/palmares",
		"completions/_palmares":     "/usr/share/zsh/vendor-completions/_palmares",
		"completions/palmares.fish": "/usr/share/fish/vendor_completions.d/palmares.fish",
	} {
		source := filepath.Join(texts, filepath.Base(name))
		if err := os.WriteFile(source, r.texts[name], 0o644); err != nil {
			return err
		}
		add(source, destination, files.TypeFile, 0o644)
	}
	deploy, scripts := filepath.Join(r.root, "deploy"), filepath.Join(r.root, "tools", "release", "deb")
	add(b.path, "/usr/bin/palmares", files.TypeFile, 0o755)
	for _, unit := range []string{
		"palmares.service", "palmares.socket", "palmares-backup.service", "palmares-backup.timer",
		"palmares-sources.service", "palmares-sources.timer", "palmares-litestream.service",
	} {
		add(filepath.Join(deploy, unit), "/usr/lib/systemd/system/"+unit, files.TypeFile, 0o644)
	}
	for _, settings := range []string{"palmares.env", "litestream.yml"} {
		add(filepath.Join(deploy, settings), "/etc/palmares/"+settings, files.TypeConfig, 0o640)
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
			Suggests:   []string{"litestream"},
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
