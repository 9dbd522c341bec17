package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A module is a part of the binaries or of the image that somebody else wrote.
type module struct {
	path, version string
	licence       string // an SPDX expression
	texts         []byte // of the licences
}

// roots is the module of the certificates in the image.
const roots = "golang.org/x/crypto/x509roots/fallback"

// modules returns what the binaries and the image contain, in order.
func (r *release) modules(binaries []binary) ([]module, error) {
	dirs, used := map[string]string{}, map[string]bool{}
	for in, names := range map[string]string{".": "all", "tools/release": roots} {
		lines, err := r.run(nil, "go", "list", "-C", in, "-m", "-f", "{{.Path}}@{{.Version}} {{.Dir}}", names)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(lines)) {
			name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			dirs[name] = dir
			used[name] = strings.HasPrefix(name, roots+"@")
		}
	}
	for _, b := range binaries {
		info, err := buildinfo.ReadFile(b.path)
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			used[m.Path+"@"+m.Version] = true
		}
	}
	root, err := r.run(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	std := "std@" + strings.TrimPrefix(runtime.Version(), "go")
	dirs[std], used[std] = strings.TrimSpace(string(root)), true
	var found []module
	for name, contained := range used {
		if !contained {
			continue
		}
		var m module
		m.path, m.version, _ = strings.Cut(name, "@")
		if err := m.read(dirs[name]); err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	slices.SortFunc(found, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return found, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|unlicense)`)

// read reads the licences of a module in its folder.
func (m *module) read(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("module %s@%s: %w", m.path, m.version, err)
	}
	var text, own bytes.Buffer
	for _, file := range files {
		if file.IsDir() || !licenceFile.MatchString(file.Name()) || strings.HasSuffix(file.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return err
		}
		content = append(bytes.TrimSpace(bytes.ReplaceAll(content, []byte("\r"), nil)), "\n\n"...)
		text.Write(content)
		if !strings.Contains(file.Name(), "3RD-PARTY") { // which has what only its tests use, too
			own.Write(content)
		}
	}
	m.texts, m.licence = text.Bytes(), licenceOf(own.String())
	if m.licence == "" {
		return fmt.Errorf("module %s@%s: no licence is known in %s; see licenceOf", m.path, m.version, dir)
	}
	return nil
}

// licenceOf returns the SPDX expression of a text with licences, "" if it has none that is known.
func licenceOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	text = strings.ReplaceAll(text, "license, version", "license version")
	var found []string
	for _, rule := range []struct{ licence, sentence string }{
		{"Apache-2.0", "apache license version 2.0"},
		{"blessing", "sqlite is public domain"}, // its name in SPDX
		{"BSD", "redistribution and use in source and binary forms"},
		{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
		{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"MPL-2.0", "mozilla public license version 2.0"},
		{"Unlicense", "this is free and unencumbered software"},
	} {
		switch {
		case !strings.Contains(text, rule.sentence):
		case rule.licence != "BSD":
			found = append(found, rule.licence)
		case strings.Contains(text, "endorse or promote"):
			found = append(found, "BSD-3-Clause")
		default:
			found = append(found, "BSD-2-Clause")
		}
	}
	return strings.Join(found, " AND ")
}

// notices returns the licences of all modules as one text.
func notices(modules []module) []byte {
	var text bytes.Buffer
	text.WriteString("Palmarès contains these modules, under the licences below.\n")
	for _, m := range modules {
		fmt.Fprintf(&text, "\n%s\n%s %s (%s)\n\n%s", strings.Repeat("=", 80), m.path, m.version, m.licence, m.texts)
	}
	return text.Bytes()
}

type object = map[string]any

// bill returns the list of modules and licences, in SPDX 2.3.
func (r *release) bill(modules []module) ([]byte, error) {
	packages := []object{{
		"SPDXID": "SPDXRef-palmares", "name": "palmares", "versionInfo": r.version, "filesAnalyzed": false,
		"downloadLocation": "NOASSERTION", "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
		"copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION", "sourceInfo": "commit " + r.commit,
	}}
	relations := []object{{
		"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-palmares",
	}}
	for _, m := range modules {
		id := "SPDXRef-" + regexp.MustCompile(`[^a-zA-Z0-9.]+`).ReplaceAllString(m.path, "-")
		packages = append(packages, object{
			"SPDXID": id, "name": m.path, "versionInfo": m.version, "filesAnalyzed": false,
			"downloadLocation": "NOASSERTION", "licenseConcluded": m.licence, "licenseDeclared": m.licence,
			"copyrightText": "NOASSERTION",
			"externalRefs": []object{{
				"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
				"referenceLocator": "pkg:golang/" + strings.ToLower(m.path) + "@" + m.version,
			}},
		})
		relations = append(relations, object{
			"spdxElementId": "SPDXRef-palmares", "relationshipType": "CONTAINS", "relatedSpdxElement": id,
		})
	}
	written, err := json.MarshalIndent(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name":              "palmares-" + r.version,
		"documentNamespace": "https://spdx.org/spdxdocs/palmares-" + r.version + "-" + r.commit,
		"creationInfo": object{
			"created": r.time.Format(time.RFC3339), "creators": []string{"Tool: palmares-release-" + r.version},
		},
		"packages": packages, "relationships": relations,
	}, "", "  ")
	return append(written, '\n'), err
}
