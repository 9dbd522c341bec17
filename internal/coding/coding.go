// Package coding is how a finished body goes over the wire: in which content
// coding, under which entity tag, and compressed once however often it is asked
// for.
//
// The API and the site send different bodies but must agree on this; they share
// it here so that neither can drift. A body is known by a digest of its content,
// which lets a caller that has it already be told so before a byte is compressed.
package coding

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// A Coding is one way to send a body.
type Coding uint8

// The codings, the one we like best last: it wins among equals.
const (
	Identity Coding = iota
	Gzip
	Zstd
	Brotli
	count
)

var (
	names    = [count][]string{nil, {"gzip"}, {"zstd"}, {"br"}}
	suffixes = [count]string{"", "-gzip", "-zstd", "-br"}
)

// Header is the value of Content-Encoding, nil for a body as it is. It is shared
// by all answers and must not be changed.
func (c Coding) Header() []string { return names[c] }

// Choose reads Accept-Encoding (RFC 9110 §12.5.3). Without the header, or with
// one that accepts nothing we have, the body goes out as it is.
func Choose(lines []string) Coding {
	if len(lines) == 0 {
		return Identity
	}
	var weights [count]int // in thousandths; -1: not named
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
	for c := Gzip; c < count; c++ {
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

// quality reads the parameters behind a coding: nothing, or `q=` and a weight.
func quality(s string) (thousandths int, ok bool) {
	s = strings.Trim(s, " \t")
	if s == "" {
		return 1000, true
	}
	key, value, _ := strings.Cut(s, "=")
	if k := strings.Trim(key, " \t"); k != "q" && k != "Q" {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.Trim(value, " \t"), 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, false
	}
	return int(x * 1000), true
}

// A Digest names a body by its content: equal digests, equal bytes.
type Digest [16]byte

// Tag is a strong validator: the digest of a body and its coding, since two
// codings of one body are different bytes.
func Tag(d Digest, c Coding) string {
	var room [40]byte
	b := append(room[:0], '"')
	b = hex.AppendEncode(b, d[:])
	b = append(b, suffixes[c]...)
	return string(append(b, '"'))
}

// Matches tells whether an If-None-Match header, in one or more lines, names the
// tag. The comparison is weak, as RFC 9110 asks; what cannot be read matches nothing.
func Matches(lines []string, tag string) bool {
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
