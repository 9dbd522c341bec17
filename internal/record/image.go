package record

import (
	"maps"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// An Image is a picture that a record uses. It is part of the record, so that a new
// picture under an old name changes the record.
type Image struct {
	Path   string `json:"path"`   // from the root of the folder: images/logo.png
	SHA256 string `json:"sha256"` // of the served bytes, in hexadecimal
}

var imageFields = []catalog.Field{
	catalog.NewField("path", catalog.Image, catalog.Required, func(i *Image) any { return &i.Path }),
	catalog.NewField("sha256", catalog.Digest, catalog.Required, func(i *Image) any { return &i.SHA256 }),
}

// ImagesField is the last field of every record.
var ImagesField = catalog.NewList("images", 0, func(images *[]Image) *[]Image { return images }, imageFields)

// Images returns the pictures of c that the record uses, by path: those that its fields
// name, and those that its texts show or link to. It parses texts that may have some;
// the feed keeps what it returns.
func (r Record) Images(c *catalog.Catalog) []Image {
	if len(c.Pictures) == 0 {
		return nil
	}
	used := map[string]string{} // hashes by path
	paths, texts := r.mentions()
	for _, path := range paths {
		if picture, ok := c.Pictures[path]; ok {
			used[picture.Path] = picture.Hash
		}
	}
	resolver := (&markdown.Addresses{Catalog: c}).In(r.Kind.Folder)
	for _, text := range texts {
		// What has no path to images/, however it is escaped, need not be parsed.
		if !strings.Contains(text, "images") && !strings.ContainsAny(text, "%&") {
			continue
		}
		found := markdown.Check(text)
		for _, shown := range found.Pictures {
			if picture, reason := resolver.Picture(shown.Destination); reason == nil {
				used[picture.Path] = picture.Hash
			}
		}
		for _, link := range found.Links {
			if picture, reason := resolver.Picture(link.Destination); reason == nil {
				used[picture.Path] = picture.Hash
			}
		}
	}
	var images []Image
	for _, path := range slices.Sorted(maps.Keys(used)) {
		images = append(images, Image{path, used[path]})
	}
	return images
}

// mentions returns the paths of pictures that fields of the record name, and its texts in
// Markdown.
func (r Record) mentions() (paths, texts []string) {
	for i := range r.Kind.Fields {
		f := &r.Kind.Fields[i]
		if r.lacks(f) {
			continue
		}
		switch f.Form {
		case catalog.Image:
			paths = append(paths, *f.In(r.value).(*string))
		case catalog.Markdown, catalog.Body:
			texts = append(texts, *f.In(r.value).(*string))
		}
	}
	if c, ok := r.value.(*catalog.Catalog); ok {
		for i := range c.Categories {
			texts = append(texts, c.Categories[i].Description)
		}
	}
	return paths, texts
}

// SettlePictures moves the pictures that only scheduled records use from Pictures to Held, and those
// that others use back; it drops pictures that no record uses. c need not be sorted.
func SettlePictures(c *catalog.Catalog) {
	if len(c.Pictures)+len(c.Held) == 0 {
		return
	}
	all := *c
	all.Pictures = maps.Clone(c.Pictures)
	if all.Pictures == nil {
		all.Pictures = map[string]catalog.Picture{}
	}
	maps.Copy(all.Pictures, c.Held)
	c.Pictures, c.Held = map[string]catalog.Picture{}, map[string]catalog.Picture{}
	for _, kind := range catalog.Kinds {
		for i := range kind.Len(c) {
			for _, image := range Of(c, kind.At(c, i)).Images(&all) {
				c.Pictures[image.Path] = all.Pictures[image.Path]
			}
		}
	}
	for i := range c.Scheduled {
		for _, image := range Of(c, c.Scheduled[i].Record).Images(&all) {
			if _, isPublic := c.Pictures[image.Path]; !isPublic {
				c.Held[image.Path] = all.Pictures[image.Path]
			}
		}
	}
}
