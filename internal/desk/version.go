package desk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/french"
	"palmares/internal/publication"
	"palmares/internal/worktree"
)

// maxVersions is how many versions are shown, and can be undone.
const maxVersions = 50

// A version is a publication in a list.
type version struct{ catalogdb.Version }

// Who returns who published it; "" if nobody did, or if that is not known.
func (v version) Who() string { return cmp.Or(v.Author, v.Token) }

// Href returns the address of its page.
func (v version) Href() string { return versionsPath + "/" + strconv.FormatInt(v.Number, 10) }

// changeNames are the French words for changes of the catalogue: one, several.
var changeNames = map[string][2]string{
	catalog.ToolCreated:           {"nouvel outil", "nouveaux outils"},
	catalog.ToolUpdated:           {"outil modifié", "outils modifiés"},
	catalog.ToolRetired:           {"outil retiré", "outils retirés"},
	catalog.ToolRestored:          {"outil revenu", "outils revenus"},
	catalog.ToolRemoved:           {"outil supprimé", "outils supprimés"},
	catalog.PricingUpdated:        {"prix changé", "prix changés"},
	catalog.ComparisonPublished:   {"nouveau comparatif", "nouveaux comparatifs"},
	catalog.ComparisonUpdated:     {"comparatif modifié", "comparatifs modifiés"},
	catalog.ComparisonUnpublished: {"comparatif retiré", "comparatifs retirés"},
	catalog.ArticlePublished:      {"nouvel article", "nouveaux articles"},
	catalog.ArticleUpdated:        {"article modifié", "articles modifiés"},
	catalog.ArticleRemoved:        {"article retiré", "articles retirés"},
	catalog.ReviewUpdated:         {"avis réécrit", "avis réécrits"},
}

// Summary returns what it changed, in a few words.
func (v version) Summary() string {
	var parts []string
	for _, change := range slices.Sorted(maps.Keys(v.Changes)) {
		if names, ok := changeNames[change]; ok {
			parts = append(parts, french.Plural(v.Changes[change], names[0], names[1]))
		}
	}
	if v.Pages > 0 {
		parts = append(parts, french.Plural(v.Pages, "page", "pages"))
	}
	if v.Authors > 0 {
		parts = append(parts, french.Plural(v.Authors, "auteur", "auteurs"))
	}
	if v.Settings {
		parts = append(parts, "réglages du site")
	}
	return cmp.Or(strings.Join(parts, ", "), "des textes, ou ce qui paraîtra plus tard")
}

type versionsPage struct {
	page
	Versions []version
}

func (d *desk) listVersions(r *request) (*response, error) {
	all, err := d.versions(r)
	return render("versions", versionsPage{page: r.page("Versions"), Versions: all}), err
}

func (d *desk) versions(r *request) ([]version, error) {
	found, err := d.Catalogue.Versions(r.Context(), maxVersions)
	all := make([]version, len(found))
	for i := range found {
		all[i].Version = found[i]
		all[i].PublishedAt = found[i].PublishedAt.In(zoneOf(r.folder))
	}
	return all, err
}

// version finds the version that the path of a request names.
func (d *desk) version(r *request) (version, error) {
	all, err := d.versions(r)
	if err != nil {
		return version{}, err
	}
	i := slices.IndexFunc(all, func(v version) bool { return strconv.FormatInt(v.Number, 10) == r.PathValue("number") })
	if i < 0 {
		return version{}, noPage()
	}
	return all[i], nil
}

// maxChanges is how many changes a version may have so that they are listed.
const maxChanges = 500

// changesOf lists what a version changed, by record.
func (d *desk) changesOf(r *request, v version) (list []string, err error) {
	total := 0
	for _, n := range v.Changes {
		total += n
	}
	if total > maxChanges {
		return nil, nil
	}
	diff, _, err := d.Catalogue.Changes(r.Context(), v.Number)
	add := func(slugs []string, what string) {
		for _, slug := range slugs {
			file, _, _ := strings.Cut(slug, " (") // without the hour of what is scheduled
			list = append(list, file+"\u00a0: "+what)
		}
	}
	for _, c := range diff.Changes {
		if names, ok := changeNames[c.Type]; ok {
			add([]string{c.Slug}, names[0])
		}
	}
	add(diff.Pages.Added, "nouvelle page")
	add(diff.Pages.Changed, "page modifiée")
	add(diff.Pages.Removed, "page retirée")
	add(diff.Authors.Added, "nouvel auteur")
	add(diff.Authors.Changed, "auteur modifié")
	add(diff.Authors.Removed, "auteur retiré")
	add(diff.Scheduled.Added, "programmé")
	add(diff.Scheduled.Changed, "programmation modifiée")
	add(diff.Scheduled.Removed, "programmation annulée, ou parue")
	return list, err
}

type versionPage struct {
	page
	Version version
	Changes []string       // what it changed; none if there are very many
	Files   []revertedFile // what an undo changes
	Refused string         // why there is none
}

// A revertedFile is a file of the folder as it is now and as it would be after an undo.
type revertedFile struct {
	Name     string
	IsAdded  bool // again
	IsGone   bool
	Fields   []difference
	Passages []passage
}

// showVersion shows what a version changed, and what undoing it would change.
func (d *desk) showVersion(r *request) (*response, error) {
	v, err := d.version(r)
	if err != nil {
		return nil, err
	}
	data := versionPage{page: r.page(fmt.Sprintf("Version\u00a0%d", v.Number)), Version: v}
	data.Changes, err = d.changesOf(r, v)
	if err != nil {
		return nil, err
	}
	changes, err := d.takenBack(r, v)
	data.Refused, err = notUndone(err)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		data.Files = append(data.Files, d.reverted(c))
	}
	return render("version", data), nil
}

// takenBack returns the changes that take a version back in the folder. There is at least one.
func (d *desk) takenBack(r *request, v version) ([]worktree.Change, error) {
	changes, err := d.Folder.Undo(r.Context(), v.Number)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c worktree.Change) bool {
		now, err := d.Folder.Read(c.Path)
		return err == nil && c.Data != nil && bytes.Equal(now, c.Data) || c.Data == nil && errors.Is(err, fs.ErrNotExist)
	})
	if len(changes) == 0 {
		return nil, refused("Rien de ce que cette version a écrit n’est encore dans le dossier\u00a0: il n’y a rien à annuler.")
	}
	return changes, nil
}

// reverted returns what a change that takes something back does.
func (d *desk) reverted(c worktree.Change) revertedFile {
	f := revertedFile{Name: recordName(c.Path), IsAdded: c.Base == "", IsGone: c.Data == nil}
	if strings.HasPrefix(c.Path, "images/") {
		f.Name = c.Path
		return f
	}
	now, err := d.Folder.Read(c.Path)
	if err != nil || f.IsGone {
		return f
	}
	old, err := content.OpenDocument(c.Path, now)
	if err != nil {
		return f
	}
	if next, err := content.OpenDocument(c.Path, c.Data); err == nil {
		f.Name, f.Fields, f.Passages = name(next, c.Path), differences(old, next), passages(old.Body(), next.Body())
	}
	return f
}

// notUndone says why a version cannot be undone. Other errors are returned.
func notUndone(err error) (string, error) {
	conflict, isConflict := errors.AsType[*worktree.ConflictError](err)
	failed, isFailed := errors.AsType[*worktree.Error](err)
	stale, isStale := errors.AsType[*worktree.StaleError](err)
	nothing, isNothing := errors.AsType[*failure](err)
	_, isKept := errors.AsType[*publication.RefusedError](err)
	_, isRefused := errors.AsType[*worktree.RefusedError](err)
	switch {
	case isNothing:
		return nothing.text, nil
	case isConflict:
		return "Ce que cette version a écrit a changé depuis (" + strings.Join(conflict.Paths, ", ") +
			")\u00a0: corrigez plutôt la fiche elle-même, ou annulez d’abord ce qui a suivi.", nil
	case isStale:
		return stale.Error(), nil
	case isFailed:
		return failed.Error(), nil
	case isKept || isRefused:
		return "Cette version ne peut pas être annulée\u00a0: elle est la première, trop ancienne, ou ce qui a été écrit depuis a besoin d’elle.", nil
	}
	return "", err
}

// undo takes a version back, on the site and in the folder, so that the next publication does not
// bring it back.
func (d *desk) undo(r *request) (*response, error) {
	v, err := d.version(r)
	if err != nil {
		return nil, err
	}
	changes, err := d.takenBack(r, v)
	if err == nil {
		_, err = d.Folder.Publish(r.Context(), worktree.Publication{
			Undoes: v.Number, Changes: changes, AuthorName: r.Name, AuthorEmail: r.Email, AllowRemovals: true,
			Message: fmt.Sprintf("Annule la version %d", v.Number),
		})
		d.reading.forget()
	}
	text, err := notUndone(err)
	if err != nil {
		return nil, err
	}
	if text != "" {
		return nil, refused(text)
	}
	return seeOther(versionsPath, "annulee"), nil
}
