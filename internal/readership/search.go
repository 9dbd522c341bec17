package readership

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/clientip"
	"palmares/internal/pseudonym"
)

// MinNetworks is from how many networks the words of a search that found nothing must have been typed
// in a week before they are stored. Until then there are only HMACs: of the words, and of the words
// with each network, so that not even the searches of one network belong together. Their key is
// destroyed at the end of the week.
const MinNetworks = 5

// Longer texts, in bytes, are rather about somebody. The others are limits of searches between two saves,
// and of those of a network in a day.
const maxWords, maxSearches, maxAsked = 80, 200, 20

// A Search is one that found nothing, in the week of a Monday. Its words are stored only if enough
// networks have the same digest.
type Search struct{ Week, Words, Digest, Network string }

// A week is the time in which networks can be told apart.
type week struct {
	name string
	key  pseudonym.Key
}

func weekName(t time.Time) string { return catalog.Day(t.AddDate(0, 0, -(int(t.Weekday())+6)%7)) }

// personal is what the words of a search have that may be about a person: a mail address, or a number.
// PostgreSQL stores no control characters.
var personal = regexp.MustCompile(`@|\pC|(?:\pN\PN*){7}`)

// Missed counts a search that found nothing, if a reader made it.
func (c *Counter) Missed(r *http.Request, text string) {
	words := strings.Join(strings.Fields(strings.ToLower(strings.ToValidUTF8(text, ""))), " ")
	network := pseudonym.Network(clientip.Network(clientip.Addr(r, c.cfg.Trusted)))
	isKept := words != "" && len(words) <= maxWords && !personal.MatchString(words) && c.isReader(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isKept || c.week == nil || len(c.found) == maxSearches {
		return
	}
	one := c.week.key.Of("network", network)
	asked := &c.asked[(int(one[0])<<8|int(one[1]))%len(c.asked)]
	if *asked == maxAsked {
		return
	}
	*asked++
	c.found = append(c.found, Search{
		c.week.name, words, c.week.key.Of("words", []byte(words)).String(), c.week.key.Of("search "+words, network).String(),
	})
}
