package content

import (
	"palmares/internal/problem"
)

// A mention is a link or a picture in a body. What it leads to is known only once
// the whole folder has been read.
type mention struct {
	line    int
	prefix  problem.Text // of the sentence, for bodies in JSON lines
	written string       // the destination, as in the body
	alt     string       // of a picture

	hidesTitle bool // of a picture whose title is no caption
	isAbsolute bool // a link with the host of the catalogue before it
}

// in returns a sentence about a mention, with its prefix.
func (m mention) in(what problem.Text) problem.Text {
	if m.prefix.English == "" {
		return what
	}
	return problem.New("at", m.prefix, what).Coded(what.Code)
}
