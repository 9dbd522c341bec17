// Package desk is the desk of the editors on the web: /redaction and everything below it.
//
// What somebody writes is a working copy of one file of the content folder, with its pictures. It is
// saved as it is written, checked and shown with the folder around it, and becomes part of the folder
// when it is published. The forms are made from the tables of fields of package content, and a file
// keeps every byte that a form did not change.
//
// As in package accountsite, a page is a function from a request to a response or an error, and one
// adapter does the rest: it knows who asks, what she may do, and that a form came from a page of
// ours. GET changes nothing. Everything works without a script, except what happens while somebody
// types.
package desk

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/deskdb"
	"palmares/internal/evidence"
	"palmares/internal/preview"
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
	Drafts     *preview.Drafts
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
	Publish(ctx context.Context, p worktree.Publication) (worktree.Result, error)
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

// routes are the pages of everybody who writes, also on her own machine.
func (d *desk) routes() []route {
	return []route{
		{"GET " + homePath, account.Author, d.home},
		{"GET " + recordsPath, account.Author, d.listRecords},
		{"GET " + recordsPath + "/{folder}/{slug}", account.Author, d.showRecord},
		{"POST " + recordsPath + "/{folder}/{slug}/copie", account.Author, d.openRecord},
		{"POST " + recordsPath + "/{folder}/{slug}/double", account.Author, d.duplicate},
		{"POST " + recordsPath + "/{folder}/{slug}/nom", account.Author, d.rename},
		{"POST " + recordsPath + "/{folder}/{slug}/retrait", account.Author, d.retire},
		{"POST " + recordsPath + "/{folder}/{slug}/prix", account.Author, d.takeOver},
		{"GET " + sourcesPath, account.Author, d.listSources},
		{"GET " + newPath, account.Author, d.newRecord},
		{"POST " + newPath, account.Author, d.createRecord},
		{"GET " + helpPath, account.Author, d.showHelp},
		{"GET " + helpPath + "/{picture}", account.Author, d.showHelpPicture},
		{"GET " + picturesPath, account.Author, d.listPictures},
		{"GET " + settingsPath, account.Editor, d.showSettings},
		{"POST " + settingsPath, account.Editor, d.openSettings},
		{"GET " + copiesPath + "/{id}", account.Author, d.of(d.showCopy)},
		{"POST " + copiesPath + "/{id}", account.Author, d.of(d.saveCopy)},
		{"GET " + copiesPath + "/{id}/source", account.Author, d.of(d.showSource)},
		{"POST " + copiesPath + "/{id}/source", account.Author, d.of(d.mark)},
		{"POST " + copiesPath + "/{id}/images", account.Author, d.of(d.addPicture)},
		{"GET " + copiesPath + "/{id}/apercu/{path...}", account.Author, d.of(d.showPreview)},
	}
}

// sharedRoutes are the pages of people who publish together.
func (d *desk) sharedRoutes() []route {
	return []route{
		{"GET " + copiesPath + "/{id}/conflit", account.Author, d.of(d.showConflict)},
		{"POST " + copiesPath + "/{id}/conflit", account.Author, d.of(d.settleConflict)},
		{"GET " + copiesPath + "/{id}/suppression", account.Author, d.of(d.confirmRemoval)},
		{"POST " + copiesPath + "/{id}/suppression", account.Author, d.of(d.removeCopy)},
		{"GET " + copiesPath + "/{id}/publication", account.Editor, d.of(d.confirmPublication)},
		{"POST " + publishPath, account.Editor, d.publish},
		{"GET " + copiesPath + "/{id}/partage", account.Author, d.of(d.listShares)},
		{"POST " + copiesPath + "/{id}/partage", account.Author, d.of(d.share)},
		{"POST " + copiesPath + "/{id}/partage/{share}", account.Author, d.of(d.revokeShare)},
		{"GET " + sharedPath + "/{path...}", "", d.showShared},
		{"GET " + copiesPath + "/{id}/relecture", account.Author, d.of(d.showReview)},
		{"POST " + copiesPath + "/{id}/relecture", account.Author, d.of(d.askReview)},
		{"POST " + copiesPath + "/{id}/accord", account.Editor, d.of(d.approve)},
		{"POST " + copiesPath + "/{id}/retour", account.Editor, d.of(d.giveBack)},
		{"GET " + copiesPath + "/{id}/programmation", account.Editor, d.of(d.chooseHour)},
		{"POST " + copiesPath + "/{id}/programmation", account.Editor, d.of(d.schedule)},
		{"GET " + schedulePath, account.Author, d.listScheduled},
		{"POST " + recordsPath + "/{folder}/{slug}/deprogrammation", account.Editor, d.unschedule},
		{"GET " + recordsPath + "/{folder}/{slug}/suppression", account.Editor, d.confirmWithdrawal},
		{"POST " + recordsPath + "/{folder}/{slug}/suppression", account.Editor, d.withdraw},
		{"GET " + versionsPath, account.Author, d.listVersions},
		{"GET " + versionsPath + "/{number}", account.Author, d.showVersion},
		{"POST " + versionsPath + "/{number}/annulation", account.Editor, d.undo},
		{"GET " + reportsPath, account.Author, d.listReports},
		{"POST " + reportsPath + "/{id}", account.Author, d.closeReport},
		{"GET " + readersPath, account.Editor, d.showReaders},
		{"GET " + readersPath + ".csv", account.Editor, d.sendReaders},
	}
}

// New returns the handler of /redaction and everything below it.
func New(cfg Config) http.Handler {
	d := &desk{Config: cfg, mux: http.NewServeMux()}
	routes := d.routes()
	if !d.isLocal() {
		routes = append(routes, d.sharedRoutes()...)
	}
	for _, r := range routes {
		d.mux.HandleFunc(r.pattern, d.handle(r.role, r.page))
	}
	d.mux.HandleFunc("/", d.handle(account.Author, d.notFound))
	guard := http.NewCrossOriginProtection()
	// Behind a proxy the Host header may differ from the origin that browsers see.
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		if err := guard.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			panic(err) // only without a scheme or host
		}
	}
	guard.SetDenyHandler(d.handle(account.Author, func(*request) (*response, error) { return nil, crossOrigin() }))
	return guard.Handler(d.mux)
}

type desk struct {
	Config
	mux         *http.ServeMux
	reading     folderReading
	sourcesRead sourceReading
	pages       pageReading

	inspecting sync.Mutex // held by whoever checks a picture
}

// isLocal reports whether somebody writes alone, on her own machine.
func (d *desk) isLocal() bool { return d.Editors == nil }
