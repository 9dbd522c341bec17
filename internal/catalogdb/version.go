package catalogdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/sqldb"
	"palmares/internal/wire"
)

// A Source says where a publication comes from.
type Source struct {
	Revision string `json:"revision"` // of git; "" if unknown
	Author   string `json:"author"`   // of the revision; "" if unknown
	Token    string `json:"token"`    // name of the token it was published with; "" for the local command
	Clean    bool   `json:"clean"`    // the folder was as in the revision
	Note     string `json:"note"`     // what whoever published it says of it; "" for nothing
}

// A Head is what a publication replaces. Its JSON, and that of a Version, is what package remote sends.
type Head struct {
	Version  int64  `json:"version"`  // 0 if nothing has been published
	By       string `json:"by"`       // who published Version: its author, or else the name of its token; "" if unknown
	Revision string `json:"revision"` // the last known one, of this version or an earlier one; "" for none
	Author   string `json:"author"`   // of Revision
	Clean    bool   `json:"clean"`    // what was published was Revision, without other changes
	Earlier  bool   `json:"earlier"`  // Revision is that of an earlier version
	Since    int64  `json:"since"`    // the last version that did not make itself: those after it change nobody's work
}

// Is reports whether a version is the published one, but for what happened by itself since.
func (h Head) Is(version int64) bool {
	return version == h.Version || h.Since <= version && version < h.Version
}

// ErrNoVersion: there is no such version.
var ErrNoVersion = fmt.Errorf("version %w", sqldb.ErrNotFound)

// A Version is one publication.
type Version struct {
	Number      int64     `json:"version"`
	PublishedAt time.Time `json:"published_at"`
	Due         string    `json:"due"` // the hour at which it made itself; "" if somebody published it
	Source
	Changes  map[string]int `json:"changes"`  // how many events of each type
	Pages    int            `json:"pages"`    // how many pages were added, changed or removed
	Authors  int            `json:"authors"`  // the same of authors
	Settings bool           `json:"settings"` // catalogue.yaml changed
	Undoes   int64          `json:"undoes"`   // the version that it took back; 0 for none
}

// Head returns what the next publication replaces.
func (s *Catalogue) Head(ctx context.Context) (Head, error) {
	return sqldb.Read(ctx, s.db, func(tx *sql.Tx) (Head, error) { return head(ctx, tx) })
}

func head(ctx context.Context, tx *sql.Tx) (h Head, err error) {
	h.Version, err = sqldb.Value[int64](ctx, tx, VersionQuery)
	if err != nil {
		return h, err
	}
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(NULLIF(author, ''), token),
			COALESCE((SELECT max(version) FROM publications WHERE due = ''), 0) FROM publications WHERE version = $1`,
		h.Version).Scan(&h.By, &h.Since)
	if errors.Is(err, sql.ErrNoRows) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	err = tx.QueryRowContext(ctx, `SELECT revision, author, clean, version < $1 FROM publications WHERE revision <> ''
		ORDER BY version DESC LIMIT 1`, h.Version).Scan(&h.Revision, &h.Author, &h.Clean, &h.Earlier)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return h, err
}

// ErrRevisionStays is wrapped by the error of a Guard that refuses a folder whose revision
// must not replace the recorded one, even if the folder changes nothing: the published
// revision contains it, or may contain it.
var ErrRevisionStays = errors.New("the published revision stays on record")

// Versions returns the last publications, newest first.
func (s *Catalogue) Versions(ctx context.Context, limit int) ([]Version, error) {
	return sqldb.List(ctx, s.db, selectVersions+` ORDER BY version DESC LIMIT $1`, scanVersion, limit)
}

const selectVersions = `SELECT version, published_at, revision, author, token, clean, changes, records, due FROM publications`

func scanVersion(scan sqldb.Scanner, v *Version) error {
	var changes, records string
	err := scan(&v.Number, sqldb.Time(&v.PublishedAt), &v.Revision, &v.Author, &v.Token, &v.Clean, &changes, &records,
		&v.Due)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(changes), &v.Changes); err != nil {
		return err
	}
	var r recordChanges
	err = json.Unmarshal([]byte(records), &r)
	v.Pages, v.Authors = r.Of(catalog.PageKind).Len(), r.Of(catalog.AuthorKind).Len()
	v.Settings, v.Undoes, v.Note = r.Metadata, r.Undoes, r.Note
	return err
}

// Changes returns what a version changed: the entries of the chronicle that it told last, in their order, and the records
// that it wrote or removed, of each kind at most a thousand.
func (s *Catalogue) Changes(ctx context.Context, version int64) (d catalog.Diff, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		records, err := sqldb.Value[string](ctx, tx, `SELECT records FROM publications WHERE version = $1`, version)
		if errors.Is(err, sql.ErrNoRows) {
			return sqldb.Problem(ErrNoVersion, nil, "there is no version %d", version)
		}
		if err != nil {
			return err
		}
		var r recordChanges
		if err := json.Unmarshal([]byte(records), &r); err != nil {
			return err
		}
		d = r.Diff
		d.Entries, err = entriesWhere(ctx, tx, `WHERE version = $1 AND at <> '' AND NOT withdrawn AND NOT EXISTS
			(SELECT 1 FROM entries AS later WHERE later.id = entries.id AND later.position > entries.position)
			ORDER BY position LIMIT `+strconv.Itoa(maxRecorded), version)
		return err
	})
	return d, err
}

// recordChanges are the records of a catalog.Diff.
type recordChanges struct {
	Undoes int64  `json:"undoes,omitempty"` // the version that was taken back
	Note   string `json:"note,omitempty"`   // of whoever published it
	catalog.Diff
}

// maxRecorded is how many records of a list are kept in recordChanges.
const maxRecorded = 1000

func recordsOf(d catalog.Diff, undoes int64, note string) string {
	first := func(list []string) []string { return list[:min(len(list), maxRecorded)] }
	some := func(r catalog.RecordChanges) catalog.RecordChanges {
		return catalog.RecordChanges{Added: first(r.Added), Changed: first(r.Changed), Removed: first(r.Removed)}
	}
	d.Records = maps.Clone(d.Records)
	for kind, r := range d.Records {
		d.Records[kind] = some(r)
	}
	d.Scheduled, d.Drafts = some(d.Scheduled), first(d.Drafts)
	return string(wire.AppendJSON(nil, recordChanges{undoes, note, d}))
}
