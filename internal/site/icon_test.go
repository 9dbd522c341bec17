package site_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"palmares/internal/site"
	"palmares/internal/snapshot"
)

var iconPaths = map[string]string{
	"/favicon.ico": "image/vnd.microsoft.icon", "/apple-touch-icon.png": "image/png",
}

// grey returns the file of a picture.
func grey(t *testing.T) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestIconsShowTheLogo(t *testing.T) {
	v, from := openMagazine(t, magazine())
	from.files[hashOf("a")] = grey(t)
	palm := open(t, small())
	for path, kind := range iconPaths {
		from.reads.Store(0)
		r := v.get(path, "Accept-Encoding: gzip, br").ok().is("Content-Type", kind).is("Content-Encoding", "").
			is("Cache-Control", "public, max-age=0, s-maxage=300, must-revalidate")
		v.get(path, "If-None-Match: "+r.header.Get("ETag")).answers(304)
		v.do("POST", path).answers(405)
		if again := v.get(path).ok(); again.body != r.body || from.reads.Load() != 1 {
			t.Errorf("%s is drawn %d times", path, from.reads.Load())
		}
		other := palm.get(path).ok().is("Content-Type", kind)
		if other.body == r.body || other.header.Get("ETag") == r.header.Get("ETag") {
			t.Errorf("%s is the same with and without a logo", path)
		}
	}
	img, err := png.DecodeConfig(strings.NewReader(v.get("/apple-touch-icon.png").body))
	if err != nil || img.Width != 180 || img.Height != 180 {
		t.Errorf("%+v, %v", img, err)
	}
}

func TestAnIconIsUnavailableWhileItsLogoIs(t *testing.T) {
	v, from := openMagazine(t, magazine())
	from.fails.Store(true)
	if after := v.get("/favicon.ico").answers(503).header.Get("Retry-After"); after == "" {
		t.Error("without Retry-After")
	}
}

func TestSecurityTxtNamesTheContact(t *testing.T) {
	now := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	v := listen(t, site.Config{
		BaseURL: "https://copie.example/", Demo: func(*snapshot.Snapshot) bool { return false }, Now: func() time.Time { return now },
	})
	const path = "/.well-known/security.txt"
	show := func(contact string) *reply {
		c := small()
		c.Settings.Contact = contact
		v.publish(c, 1)
		return v.get(path)
	}
	const rest = "\nExpires: 2027-05-16T00:00:00Z\nPreferred-Languages: fr\nCanonical: https://copie.example/.well-known/security.txt\n"
	for contact, want := range map[string]string{
		"redaction@essai.example": "mailto:redaction@essai.example", "à+b%@essai.example": "mailto:%C3%A0+b%25@essai.example",
		"https://essai.example/ecrire": "https://essai.example/ecrire",
	} {
		r := show(contact).ok().is("Content-Type", "text/plain; charset=utf-8")
		if r.body != "Contact: "+want+rest {
			t.Errorf("%s: %s", contact, r.body)
		}
	}
	first := v.get(path).body
	now = now.Add(14 * time.Hour)
	if later := v.get(path).body; later != first {
		t.Errorf("on the same day: %s", later)
	}
	now = now.Add(2 * time.Hour)
	v.get(path).ok().says("Expires: 2027-05-17T00:00:00Z\n")
	for _, contact := range []string{"", "http://essai.example/ecrire"} { // addresses have to begin with https
		show(contact).answers(404)
	}
	openDemo(t).get(path).ok().says("Contact: mailto:redaction@palmares.example\n").saysNot("Canonical")
}
