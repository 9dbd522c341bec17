package catalogdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
)

// files are the bytes of pictures by hash.
type files map[string]string

func (f files) Read(_ context.Context, hash string) ([]byte, error) {
	content, ok := f[hash]
	if !ok {
		return nil, errors.New("no such file")
	}
	return []byte(content), nil
}

func picture(path, hash string, variants ...catalog.Variant) catalog.Picture {
	return catalog.Picture{Path: path, Source: "source-" + hash, Hash: hash, Ext: "png", Width: 640, Height: 480, Variants: variants}
}

func withPictures(pictures ...catalog.Picture) *catalog.Catalog {
	c := catalogue(tool("a", "1 €/mois"))
	for _, p := range pictures {
		if c.Pictures == nil {
			c.Pictures = map[string]catalog.Picture{}
		}
		c.Pictures[p.Path] = p
	}
	return c
}

func TestPicturesAreStoredOnceAndRemovedFiftyVersionsAfterTheyLeft(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		small := catalog.Variant{Name: "small", Ext: "jpg", Width: 320, Height: 240}
		first := withPictures(picture("images/a.png", "one", small), picture("images/b.png", "one", small), picture("images/c.png", "two"))
		publishWith := func(c *catalog.Catalog, n int, f PictureSource) Publication {
			t.Helper()
			p, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(n)), Pictures: f})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		publishWith(first, 0, files{"one": "1\x00\xff", "two": "2", "small": "s"})
		same(t, first, loaded(t, s).Catalog)
		for hash, want := range map[string]string{"one": "1\x00\xff", "two": "2", "small": "s"} {
			if got, err := s.Pictures.Read(t.Context(), hash); err != nil || string(got) != want {
				t.Errorf("%s: %q, %v", hash, got, err)
			}
		}

		if p := publishWith(withPictures(picture("images/a.png", "one", small), picture("images/b.png", "one", small), picture("images/c.png", "two")), 1, nil); !p.Diff.Empty() {
			t.Errorf("the same pictures are a change: %+v", p.Diff)
		}
		has := func(want string) {
			t.Helper()
			got := ""
			for _, hash := range []string{"one", "two", "small"} {
				_, err := s.Pictures.Read(t.Context(), hash)
				if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
					t.Fatal(err)
				}
				if err == nil {
					got += hash + " "
				}
			}
			if strings.TrimSpace(got) != want {
				t.Errorf("stored: %s; want %s", got, want)
			}
		}
		without := func(n int) *catalog.Catalog {
			c := withPictures(picture("images/a.png", "one"))
			c.Settings.Headline = fmt.Sprint(n)
			return c
		}
		for n := 2; n <= 51; n++ { // the others left in version 2
			publishWith(without(n), n, nil)
		}
		has("one two small")
		publishWith(without(52), 52, nil)
		has("one")
	})
}

func TestAPictureThatReturnsInTimeIsKept(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		steps := []*catalog.Catalog{withPictures(picture("images/a.png", "one")), withPictures(), withPictures(picture("images/z.png", "one"))}
		for i := range 2 {
			c := withPictures(picture("images/z.png", "one"))
			c.Settings.Headline = fmt.Sprint(i)
			steps = append(steps, c)
		}
		for i, c := range steps {
			if _, err := s.Catalogue.Publish(t.Context(), c, PublishOptions{Now: at(day(i)), Pictures: files{"one": "1"}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Pictures.Read(t.Context(), "one"); err != nil {
			t.Error(err)
		}
	})
}

func TestAPublicationWithoutTheBytesOfItsPicturesChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for _, source := range []PictureSource{nil, files{}} {
			_, err := s.Catalogue.Publish(t.Context(), withPictures(picture("images/a.png", "one")), PublishOptions{Now: at(monday), Pictures: source})
			if err == nil || !strings.Contains(err.Error(), "publish again") {
				t.Errorf("Publish = %v", err)
			}
		}
		if v := loaded(t, s).Version; v != 0 {
			t.Errorf("version %d", v)
		}
	})
}

func TestAPublishedPictureIsKnownByItsFileAndByItsExport(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		if _, err := s.Catalogue.Publish(t.Context(), withPictures(picture("images/a.png", "one")), PublishOptions{Now: at(monday), Pictures: files{"one": "1"}}); err != nil {
			t.Fatal(err)
		}
		known, err := s.Pictures.Known(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for source, want := range map[string]bool{"source-one": true, "one": true, "two": false} {
			if p, ok := known(source); ok != want || ok && p.Hash != "one" {
				t.Errorf("%s: %v, %v", source, p, ok)
			}
		}
	})
}
