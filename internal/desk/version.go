package desk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/chronicle"
	"palmares/internal/content/document"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/worktree"
)

// maxVersions is how many versions are shown, and can be undone.
const maxVersions = 50

// A version is a publication in a list.
type version struct {
	catalogdb.Version
	Records []string // what it changed
}

// Who returns who published it; "" if nobody did, or if that is not known.
func (v version) Who() string { return cmp.Or(v.Author, v.Token) }

// Href returns the address of its page.
func (v version) Href() string { return versionsPath + "/" + strconv.FormatInt(v.Number, 10) }

// Summary returns what it changed, in a few words.
func (v version) Summary() string {
	switch n := len(v.Records); {
	case v.Number == 1:
		return "première publication"
	case n == 0:
		return "des données qui ne se voient pas"
	case n > maxNamed:
		return strings.Join(v.Records[:maxNamed], listed) + listed + andMore
	}
	return strings.Join(v.Records, listed)
}

const (
	listed   = "\u202f; "
	andMore  = "et d’autres changements"
	maxNamed = 4 // how many changes the list of versions names
)

type versionsPage struct {
	page
	Versions []version
}

func (d *publications) listVersions(r *request) (*response, error) {
	all, err := d.versions(r)
	if err == nil {
		err = d.describe(r, all)
	}
	return render("versions", versionsPage{page: r.page("Versions"), Versions: all}), err
}

func (d *publications) versions(r *request) ([]version, error) {
	found, err := d.Catalogue.Versions(r.Context(), maxVersions)
	all := make([]version, len(found))
	for i := range found {
		all[i].Version = found[i]
		all[i].PublishedAt = found[i].PublishedAt.In(zoneOf(r.folder))
	}
	return all, err
}

// describe adds what versions changed.
func (d *publications) describe(r *request, all []version) (err error) {
	names := map[string]string{"images/": "Images", catalog.ProofFile: "Preuves des prix"} // by file without suffix
	for _, x := range d.rows(r.folder, r.Now) {
		names[x.Kind.Folder+"/"+x.Slug] = x.Name
	}
	for i := range all {
		if err == nil {
			all[i].Records, err = d.changesOf(r, all[i], names)
		}
	}
	return err
}

// version finds the version that the path of a request names.
func (d *publications) version(r *request) (version, error) {
	all, err := d.versions(r)
	if err != nil {
		return version{}, err
	}
	i := slices.IndexFunc(all, func(v version) bool { return strconv.FormatInt(v.Number, 10) == r.PathValue("number") })
	if i < 0 {
		return version{}, errNoPage
	}
	err = d.describe(r, all[i:i+1])
	return all[i], err
}

// maxChanges is how many changes of a version are listed.
const maxChanges = 500

// changesOf lists what a version changed, given the names of records by file: what readers are told, and the records
// that this says nothing of.
func (d *publications) changesOf(r *request, v version, names map[string]string) (list []string, err error) {
	diff, err := d.Catalogue.Changes(r.Context(), v.Number)
	isTold := map[string]bool{}
	for i := range diff.Entries {
		e := &diff.Entries[i]
		isTold[catalog.KindNamed(e.Kind).Folder+"/"+e.Slug] = true
		if e.Kind == catalog.ToolKind.Name {
			isTold[catalog.RetiredKind.Folder+"/"+e.Slug] = true
		}
		list = append(list, chronicle.Title(e, problem.French))
	}
	for _, c := range publication.Records(&diff) {
		file, _, _ := strings.Cut(c.Record, " (") // without the hour of what is scheduled
		if !isTold[file] || c.Change == "scheduled" {
			isTold[file] = true
			what := cmp.Or(labels(&c), changeNames[c.Change])
			list = append(list, cmp.Or(names[file], recordName(file))+"\u00a0: "+what)
		}
	}
	if len(list) > maxChanges {
		list = append(list[:maxChanges], andMore)
	}
	return list, err
}

// changeNames are the French words for what happens to records.
var changeNames = map[string]string{
	"added": "ajout", "changed": "modification", "restored": "retour", "retired": "retrait", "removed": "suppression",
	"scheduled": "programmé", "cancelled": "programmation annulée, ou parue",
}

// labels returns the names of the fields that changed in a record, if they are few; "" otherwise.
func labels(c *publication.RecordChange) string {
	k := catalog.KindIn(path.Dir(c.Record))
	if k == nil || len(c.Parts) > maxNamed {
		return ""
	}
	var list []string
	for _, g := range document.Form(k) {
		for _, f := range g.Fields {
			if slices.ContainsFunc(c.Parts, func(p catalog.Part) bool { return p.Field == f.Name }) {
				list = append(list, strings.ToLower(f.Label))
			}
		}
	}
	return strings.Join(list, ", ")
}

type versionPage struct {
	page
	Version version
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
func (d *publications) showVersion(r *request) (*response, error) {
	v, err := d.version(r)
	if err != nil {
		return nil, err
	}
	data := versionPage{page: r.page(fmt.Sprintf("Version\u00a0%d", v.Number)), Version: v}
	changes, err := d.takenBack(r, v)
	data.Refused, err = notUndone(err)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		data.Files = append(data.Files, d.reverted(r.folder.Catalog, c))
	}
	return render("version", data), nil
}

// takenBack returns the changes that take a version back in the folder. There is at least one.
func (d *publications) takenBack(r *request, v version) ([]worktree.Change, error) {
	changes, err := d.Folder.Undo(r.Context(), v.Number)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c worktree.Change) bool {
		now, err := d.Folder.Read(c.Path)
		return err == nil && c.Data != nil && bytes.Equal(now, c.Data) || c.Data == nil && errors.Is(err, fs.ErrNotExist)
	})
	if err := d.moveBack(changes); err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, refused("Tout ce que cette version avait changé a été récrit depuis\u00a0: il n’y a plus rien à annuler.")
	}
	return changes, nil
}

// moveBack writes the addresses that records lose with changes into their files, as catalog.MoveBack does on the
// site: they have been public.
func (d *publications) moveBack(changes []worktree.Change) error {
	for _, gone := range changes {
		if gone.Data != nil {
			continue
		}
		data, err := d.Folder.Read(gone.Path)
		if err != nil {
			return err
		}
		was, err := document.Open(gone.Path, data)
		for i, c := range changes {
			if err != nil || c.Base != "" || path.Dir(c.Path) != path.Dir(gone.Path) {
				continue
			}
			slug := strings.TrimSuffix(path.Base(strings.Replace(c.Path, nextSuffix, ".md", 1)), ".md")
			if !slices.Contains(was.Value("aliases").Items, slug) {
				continue
			}
			doc, err := document.Open(gone.Path, c.Data)
			if err == nil {
				doc, err = doc.Rename(slug)
			}
			if err != nil {
				return refused(sentence(err))
			}
			changes[i].Data = doc.Bytes()
		}
	}
	return nil
}

// reverted returns what a change that takes something back does.
func (d *publications) reverted(known *catalog.Catalog, c worktree.Change) revertedFile {
	f := revertedFile{Name: recordName(c.Path), IsAdded: c.Base == "", IsGone: c.Data == nil}
	if k := catalog.KindIn(path.Dir(c.Path)); k != nil {
		f.Name = k.Label + "\u00a0: " + f.Name
	}
	if strings.HasPrefix(c.Path, "images/") {
		f.Name = c.Path
		return f
	}
	now, err := d.Folder.Read(c.Path)
	if err != nil || f.IsGone {
		return f
	}
	old, err := document.Open(c.Path, now)
	if err != nil {
		return f
	}
	if next, err := document.Open(c.Path, c.Data); err == nil {
		f.Name, f.Fields, f.Passages = name(next, c.Path), differences(known, old, next), passages(old.Body(), next.Body())
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
		return nothing.Text, nil
	case isConflict:
		var names []string
		for _, file := range conflict.Paths {
			names = append(names, NameOf(file, conflict.Files[file]))
		}
		return "Ce que cette version a écrit a changé depuis (" + strings.Join(names, ", ") +
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
func (d *publications) undo(r *request) (*response, error) {
	v, err := d.version(r)
	if err != nil {
		return nil, err
	}
	changes, err := d.takenBack(r, v)
	if err == nil {
		err = d.Folder.Publish(r.Context(), worktree.Publication{
			Undoes: v.Number, Changes: changes, AuthorName: r.Name, AuthorEmail: r.Email, AllowRemovals: true,
			Message: fmt.Sprintf("Annule la version %d (%s)", v.Number, v.Summary()),
		})
		d.Editions.Forget("")
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
