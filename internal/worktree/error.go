package worktree

import (
	"errors"
	"fmt"
	"strings"

	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/publication"
)

// An Error says in French why something was not done, and what to do.
type Error struct {
	text string
	err  error // for the log; may be nil
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.err }

// A ConflictError lists files that were changed since they were opened.
type ConflictError struct {
	Paths []string
	// Files has what colleagues have made of them, by path, without those that they removed. A
	// Change with the Hash of that as its Base replaces it.
	Files map[string][]byte
	// Local says that somebody edits the files in the folder itself, and has not committed them.
	Local bool
}

func (e *ConflictError) Error() string {
	files := strings.Join(e.Paths, ", ")
	if e.Local {
		return "Quelqu’un modifie " + files + " directement dans le dossier du serveur\u00a0: " +
			"ces changements doivent d’abord y être enregistrés ou retirés."
	}
	return "Changé entre-temps par quelqu’un d’autre\u00a0: " + files + ". Comparez les deux textes et choisissez."
}

// A RefusedError lists what in the folder must be corrected first.
type RefusedError struct {
	Problems []content.Problem
}

func (e *RefusedError) Error() string {
	if len(e.Problems) == 1 {
		return "Il reste un problème à corriger avant de publier."
	}
	return fmt.Sprintf("Il reste %d problèmes à corriger avant de publier.", len(e.Problems))
}

// A StaleError says that a version is published of which the folder may not contain everything.
// Whoever has seen what it changed names it in Publication.Over.
type StaleError struct {
	Version int64
	By      string // "" if unknown
	Unsent  bool   // it was published from files that are not in the repository's upstream
}

func (e *StaleError) Error() string {
	by := ""
	if e.By != "" {
		by = " par " + e.By
	}
	text := fmt.Sprintf("La version %d a été publiée%s sans passer par ce dossier", e.Version, by)
	if e.Unsent {
		return text + "\u00a0: ses fichiers doivent d’abord être partagés avec l’équipe. Rien n’a été publié."
	}
	return text + "\u00a0: regardez ce qu’elle a changé, car publier pourrait l’effacer. Rien n’a été publié."
}

// Is keeps the revision of the other version on record.
func (e *StaleError) Is(target error) bool { return target == catalogdb.ErrRevisionStays }

// isFinal reports whether trying again would not help.
func isFinal(err error) bool {
	_, isRefused := errors.AsType[*RefusedError](err)
	_, isStale := errors.AsType[*StaleError](err)
	_, isKept := errors.AsType[*publication.RefusedError](err)
	_, isRemoval := errors.AsType[*catalogdb.RemovalsError](err)
	return isRefused || isStale || isKept || isRemoval
}

// errMoved: a colleague was faster.
var errMoved = errors.New("the upstream moved on")

// explain returns an error with a French sentence.
func explain(err error) error {
	_, isConflict := errors.AsType[*ConflictError](err)
	_, isOurs := errors.AsType[*Error](err)
	removals, isRemoval := errors.AsType[*catalogdb.RemovalsError](err)
	switch {
	case isRemoval:
		return &Error{"Des outils publiés disparaîtraient\u00a0: " + strings.Join(removals.Slugs, ", ") +
			". Faites-en une fiche du cimetière, ou indiquez leur ancien nom dans la fiche qui les remplace.", err}
	case err == nil || isConflict || isOurs || isFinal(err):
		return err
	}
	return &Error{"La publication n’a pas abouti, et rien n’a été changé\u00a0: réessayez, ou prévenez la personne qui s’occupe du serveur.", err}
}
