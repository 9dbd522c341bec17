package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// An entry is a file in an archive, or a folder if its path ends in a slash.
type entry struct {
	path    string
	content []byte
	mode    int64
	owner   int
}

// archive writes the archive of a binary: a zip file for Windows, otherwise a compressed tar.
func (r *release) archive(b binary) error {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	name, suffix, write := "palmares", ".tar.gz", writeTarGz
	if b.os == "windows" {
		name, suffix, write = "palmares.exe", ".zip", writeZip
	}
	system := "_" + b.os + "_" + b.arch
	folder := r.name(system) + "/"
	entries := []entry{
		{path: folder, mode: 0o755},
		{path: folder + "completions/", mode: 0o755},
		{path: folder + name, content: program, mode: 0o755},
	}
	for _, text := range slices.Sorted(maps.Keys(r.texts)) {
		entries = append(entries, entry{path: folder + text, content: r.texts[text], mode: 0o644})
	}
	var file bytes.Buffer
	if err := write(&file, entries, r.time); err != nil {
		return err
	}
	return r.write(system+suffix, file.Bytes())
}

// writeTarGz is writeTar with compression.
func writeTarGz(to io.Writer, entries []entry, at time.Time) error {
	compressed := gzip.NewWriter(to)
	return errors.Join(writeTar(compressed, entries, at), compressed.Close())
}

// writeTar writes an archive in which every entry has the same time.
func writeTar(to io.Writer, entries []entry, at time.Time) error {
	w := tar.NewWriter(to)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.path, Mode: e.mode, Size: int64(len(e.content)), ModTime: at,
			Uid: e.owner, Gid: e.owner, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(e.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	return w.Close()
}

// writeZip is writeTar for zip files, whose folders need no entries.
func writeZip(to io.Writer, entries []entry, at time.Time) error {
	w := zip.NewWriter(to)
	for _, e := range entries {
		if strings.HasSuffix(e.path, "/") {
			continue
		}
		header := &zip.FileHeader{Name: e.path, Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(e.mode))
		file, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.content); err != nil {
			return err
		}
	}
	return w.Close()
}
