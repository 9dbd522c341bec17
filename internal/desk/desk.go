// Package desk is the desk of the editors on the web: /redaction and everything below it.
//
// What somebody writes is a working copy of one file of the content folder, with its pictures. It is
// saved as it is written, checked and shown with the folder around it, and becomes part of the folder
// when it is published. The forms are made from the tables of fields of package content, and a file
// keeps every byte that a form did not change.
//
// Its shell is package forms. Everything works without a script, except what happens while somebody types.
package desk

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/deskdb"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/forms"
	"palmares/internal/readerdb"
	"palmares/internal/site"
	"palmares/internal/worktree"
)

// Config is what the desk needs. All fields are required unless they say otherwise.
type Config struct {
	Folder Folder
	Copies Copies
	// Editors are the people at the desk; nil on somebody's own machine.
	Editors *deskdb.Editors
	// Shares, Reports, Catalogue and Readership, the private links, what readers report, what is published
	// and how often it is read, are nil with Editors.
	Shares     *deskdb.Shares
	Reports    *readerdb.Reports // sealed
	Catalogue  *catalogdb.Catalogue
	Readership *readerdb.Readership
	Editions   *edition.Editions
	// Site shows the pages in its layout.
	Site *site.Site
	// Reader reads the pages that prices were taken from. Its Agent is only the program: the catalogue is added.
	Reader evidence.ReaderConfig
	// Visitor returns who sent a request, or ErrStranger if nobody is signed in. It may set a cookie.
	Visitor func(http.ResponseWriter, *http.Request) (Visitor, error)
	// BaseURL is the public URL of this server, without a trailing slash.
	BaseURL string
	Now     func() time.Time
	Log     *slog.Logger
}

// A Folder is the content folder, as worktree.Folder has it.
type Folder interface {
	Read(path string) ([]byte, error)
	With(changes []worktree.Change) fs.FS
	Publish(ctx context.Context, p worktree.Publication) error
	Unsent(ctx context.Context) (int, error)
	Send(ctx context.Context) error
	Undo(ctx context.Context, version int64) ([]worktree.Change, error)
}

// A Visitor is somebody who is signed in.
type Visitor struct {
	Email string
	Name  string
	Role  account.Role // "" for an account without one
	Token string       // of her session, which every form of hers contains
}

const (
	homePath     = "/redaction"
	recordsPath  = "/redaction/fiches"
	newPath      = "/redaction/nouvelle"
	copiesPath   = "/redaction/copies"
	picturesPath = "/redaction/images"
	sourcesPath  = "/redaction/sources"
	settingsPath = "/redaction/reglages"
	publishPath  = "/redaction/publication"
	schedulePath = "/redaction/programmation"
	versionsPath = "/redaction/versions"
	reportsPath  = "/redaction/signalements"
	readersPath  = "/redaction/audience"
	helpPath     = "/redaction/aide"
	sharedPath   = "/apercu"
)

// A route is a page and who may see it.
type route struct {
	pattern string
	role    account.Role // that it needs; an editor may do what an author may; "" for everybody
	page    pageFunc
}

// routes returns the pages of everybody who writes, and unless she writes alone those of people who publish together.
func (d *desk) routes(isAlone bool) []route {
	records, copies, publications, sources := &records{d}, &copies{desk: d}, &publications{d}, &sources{desk: d}
	own := []route{
		{"GET " + homePath, account.Author, d.home},
		{"GET " + recordsPath, account.Author, records.listRecords},
		{"GET " + recordsPath + "/{folder}/{slug}", account.Author, records.showRecord},
		{"POST " + recordsPath + "/{folder}/{slug}/copie", account.Author, records.openRecord},
		{"POST " + recordsPath + "/{folder}/{slug}/double", account.Author, records.duplicate},
		{"POST " + recordsPath + "/{folder}/{slug}/nom", account.Author, records.rename},
		{"POST " + recordsPath + "/{folder}/{slug}/retrait", account.Author, records.retire},
		{"POST " + recordsPath + "/{folder}/{slug}/prix", account.Author, sources.takeOver},
		{"GET " + sourcesPath, account.Author, sources.show},
		{"GET " + newPath, account.Author, records.newRecord},
		{"POST " + newPath, account.Author, records.createRecord},
		{"GET " + helpPath, account.Author, records.showHelp},
		{"GET " + helpPath + "/{picture}", account.Author, records.showHelpPicture},
		{"GET " + picturesPath, account.Author, records.listPictures},
		{"GET " + settingsPath, account.Editor, records.showSettings},
		{"POST " + settingsPath, account.Editor, records.openSettings},
		{"GET " + copiesPath + "/{id}", account.Author, d.of(copies.showCopy)},
		{"POST " + copiesPath + "/{id}", account.Author, d.of(copies.saveCopy)},
		{"GET " + copiesPath + "/{id}/source", account.Author, d.of(sources.showSource)},
		{"POST " + copiesPath + "/{id}/source", account.Author, d.of(sources.mark)},
		{"POST " + copiesPath + "/{id}/images", account.Author, d.of(copies.addPicture)},
		{"GET " + copiesPath + "/{id}/apercu/{path...}", account.Author, d.of(copies.showPreview)},
	}
	if isAlone {
		return own
	}
	return append(own, []route{
		{"GET " + copiesPath + "/{id}/conflit", account.Author, d.of(copies.showConflict)},
		{"POST " + copiesPath + "/{id}/conflit", account.Author, d.of(copies.settleConflict)},
		{"GET " + copiesPath + "/{id}/suppression", account.Author, d.of(copies.confirmRemoval)},
		{"POST " + copiesPath + "/{id}/suppression", account.Author, d.of(copies.removeCopy)},
		{"GET " + copiesPath + "/{id}/publication", account.Editor, d.of(publications.confirmPublication)},
		{"POST " + publishPath, account.Editor, publications.publish},
		{"GET " + copiesPath + "/{id}/partage", account.Author, d.of(copies.listShares)},
		{"POST " + copiesPath + "/{id}/partage", account.Author, d.of(copies.share)},
		{"POST " + copiesPath + "/{id}/partage/{share}", account.Author, d.of(copies.revokeShare)},
		{"GET " + sharedPath + "/{path...}", "", copies.showShared},
		{"GET " + copiesPath + "/{id}/relecture", account.Author, d.of(copies.showReview)},
		{"POST " + copiesPath + "/{id}/relecture", account.Author, d.of(copies.step(deskdb.CopyForReview, "demande"))},
		{"POST " + copiesPath + "/{id}/accord", account.Editor, d.of(copies.step(deskdb.CopyReady, "accord"))},
		{"POST " + copiesPath + "/{id}/retour", account.Editor, d.of(copies.step(deskdb.CopyInProgress, "retour"))},
		{"GET " + copiesPath + "/{id}/programmation", account.Editor, d.of(publications.chooseHour)},
		{"POST " + copiesPath + "/{id}/programmation", account.Editor, d.of(publications.schedule)},
		{"GET " + schedulePath, account.Author, publications.listScheduled},
		{"POST " + recordsPath + "/{folder}/{slug}/deprogrammation", account.Editor, publications.unschedule},
		{"GET " + recordsPath + "/{folder}/{slug}/suppression", account.Editor, records.confirmWithdrawal},
		{"POST " + recordsPath + "/{folder}/{slug}/suppression", account.Editor, records.withdraw},
		{"GET " + versionsPath, account.Author, publications.listVersions},
		{"GET " + versionsPath + "/{number}", account.Author, publications.showVersion},
		{"POST " + versionsPath + "/{number}/annulation", account.Editor, publications.undo},
		{"GET " + reportsPath, account.Author, records.listReports},
		{"POST " + reportsPath + "/{id}", account.Author, records.closeReport},
		{"GET " + readersPath, account.Editor, records.showReaders},
		{"GET " + readersPath + ".csv", account.Editor, records.sendReaders},
	}...)
}

// New returns the handler of /redaction and everything below it.
func New(cfg Config) http.Handler {
	d := &desk{Config: cfg, shell: forms.Shell{
		Site: cfg.Site, BaseURL: cfg.BaseURL, Now: cfg.Now, Log: cfg.Log, Timeout: requestTimeout, IsDesk: true,
		Failed: "a page of the desk failed", Failures: failures,
	}}
	for _, r := range d.routes(d.isLocal()) {
		d.shell.Handle(r.pattern, d.handle(r.role, r.page))
	}
	d.shell.Handle("/", d.handle(account.Author, d.notFound))
	return d.shell.Guarded(d.handle(account.Author, func(*request) (*response, error) { return nil, errCrossOrigin }))
}

// desk is what its pages share: the folder as it is now, the working copies, and who is who.
type desk struct {
	Config
	shell forms.Shell
}

// The pages by what they are about.
type (
	records struct{ *desk } // the records of the folder, and the lists of all that is at the desk
	copies  struct {        // working copies, from the form to the review
		*desk
		inspecting sync.Mutex // held by whoever checks a picture
	}
	publications struct{ *desk } // what is published now, at an hour, or taken back
	sources      struct {        // of prices
		*desk
		pages pageReading
	}
)

// isLocal reports whether somebody writes alone, on her own machine.
func (d *desk) isLocal() bool { return d.Editors == nil }
