package web

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"palmares/internal/wire"
)

// A Coding is a content coding, in which a body can be sent.
type Coding uint8

// The codings. Among those that a client weights equally, the last one wins.
const (
	Identity Coding = iota
	Gzip
	Zstd
	Brotli
	codings
)

var (
	codingNames = [codings][]string{nil, {"gzip"}, {"zstd"}, {"br"}}
	tagSuffixes = [codings]string{"", "-gzip", "-zstd", "-br"}
)

// Header returns the value of Content-Encoding, nil for Identity. All responses share it:
// it must not be changed.
func (c Coding) Header() []string { return codingNames[c] }

// Negotiate chooses the coding in which to send a body, from Identity to last, and
// returns its entity tag. It reports whether the client has the body already, so that the
// response is 304.
func Negotiate(r *http.Request, d wire.Digest, last Coding) (c Coding, tag string, known bool) {
	c = ChooseCoding(r.Header["Accept-Encoding"], last)
	tag = Tag(d, c)
	match := r.Header["If-None-Match"]
	return c, tag, match != nil && MatchesTag(match, tag)
}

// ChooseCoding reads the lines of Accept-Encoding (RFC 9110 §12.5.3). Without the
// header, or if it accepts none of the codings up to last, the result is Identity.
func ChooseCoding(lines []string, last Coding) Coding {
	if len(lines) == 0 {
		return Identity
	}
	var weights [codings]int // in thousandths; -1 if not named
	for i := range weights {
		weights[i] = -1
	}
	star := -1
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(item, ";")
			weight, ok := quality(rest)
			if !ok {
				continue
			}
			name = strings.ToLower(strings.Trim(name, " \t"))
			switch name {
			case "*":
				star = weight
			case "identity":
				weights[Identity] = weight
			case "gzip", "x-gzip":
				weights[Gzip] = weight
			case "zstd":
				weights[Zstd] = weight
			case "br":
				weights[Brotli] = weight
			}
		}
	}
	best, bestWeight := Identity, weights[Identity]
	for c := Gzip; c <= last; c++ {
		w := weights[c]
		if w < 0 {
			w = star
		}
		if w > 0 && w >= bestWeight {
			best, bestWeight = c, w
		}
	}
	return best
}

// quality reads the weight of an alternative in a header: 1000 for an empty text, or what
// follows `q=`.
func quality(s string) (thousandths int, ok bool) {
	s = strings.Trim(s, " \t")
	if s == "" {
		return 1000, true
	}
	key, value, _ := strings.Cut(s, "=")
	if k := strings.Trim(key, " \t"); k != "q" && k != "Q" {
		return 0, false
	}
	value = strings.Trim(value, " \t")
	x, err := strconv.ParseFloat(value, 64)
	// Only digits and a point: ParseFloat also reads exponents, signs and hexadecimal.
	if err != nil || strings.Trim(value, "0123456789.") != "" || !(x >= 0 && x <= 1) {
		return 0, false
	}
	return int(x * 1000), true
}

// Tag returns the strong entity tag of a body in a coding. Two codings of one body are
// different bytes, so they have different tags.
func Tag(d wire.Digest, c Coding) string {
	var room [40]byte
	b := append(room[:0], '"')
	b = hex.AppendEncode(b, d[:])
	b = append(b, tagSuffixes[c]...)
	return string(append(b, '"'))
}

// MatchesTag reports whether the lines of If-None-Match name the tag. The comparison is
// weak, as RFC 9110 requires; a malformed header matches nothing.
func MatchesTag(lines []string, tag string) bool {
	for _, line := range lines {
		for {
			line = strings.TrimLeft(line, " \t,")
			if line == "*" {
				return true
			}
			opaque, ok := strings.CutPrefix(strings.TrimPrefix(line, "W/"), `"`)
			if !ok {
				break
			}
			opaque, line, ok = strings.Cut(opaque, `"`)
			if !ok {
				break
			}
			if opaque == tag[1:len(tag)-1] {
				return true
			}
		}
	}
	return false
}
