package content

import (
	"time"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

// What a folder says about the future. Records with an hour that has not come wait: they are read like
// others and hidden like drafts. So that nothing is wrong at its hour, the records are checked against
// each other once for every hour to come, as the catalogue will be then.

const (
	// maxHours is how many hours to come a folder may have: each is checked.
	maxHours = 100
	// settled is how long ago an hour must be to be taken for passed here. What came later is left to
	// the publication: it is by the clock of the database that hours come, and this one may be wrong.
	settled = 24 * time.Hour
)

// assemble builds the catalogue as it is now, and checks it as it is and as it will be. It returns
// nil if there are so many problems that not all records were read.
func (f *folder) assemble() *instant {
	now := f.at(f.now)
	f.add(now.findings)
	now.checkFiles()
	if len(f.problems) == maxFindings {
		return nil
	}
	f.checkFuture()
	return now
}

// checkFuture checks the records against each other at every hour to come, and reports what is not
// wrong yet.
func (f *folder) checkFuture() {
	hours := f.batches.hours(f.now)
	if len(hours) == 0 {
		return
	}
	if len(hours) > maxHours {
		f.problem(catalog.SettingsFile, 1, "too-many-hours", len(hours), maxHours)
		return
	}
	known := map[Problem]bool{}
	for _, p := range f.problems {
		known[p] = true
	}
	for _, hour := range hours {
		if len(f.problems) == maxFindings {
			break
		}
		for _, p := range f.at(hour).problems {
			if !known[p] {
				known[p] = true
				f.tell(p.File, p.Line, problem.New("from-on", p.Text, hour).Coded(p.Text.Code))
			}
		}
	}
	f.at(f.now) // the records are again as they are now
}

// checkFiles checks the files that stand beside the record that they replace, and warns of those that nobody
// sees any more.
func (s *instant) checkFiles() {
	f, now := s.folder, s.folder.now
	own := map[string]*record{}
	for k, r := range f.batches.all() {
		if !r.isNext {
			own[k.Folder+"/"+r.slug] = r
		}
	}
	for k, r := range f.batches.all() {
		if r.hasEnded && !r.isMarked && !r.isAbsent {
			f.warn(r.file, r.line, "has-ended", r.end)
		}
		if !r.isNext || !catalog.IsSlug(r.slug) {
			continue
		}
		file := k.Folder + "/" + r.slug
		base := own[file]
		switch {
		case base == nil:
			f.problem(r.file, r.line, "next-of-nothing", r.slug, file)
		case r.of == nil:
		case r.publishAt == "":
			f.problem(r.file, r.line, "next-without-hour", base.file)
		case r.publishAt <= base.publishAt:
			f.problem(r.file, r.line, "next-before-record", base.file)
		case r.publishAt <= now && !r.isAbsent:
			f.warn(r.file, r.line, "next-has-passed", base.file, r.publishAt)
		}
	}
	for slug, r := range s.obituaries {
		if tool := own["outils/"+slug]; tool != nil && r.publishAt <= now {
			f.warn(tool.file, tool.line, "retired-since", r.publishAt, r.file)
		}
	}
}
