package dataapi

import (
	"strings"

	"palmares/internal/web"
)

// varyAccept is Vary where the response is JSON or a stream.
var varyAccept = []string{"Authorization, Accept, Accept-Encoding"}

// prefersEvents reports whether the lines of Accept prefer an event stream to JSON. A
// stream must be named: a range such as */* means JSON, and so does JSON that is named
// with the same weight.
func prefersEvents(lines []string) bool {
	events, json, any := 0, -1, -1 // weights in thousandths; -1 if not named
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			weight, ok := weightOf(params)
			if !ok {
				continue
			}
			switch strings.ToLower(strings.Trim(name, " \t")) {
			case "text/event-stream":
				events = weight
			case "application/json":
				json = weight
			case "application/*", "*/*":
				any = max(any, weight)
			}
		}
	}
	if json >= 0 {
		return events > json
	}
	return events > 0 && events >= any
}

// weightOf returns the weight among the parameters of a media range.
func weightOf(params string) (thousandths int, ok bool) {
	for param := range strings.SplitSeq(params, ";") {
		if p := strings.TrimLeft(param, " \t"); p != "" && (p[0] == 'q' || p[0] == 'Q') {
			return web.Quality(p)
		}
	}
	return web.Quality("")
}
