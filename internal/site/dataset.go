package site

import (
	"cmp"
	"maps"
	"strconv"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/french"
)

const datasetPath = "/donnees"

// datasetPage is /donnees: what can be downloaded, and how to begin.
type datasetPage struct {
	Version   int64
	Published string // day
	Heads     bool   // the publisher keeps the texts
	Written   bool   // the files have sizes and addresses
	Files     []datasetFile
	Confirmed []confirmedRow // how many prices are confirmed; nil if nobody has looked
	Day       string         // of those figures
}

type datasetFile struct {
	Name, About string
	NeedsKey    bool
	Path        string // "" until it is written
	Rows, Size  string
}

// fileTexts say what the files are, beside those of kinds.
var fileTexts = map[string]string{
	"chunks.ndjson.zst":   "les avis des premiers outils, découpés en segments pour la recherche augmentée",
	"chunks.ndjson.gz":    "les mêmes segments, compressés par gzip, que lit la bibliothèque standard de Python",
	"outils.csv":          "les outils en tableau, pour un tableur",
	"prix.csv":            "les prix et leurs changements, en tableau",
	"preuves.csv":         "ce qui a été vu des prix, en tableau",
	"palmares.sqlite.zst": "le tout en base SQLite, avec les historiques et un index plein texte",
}

// dataset shows what is offered in bulk. Sizes are those of files that are written
// already: a page has none written.
func (s *Site) dataset(r *request) (*response, error) {
	if !r.snap.Catalog.HasDataset() {
		return nil, noDataset()
	}
	c := r.snap.Catalog
	data := datasetPage{
		Version: r.snap.Version, Heads: c.Settings.Dataset == catalog.DatasetHead, Confirmed: r.confirmed(), Day: r.snap.UpdatedAt,
	}
	var x *dataset.Export
	if s.cfg.Exports != nil && r.snap.Feed != nil {
		x = s.cfg.Exports.Written(r.snap)
	}
	if len(r.snap.PublishedAt) >= len("2026-11-16") {
		data.Published = r.snap.PublishedAt[:len("2026-11-16")]
	}
	about := maps.Clone(fileTexts)
	for _, k := range catalog.Kinds {
		about[dataset.FileOf(k)] = k.About
	}
	for _, name := range dataset.Files {
		f := datasetFile{Name: name, About: about[name], NeedsKey: dataset.NeedsKey(name)}
		if data.Heads && f.NeedsKey {
			continue
		}
		if x != nil {
			file := x.File(name)
			data.Written, f.Path = true, file.Path
			f.Rows, f.Size = french.Plural(int(file.Rows), "ligne", "lignes"), french.Bytes(file.Bytes)
		}
		data.Files = append(data.Files, f)
	}
	p := s.page(r, "Données", "Tout le catalogue en fichiers, JSON, CSV et SQLite, et le flux de ses changements.", datasetPath)
	p.JSONLD = p.jsonldDataset(data.Published, x)
	a := render(r, "dataset", p, data)
	a.passing = x == nil
	return a, nil
}

func noDataset() error {
	return notFound("Ce catalogue n’est pas proposé en bloc\u202f; l’API le donne page par page.")
}

// jsonldDataset describes the catalogue as data, for search engines of datasets: the files, or the manifest until they
// are written.
func (p *page) jsonldDataset(published string, x *dataset.Export) object {
	c := p.Catalog
	_, licence := c.Terms()
	files := []object{{
		"@type", "DataDownload", "name", "manifeste", "contentUrl", p.Base + dataset.Path, "encodingFormat", "application/json",
	}}
	if x != nil {
		for i := range x.Files {
			if f := &x.Files[i]; !dataset.NeedsKey(f.Name()) {
				files = append(files, object{
					"@type", "DataDownload", "name", f.Name(), "contentUrl", p.Base + f.Path,
					"encodingFormat", f.Type, "contentSize", strconv.FormatInt(f.Bytes, 10) + " B",
					"sha256", f.SHA256,
				})
			}
		}
	}
	return inContext(object{
		"@type", "Dataset", "name", c.Name,
		"description", cmp.Or(c.Settings.Description, "Un catalogue d’outils testés") + " Outils, notes, prix et leur historique, " +
			"comparatifs et outils retirés, en JSON, CSV et SQLite.",
		"url", p.Canonical, "license", licence, "creator", p.organization(), "creditText", c.CreditLine(),
		"version", strconv.FormatInt(p.snap.Version, 10), "dateModified", published, "inLanguage", "fr",
		"isAccessibleForFree", true, "distribution", files,
	})
}
