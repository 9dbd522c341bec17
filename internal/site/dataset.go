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
	Page      page
	Base      string // where the files are
	Credit    string
	Training  bool // models may be trained
	Version   int64
	Published string // day
	Heads     bool   // the publisher keeps the texts
	Written   bool   // the files have sizes and addresses
	Files     []datasetFile
	Commands  []command
	Confirmed []confirmedRow // how many prices are confirmed; nil if nobody has looked
	Day       string         // of those figures
}

// A command is an example to copy into a terminal.
type command struct{ ID, Text, Code string }

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
		Page: s.page(r, "Données", "Tout le catalogue en fichiers, JSON, CSV et SQLite, et le flux de ses changements.", datasetPath),
		Base: s.baseURL(r), Credit: c.CreditLine(), Training: !c.DeniesTraining(), Version: r.snap.Version, Heads: c.Settings.Dataset == catalog.DatasetHead,
	}
	var x *dataset.Export
	if s.cfg.Exports != nil && r.snap.Feed != nil {
		x = s.cfg.Exports.Written(r.snap)
	}
	data.Commands = r.datasetCommands(data.Base)
	data.Confirmed, data.Day = r.confirmed(), r.snap.UpdatedAt
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
	data.Page.JSONLD = r.jsonldDataset(&data, x)
	a := render(r, "dataset", data.Page, data)
	a.passing = x == nil
	return a, nil
}

func noDataset() error {
	return notFound("Ce catalogue n’est pas proposé en bloc\u202f; l’API le donne page par page.")
}

// datasetCommands are the three commands to begin with.
func (v *view) datasetCommands(base string) []command {
	follow := "/data/v1/changes"
	if feed := v.snap.Feed; feed != nil {
		follow += "?after=" + strconv.FormatInt(feed.Last, 10) + "&feed=" + feed.ID
	}
	return []command{
		{
			"commande.telecharger",
			"Télécharger la base SQLite de la version servie\u202f; les autres fichiers ont la même adresse, " +
				"à leur nom près\u00a0:",
			"curl -sLO " + base + dataset.Path + "/latest/palmares.sqlite.zst",
		},
		{
			"commande.interroger",
			"La décompresser et l’interroger\u202f; avec DuckDB, les fichiers CSV et JSON se lisent tels quels\u00a0:",
			"zstd -d palmares.sqlite.zst\nsqlite3 palmares.sqlite \"SELECT name, score, price FROM outils ORDER BY score DESC " +
				"LIMIT 10\"",
		},
		{
			"commande.suivre", "Demain, ne prendre que ce qui a changé depuis cette version\u00a0:",
			"curl -s '" + base + follow + "'",
		},
	}
}

// A jsonldDataset describes the catalogue as data, for search engines of datasets.
type jsonldDataset struct {
	Context       string           `json:"@context"`
	Type          string           `json:"@type"`
	Name          string           `json:"name"`
	Description   string           `json:"description"`
	URL           string           `json:"url"`
	License       string           `json:"license"`
	Creator       *jsonldAgent     `json:"creator"`
	Credit        string           `json:"creditText"`
	Version       string           `json:"version"`
	Modified      string           `json:"dateModified,omitempty"`
	Language      string           `json:"inLanguage"`
	Free          bool             `json:"isAccessibleForFree"`
	Distributions []jsonldDownload `json:"distribution"`
}

type jsonldDownload struct {
	Type   string `json:"@type"`
	Name   string `json:"name"`
	URL    string `json:"contentUrl"`
	Format string `json:"encodingFormat"`
	Size   string `json:"contentSize,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// jsonldDataset describes the files, or the manifest until they are written.
func (v *view) jsonldDataset(p *datasetPage, x *dataset.Export) *jsonldDataset {
	c := v.snap.Catalog
	d := &jsonldDataset{
		Context: schemaOrg, Type: "Dataset", Name: c.Name,
		Description: cmp.Or(c.Settings.Description, "Un catalogue d’outils testés") + " Outils, notes, " +
			"prix et leur historique, comparatifs et outils retirés, en JSON, CSV et SQLite.",
		URL: p.Page.Canonical, Creator: v.organization(), Credit: p.Credit,
		Version: strconv.FormatInt(p.Version, 10), Modified: p.Published, Language: "fr", Free: true,
		Distributions: []jsonldDownload{
			{Type: "DataDownload", Name: "manifeste", URL: p.Base + dataset.Path, Format: "application/json"},
		},
	}
	_, d.License = c.Terms()
	if x == nil {
		return d
	}
	for i := range x.Files {
		f := &x.Files[i]
		if !dataset.NeedsKey(f.Name()) {
			d.Distributions = append(d.Distributions,
				jsonldDownload{"DataDownload", f.Name(), p.Base + f.Path, f.Type, strconv.FormatInt(f.Bytes, 10) + " B", f.SHA256})
		}
	}
	return d
}
