package content

import (
	"regexp"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
)

// checkRights checks what is said about reuse, and drops what is so by default.
func (d *decoder) checkRights(s *catalog.Settings) {
	const open = "open"
	for _, l := range s.Licence {
		isWord := l.Name == open || l.Name == catalog.Reserved
		given := d.find("licence").Value
		if given.Kind == tree.Mapping && l.URL == "" && !isWord {
			if given.Find("url") == nil { // another problem says what is wrong with one that is given
				d.report(given.Line, "licence-without-url")
			}
		} else if l.Name != "" && l.URL == "" && !isWord {
			d.report(d.lineOf("licence"), "licence-unknown", tree.Quoted(l.Name))
		} else if l.URL != "" && isWord {
			d.report(d.lineOf("licence"), "licence-with-url", l.Name)
		}
	}
	if len(s.Licence) > 0 && s.Licence[0].Name == open {
		s.Licence = nil
	}
	for i, line := range s.Robots {
		if !robotsLine.MatchString(line) {
			d.warn(d.lineOf("robots"), "robots-line", i+1, tree.Quoted(line))
		}
	}
}

var robotsLine = regexp.MustCompile(`^(?:#.*|[A-Za-z-]+: ?.*)$`)
