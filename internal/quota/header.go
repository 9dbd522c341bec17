package quota

import (
	"fmt"
	"net/http"
	"strconv"
)

// SetHeaders sets the headers that say what remains. For a caller without a key it sets
// them only on a refusal: caches share its other responses. A refusal also says when to
// retry. Names are written as documented, not in the canonical form of net/http, which
// would be X-Ratelimit-Limit.
func (g Grant) SetHeaders(h http.Header) {
	if g.Tier == Anonymous && !g.Refused {
		return
	}
	remaining := strconv.Itoa(g.Remaining)
	h["X-RateLimit-Tier"] = []string{g.Tier.String()}
	h["X-RateLimit-Reset"] = []string{g.reset}
	h["X-RateLimit-Remaining"] = []string{remaining}
	if g.Tier == Pro { // which has no limit to show
		return
	}
	limit, wait := strconv.Itoa(g.Tier.Limit()), strconv.Itoa(g.Wait)
	h["X-RateLimit-Limit"] = []string{limit}
	h["RateLimit-Policy"] = []string{fmt.Sprintf(`"daily";q=%s;w=%d`, limit, secondsOfDay)}
	h["RateLimit"] = []string{`"daily";r=` + remaining + ";t=" + wait}
	if g.Refused {
		h["Retry-After"] = []string{wait}
	}
}
