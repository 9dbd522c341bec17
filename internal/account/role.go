package account

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Role is what somebody may do at the desk. The zero value may do nothing.
type Role string

// The roles.
const (
	Author Role = "author" // writes, previews, shares and asks for review
	Editor Role = "editor" // does that as well, reviews, publishes, schedules, undoes, and changes the settings
)

// ParseRole parses the name of a role.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case Author, Editor:
		return r, nil
	}
	return "", fmt.Errorf("%q is not a role: choose %s or %s", s, Author, Editor)
}

// Includes reports whether somebody with this role may do what needs another.
func (r Role) Includes(needed Role) bool {
	switch needed {
	case Author:
		return r == Author || r == Editor
	case Editor:
		return r == Editor
	}
	return false
}

// NormalizeEditorName trims and checks the name that somebody's publications are signed with,
// in git as well.
func NormalizeEditorName(s string) (string, error) {
	name := strings.TrimSpace(s)
	if name == "" || utf8.RuneCountInString(name) > maxKeyName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, isInvisible) || strings.ContainsAny(name, "<>") {
		return "", fmt.Errorf("%q cannot be the name of a person: give one of at most %d characters without < and >, "+
			"as in Ada Lovelace", s, maxKeyName)
	}
	return name, nil
}
