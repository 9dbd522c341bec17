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
	Folder Folder // nil if it cannot be used: every page says so
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
	schedulePath = "/redaction/programmation"
	versionsPath = "/redaction/versions"
	reportsPath  = "/redaction/signalements"
	readersPath  = "/redaction/audience"
	helpPath     = "/redaction/aide"
	sharedPath   = "/apercu"
)

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
