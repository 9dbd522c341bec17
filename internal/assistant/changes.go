package assistant

import (
	"cmp"
	"slices"

	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/problem"
)

// A told entry of the chronicle.
type told struct {
	Entry     string       `json:"entry"` // its id, which never changes
	Position  int64        `json:"position"`
	What      catalog.What `json:"what"`
	Kind      string       `json:"kind"` // of the record
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	URL       string       `json:"url"`
	Day       string       `json:"day"`
	Title     string       `json:"title"`
	Field     string       `json:"field,omitempty"`
	Old       string       `json:"old,omitempty"`
	New       string       `json:"new,omitempty"`
	Note      string       `json:"note,omitempty"`
	Sponsored bool         `json:"sponsored,omitempty"`
}

type changesResult struct {
	Changes []told `json:"changes"`
	Next    int64  `json:"next"` // a position, for after
	More    bool   `json:"more"`
	Credit  string `json:"credit"`
}

// listChanges returns what happened since a day, after a position or both, oldest first. Without a position, what only
// records tell comes first, as far as there is room. Without a day nothing of a history comes that was there when it was
// published: a tool that is new then is new, and its price did not change.
func listChanges(c *call) (any, error) {
	var args struct {
		Since string `json:"since"`
		After *int64 `json:"after"`
	}
	if err := c.read(&args); err != nil {
		return nil, err
	}
	var first, last int64 // positions that are kept
	if kept := c.snap.Entries; len(kept) > 0 {
		first, last = kept[len(kept)-1].Position, kept[0].Position
	}
	result := changesResult{Changes: []told{}, Next: max(first-1, 0), Credit: c.credit()}
	switch {
	case args.After == nil && args.Since == "":
		return nil, refuse("Donnez since, un jour, ou after, une position, ou les deux.")
	case args.Since != "" && !catalog.IsDate(args.Since):
		return nil, refuse("since doit être un jour\u00a0: AAAA-MM-JJ.")
	case args.After != nil && *args.After > last:
		return nil, refuse("after n’est pas une position de ce catalogue\u00a0: donnez plutôt since, un jour.")
	case args.After != nil && *args.After < result.Next && len(c.snap.Entries) >= catalog.KeptEntries:
		return nil, refuse("Ce qui a suivi cette position n’est plus gardé en entier\u00a0: " +
			"donnez plutôt since, un jour, ou lisez /data/v1/changes.")
	}
	all := slices.DeleteFunc(slices.Clone(chronicle.Latest(c.snap)), func(e catalog.Entry) bool {
		return chronicle.Time(&e) < args.Since || args.After != nil && e.Position <= *args.After || args.Since == "" && e.At == ""
	})
	room := newRoom(result)
	for i := range all {
		if e := &all[i]; e.Position == 0 {
			row := c.tell(e)
			if !room.takes(row) {
				break
			}
			result.Changes = append(result.Changes, row)
		}
	}
	slices.Reverse(result.Changes)
	slices.SortFunc(all, func(a, b catalog.Entry) int { return cmp.Compare(a.Position, b.Position) })
	for i := range all {
		if e := &all[i]; e.Position > 0 {
			row := c.tell(e)
			if !room.takes(row) {
				result.More = true
				return result, nil
			}
			result.Changes = append(result.Changes, row)
			result.Next = e.Position
		}
	}
	result.Next = last
	return result, nil
}

func (c *call) tell(e *catalog.Entry) told {
	old, now, note := chronicle.Values(e)
	return told{
		Entry: e.ID(), Position: e.Position, What: e.What, Kind: e.Kind, ID: e.Slug, Name: clip(e.Name, 200),
		URL: c.snap.Catalog.URL + chronicle.About(c.snap, e).Path, Day: e.Day,
		Title: clip(chronicle.Title(e, problem.French), 400),
		Field: clip(e.Field, 120), Old: clip(old, 120), New: clip(now, 120), Note: clip(note, 400),
		Sponsored: e.Kind == "article" && e.Note != "",
	}
}
