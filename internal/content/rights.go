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
				d.report(given.line, "url in licence is missing; give the address of the terms")
			}
		} else if l.Name != "" && l.URL == "" && !isWord {
			d.report(d.lineOf("licence"), "licence must be open, reserved, or the name and the url of other terms, not %s", quoted(l.Name))
		} else if l.URL != "" && isWord {
			d.report(d.lineOf("licence"), "licence is %s, which has no url; delete it, or give the name of other terms", l.Name)
		}
	}
	if len(s.Licence) > 0 && s.Licence[0].Name == open {
		s.Licence = nil
	}
	for i, line := range s.Robots {
		if !robotsLine.MatchString(line) {
			d.warn(d.lineOf("robots"), "item %d of robots is no line of robots.txt, such as Disallow: /archives/: %s; correct it", i+1, quoted(line))
		}
	}
}

var robotsLine = regexp.MustCompile(`^(?:#.*|[A-Za-z-]+: ?.*)$`)
