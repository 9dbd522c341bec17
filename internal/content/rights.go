package content

import (
	"regexp"

	"palmares/internal/catalog"
)

// checkRights checks what is said about reuse, and drops what is so by default.
func (d *decoder) checkRights(s *catalog.Settings) {
	const open = "open"
	for _, l := range s.Licence {
		isWord := l.Name == open || l.Name == catalog.Reserved
		given := d.find("licence").value
		if given.kind == isMapping && l.URL == "" && !isWord {
			if given.find("url") == nil { // another problem says what is wrong with one that is given
				d.report(given.line, "licence-without-url")
			}
		} else if l.Name != "" && l.URL == "" && !isWord {
			d.report(d.lineOf("licence"), "licence-unknown", quoted(l.Name))
		} else if l.URL != "" && isWord {
			d.report(d.lineOf("licence"), "licence-with-url", l.Name)
		}
	}
	if len(s.Licence) > 0 && s.Licence[0].Name == open {
		s.Licence = nil
	}
	for i, line := range s.Robots {
		if !robotsLine.MatchString(line) {
			d.warn(d.lineOf("robots"), "robots-line", i+1, quoted(line))
		}
	}
}

var robotsLine = regexp.MustCompile(`^(?:#.*|[A-Za-z-]+: ?.*)$`)
