package quota

import (
	"net/http"
	"strconv"
)

// Header values that never change are shared by all responses, so that setting them does
// not allocate. Names are written as documented, not in the canonical form of net/http,
// which would be X-Ratelimit-Limit.
var (
	tierValues = [...][]string{{Anonymous.String()}, {Free.String()}, {Pro.String()}}
	unlimited  = []string{strconv.Itoa(Unlimited)}
	// Pro has no limit to show.
	limitValues  = [...][]string{limitValue(Anonymous), limitValue(Free)}
	policyValues = [...][]string{policyValue(Anonymous), policyValue(Free)}
)

func limitValue(t Tier) []string { return []string{strconv.Itoa(t.Limit())} }

func policyValue(t Tier) []string {
	return []string{`"daily";q=` + strconv.Itoa(t.Limit()) + `;w=` + strconv.Itoa(secondsOfDay)}
}

const beforeRemaining = `"daily";r=`

// SetHeaders sets the headers that say what remains. For a caller without a key it sets
// them only on a refusal: caches share its other responses. A refusal also says when to
// retry.
func (g Grant) SetHeaders(h http.Header) {
	if g.Tier == Anonymous && !g.Refused {
		return
	}
	h["X-RateLimit-Tier"] = tierValues[g.Tier]
	h["X-RateLimit-Reset"] = g.reset
	if g.Tier == Pro {
		h["X-RateLimit-Remaining"] = unlimited
		return
	}
	// One string holds the values that differ each time, one array the slices that the
	// headers need: two allocations for three values.
	var room [64]byte
	b := append(room[:0], beforeRemaining...)
	b = strconv.AppendInt(b, int64(g.Remaining), 10)
	afterRemaining := len(b)
	b = append(b, ";t="...)
	beforeWait := len(b)
	b = strconv.AppendInt(b, int64(g.Wait), 10)
	text := string(b)
	values := [...]string{text, text[len(beforeRemaining):afterRemaining], text[beforeWait:]}

	h["X-RateLimit-Limit"] = limitValues[g.Tier]
	h["RateLimit-Policy"] = policyValues[g.Tier]
	h["RateLimit"] = values[0:1:1]
	h["X-RateLimit-Remaining"] = values[1:2:2]
	if g.Refused {
		h["Retry-After"] = values[2:3:3]
	}
}
