package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"palmares/internal/record"
)

// A Comparison is how a server and a copy of its catalogue differ.
type Comparison struct {
	Records int // of the copy
	differ  map[recordName]difference
}

type difference string

const (
	missingHere  difference = "missing here"
	missingThere difference = "missing there"
	different    difference = "different"
)

// Equal reports whether the two are equal.
func (c *Comparison) Equal() bool { return len(c.differ) == 0 }

// maxLines is how many records are listed.
const maxLines = 50

// Lines lists the first records that differ.
func (c *Comparison) Lines() []string {
	var all []string
	for name, how := range c.differ {
		all = append(all, fmt.Sprintf("%s %s: %s", name.kind, name.slug, how))
	}
	slices.Sort(all)
	if more := len(all) - maxLines; more > 0 {
		all = append(all[:maxLines:maxLines], fmt.Sprintf("… and %d more", more))
	}
	return all
}

// Summary says how many records differ from the records of a server.
func (c *Comparison) Summary(server string) string {
	count := map[difference]int{}
	for _, how := range c.differ {
		count[how]++
	}
	var parts []string
	for _, how := range []difference{missingHere, missingThere, different} {
		if count[how] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[how], how))
		}
	}
	return fmt.Sprintf("the database is not what %s serves: %s; if it is a mirror, wait for its next copy, "+
		"otherwise publish again", server, strings.Join(parts, ", "))
}

// Compare compares a feed with the feed of the server, which it reads whole if their states
// differ, one page at a time; what the server publishes meanwhile counts.
func (c *Client) Compare(ctx context.Context, here *record.Feed) (*Comparison, error) {
	found := &Comparison{differ: map[recordName]difference{}}
	hashes := map[recordName]string{}
	for i := range here.Changes {
		if r := &here.Changes[i]; !r.Deleted {
			hashes[recordName{r.Kind, r.Slug}] = r.Hash
		}
	}
	found.Records = len(hashes)
	page, err := c.Changes(ctx, "", 0, 1)
	if err != nil || page.Meta.State == here.State {
		return found, err
	}
	there := make(map[recordName]bool, len(hashes))
	feed, after := page.Meta.Feed, int64(0)
	for more := true; more; {
		page, err = c.Changes(ctx, feed, after, pageSize)
		if err != nil {
			return nil, err
		}
		for i := range page.Data {
			r := &page.Data[i]
			name := recordName{r.Kind, r.Slug}
			there[name] = !r.Deleted
			delete(found.differ, name)
			switch hash, known := hashes[name]; {
			case r.Deleted:
			case !known:
				found.differ[name] = missingHere
			case hash != r.Hash:
				found.differ[name] = different
			}
		}
		after, more = page.Meta.Next, page.Meta.More
	}
	for name := range hashes {
		if !there[name] {
			found.differ[name] = missingThere
		}
	}
	return found, nil
}
