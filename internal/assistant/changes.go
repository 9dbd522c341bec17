package assistant

import (
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/record"
)

type changedRecord struct {
	Change    string      `json:"change"` // new, changed, renamed, retired or removed
	Kind      record.Kind `json:"kind"`
	ID        string      `json:"id"`
	Name      string      `json:"name,omitempty"`
	URL       string      `json:"url,omitempty"`
	At        string      `json:"at"`
	Now       string      `json:"renamed_to,omitempty"` // the id of a renamed record
	Sponsored bool        `json:"sponsored,omitempty"`
}

type changesResult struct {
	Changes []changedRecord `json:"changes"`
	Next    int64           `json:"next"` // a position, for after
	More    bool            `json:"more"`
	Credit  string          `json:"credit"`
}

// listChanges returns what changed since a day, after a position or both, oldest first.
func listChanges(c *call) (any, error) {
	var args struct {
		Since string `json:"since"`
		After *int64 `json:"after"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	feed := c.snap.Feed
	switch {
	case args.After == nil && args.Since == "":
		return nil, refuse("Donnez since, un jour, ou after, une position, ou les deux.")
	case args.Since != "" && !catalog.IsDate(args.Since):
		return nil, refuse("since doit être un jour\u00a0: AAAA-MM-JJ.")
	case feed == nil:
		return nil, refuse("Ce catalogue n’a pas d’histoire\u00a0: rien n’y est encore publié.")
	case args.After != nil && *args.After > feed.Last:
		return nil, refuse("after n’est pas une position de ce catalogue\u00a0: donnez plutôt since, un jour.")
	}
	result := changesResult{Changes: []changedRecord{}, Credit: c.credit()}
	if args.After != nil {
		result.Next = *args.After
	}
	after := result.Next
	isNew := func(change *record.Change) bool {
		if args.Since == "" {
			return change.FirstPosition > after
		}
		return change.FirstAt >= args.Since
	}
	room := newRoom(result)
	rest := feed.From(after)
	for i := range rest {
		change := &rest[i]
		isTold := slices.Contains(toldKinds, change.Kind)
		if change.At >= args.Since && isTold && !c.isMoved(change) {
			row := c.describe(change, isNew(change))
			if !room.takes(row) {
				result.More = true
				break
			}
			result.Changes = append(result.Changes, row)
		}
		result.Next = change.Position
	}
	return result, nil
}

// toldKinds are the kinds of records whose changes are told.
var toldKinds = []record.Kind{record.Tool, record.Comparison, record.Retired, record.Article}

// isMoved reports whether a tool only left the list of active tools for that of retired
// ones or came back, which has a change of its own.
func (c *call) isMoved(change *record.Change) bool {
	return change.Deleted && (change.Kind == record.Tool && c.snap.RetiredTool(change.Slug) != nil ||
		change.Kind == record.Retired && c.snap.Catalog.Tool(change.Slug) != nil)
}

// describe returns what became of a record. isNew says that it was not public before the
// period that is asked for.
func (c *call) describe(change *record.Change, isNew bool) changedRecord {
	row := changedRecord{Change: "changed", Kind: change.Kind, ID: change.Slug, At: change.At}
	all := c.snap.Catalog
	switch t, r := all.Tool(change.Slug), c.snap.RetiredTool(change.Slug); {
	case change.Deleted && change.RenamedTo != "":
		row.Change, row.Now = "renamed", change.RenamedTo
		return row
	case change.Deleted:
		row.Change = "removed"
		return row
	case change.Kind == record.Tool && t != nil:
		row.Name, row.URL = nameOf(t), all.CanonicalURLOf(t)
	case change.Kind == record.Retired && r != nil:
		row.Name, row.URL = clip(r.Name, 120), all.RetiredURLOf(r.Slug)
	case change.Kind == record.Comparison:
		row.Name, row.URL = c.title(change.Slug), all.ComparisonURLOf(change.Slug)
	case change.Kind == record.Article:
		if a := all.Article(change.Slug); a != nil {
			row.Name, row.URL, row.Sponsored = clip(a.Title, 200), all.ArticleURLOf(a.Slug), a.Sponsored
		}
	}
	switch {
	case isNew && change.Kind == record.Retired:
		row.Change = "retired"
	case isNew:
		row.Change = "new"
	}
	return row
}

// title returns that of a comparison.
func (c *call) title(slug string) string {
	all := c.snap.Catalog.Comparisons // by slug
	at, ok := slices.BinarySearchFunc(all, slug, func(x catalog.Comparison, slug string) int {
		return strings.Compare(x.Slug, slug)
	})
	if !ok {
		return ""
	}
	return clip(all[at].Title, 200)
}
