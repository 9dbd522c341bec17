package desk

import (
	"net/http"

	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/forms"
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
		{"POST " + "/redaction/publication", account.Editor, publications.publish},
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
