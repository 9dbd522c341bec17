package desk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"palmares/internal/catalog"
	"palmares/internal/deskdb"
	"palmares/internal/picture"
	"palmares/internal/sqldb"
)

// maxAlt is how many characters a description of a picture may have.
const maxAlt = 300

// addPicture adds a picture to a working copy. Our script puts it where she writes; without it, it is
// added to the end of the text, which came with it and is saved whatever becomes of the picture.
func (d *copies) addPicture(r *request, c *draft) (*response, error) {
	if r.PostForm.Has("revision") {
		if a, err := d.keep(r, c); a != nil || err != nil {
			return a, err
		}
	}
	if place := r.PostFormValue("retirer"); place != "" {
		return d.removePicture(r, c, place)
	}
	alt := strings.Join(strings.Fields(r.PostFormValue("alt")), " ")
	if alt == "" {
		return nil, refused("Dites en quelques mots ce que l’image montre, pour qui ne la voit pas.")
	}
	if utf8.RuneCountInString(alt) > maxAlt {
		return nil, refused("Dites plus brièvement ce que l’image montre\u00a0: 300\u00a0caractères au plus.")
	}
	file, header, err := r.FormFile("image")
	if err != nil {
		return nil, refused("Choisissez une image.")
	}
	defer file.Close()
	data, err := io.ReadAll(file) // bounded by readForm
	if err != nil {
		return nil, err
	}
	d.inspecting.Lock() // one at a time: its pixels take much more than its bytes
	checked, _, err := picture.Inspect(header.Filename, data)
	d.inspecting.Unlock()
	if err != nil {
		return nil, refused(sentence(err))
	}
	place, err := d.freePicture(r.Context(), c, slugOf(strings.TrimSuffix(header.Filename, path.Ext(header.Filename))), checked.Ext)
	if err != nil {
		return nil, err
	}
	err = d.Copies.PutFile(r.Context(), c.ID, deskdb.CopyFile{Path: place, Data: data})
	d.Editions.Forget(c.ID)
	if errors.Is(err, sqldb.ErrTooMany) {
		return nil, refused("Cette copie a déjà 20\u00a0images, ou 64\u00a0Mo d’images, le plus qu’elle puisse en avoir.")
	}
	if err != nil {
		return nil, err
	}
	text := "![" + bracketed.Replace(alt) + "](../" + place + ")"
	if r.isScript() || c.doc == nil || c.doc.Kind() == catalog.CatalogueKind {
		return writeJSON(http.StatusOK, map[string]string{"markdown": text, "path": place}), nil
	}
	if err := c.doc.SetBody(strings.TrimLeft(c.doc.Body()+blankLine+text, "\n")); err != nil {
		return nil, refused(sentence(err))
	}
	if _, err := d.Copies.Save(r.Context(), c.ID, c.Revision, c.doc.Bytes(), r.Now); err != nil {
		return nil, err
	}
	return seeOther(c.Href(), "image"), nil
}

// removePicture takes a picture out of a working copy, and out of its text where it stands alone.
func (d *copies) removePicture(r *request, c *draft, place string) (*response, error) {
	all, err := d.Copies.Paths(r.Context(), c.ID)
	if err == nil && slices.Contains(all, place) {
		err = d.Copies.RemoveFile(r.Context(), c.ID, place)
	}
	if err != nil {
		return nil, err
	}
	d.Editions.Forget(c.ID)
	if c.doc != nil {
		isShown := func(paragraph string) bool {
			return strings.HasPrefix(paragraph, "![") && strings.HasSuffix(paragraph, "](../"+place+")")
		}
		if err := c.doc.SetBody(strings.Join(slices.DeleteFunc(paragraphs(c.doc.Body()), isShown), blankLine)); err != nil {
			return nil, refused(sentence(err))
		}
		if _, err := d.Copies.Save(r.Context(), c.ID, c.Revision, c.doc.Bytes(), r.Now); err != nil {
			return nil, err
		}
	}
	return seeOther(c.Href(), "retiree"), nil
}

var bracketed = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)

// freePicture returns a path under images/ that neither the folder nor the copy has.
func (d *copies) freePicture(ctx context.Context, c *draft, stem, ext string) (string, error) {
	if stem == "" {
		stem = "image"
	}
	folder := "images/" + strings.TrimSuffix(strings.TrimSuffix(path.Base(c.Path), ".md"), ".next") + "/"
	own, err := d.Copies.Paths(ctx, c.ID)
	if err != nil {
		return "", err
	}
	all := d.Folder.With(nil)
	for i := 1; i < 1000; i++ {
		place := folder + stem + "." + ext
		if i > 1 {
			place = folder + stem + "-" + strconv.Itoa(i) + "." + ext
		}
		if _, err := fs.Stat(all, place); errors.Is(err, fs.ErrNotExist) && !slices.Contains(own, place) {
			return place, nil
		}
	}
	return "", refused("Il y a déjà beaucoup d’images de ce nom\u00a0: changez celui du fichier.")
}

type picturesPage struct {
	page
	Unused  []string
	Without []row // records with a picture that has no alternative text
	Used    int
}

// listPictures shows what to tidy among the pictures.
func (d *records) listPictures(r *request) (*response, error) {
	data := picturesPage{page: r.page("Images")}
	without := map[string]bool{}
	for _, w := range r.folder.Warnings {
		switch {
		case strings.HasPrefix(w.File, "images/") && w.Text.Code == "picture-unused":
			data.Unused = append(data.Unused, w.File)
		case w.Text.Code == "picture-without-alt":
			without[w.File] = true
		}
	}
	if r.folder.Catalog != nil {
		data.Used = len(r.folder.Catalog.Pictures)
	}
	for _, x := range d.rows(r.folder, r.Now) {
		if without[x.File()] {
			data.Without = append(data.Without, x)
		}
	}
	return render("pictures", data), nil
}
