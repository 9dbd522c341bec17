// Package newsletter writes to readers who follow something by mail: at once, of what is urgent, or weekly. The entries
// of the chronicle after the cursor of a reader are news to her. Those that she was told, and that have changed or were
// taken back since, are corrections. What only records tell is in no mail.
//
// What a mail tells is written when it is queued, in the transaction that moves the cursor. Nothing else remembers
// what was told.
package newsletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"palmares/internal/accountdb"
	"palmares/internal/catalog"
	"palmares/internal/chronicle"
	"palmares/internal/mail"
	"palmares/internal/markdown"
	"palmares/internal/problem"
	"palmares/internal/readerdb"
	"palmares/internal/snapshot"
	"palmares/internal/sqldb"
)

const (
	// weeklyHour is when the mails of a week leave on Monday, UTC.
	weeklyHour = 6 * time.Hour
	// maxEntries is how many entries a mail tells.
	maxEntries = 50
)

// A Newsletter queues and writes mails to readers. All fields are required.
type Newsletter struct {
	Follows  *readerdb.Follows // sealed
	Links    *accountdb.Links  // sealed
	Snapshot func() *snapshot.Snapshot
	EndURL   func(token, all string) string // the address that ends what a reader follows: see readerdb.Follow
	Now      func() time.Time

	atOnce, weekly string // the rounds that are done
}

// Queue queues what is due. Every node may: what one has queued, the others find done. One goroutine of a node does.
func (n *Newsletter) Queue(ctx context.Context) error {
	now := n.Now().UTC()
	err := n.tell(ctx, &n.atOnce, (*catalog.Entry).IsUrgent, readerdb.Round{
		Pace: readerdb.FollowAtOnce, Period: now.Format(time.DateOnly), Most: readerdb.MailsADay, Now: now,
	})
	if err != nil {
		return err
	}
	monday := now.Add(-weeklyHour).Truncate(24 * time.Hour)
	monday = monday.AddDate(0, 0, -(int(monday.Weekday())+6)%7)
	end := catalog.FormatTime(monday.Add(weeklyHour))
	return n.tell(ctx, &n.weekly, func(e *catalog.Entry) bool { return e.At < end }, readerdb.Round{
		Pace: readerdb.FollowWeekly, Period: monday.Format(time.DateOnly), Most: 1, Now: now,
	})
}

// tell queues the mails of a round up to the last entry that is one for it, unless it is done.
func (n *Newsletter) tell(ctx context.Context, done *string, isFor func(*catalog.Entry) bool, r readerdb.Round) error {
	s := n.Snapshot()
	last := slices.IndexFunc(s.Entries, func(e catalog.Entry) bool { return e.At != "" && isFor(&e) })
	if last < 0 {
		return nil
	}
	r.UpTo = s.Entries[last].Position
	round := fmt.Sprint(r.Period, " ", r.UpTo)
	if round == *done {
		return nil
	}
	r.Write = newNews(s, s.Entries[last:], r.Pace).write
	if err := n.Follows.Tell(ctx, r); err != nil {
		return err
	}
	*done = round
	return nil
}

// news is what a round tells.
type news struct {
	snap    *snapshot.Snapshot
	entries map[string][]*states // by topic that a state of theirs is on
}

// states are those of an entry up to a round, the last first.
type states []*catalog.Entry

// areOn reports whether one of the states is on a topic.
func (s states) areOn(topic string) bool {
	return slices.ContainsFunc(s, func(e *catalog.Entry) bool { return topic == "" || slices.Contains(e.Topics, topic) })
}

// newNews returns what is told at a pace, given the states of entries up to a round, the last first.
func newNews(s *snapshot.Snapshot, entries []catalog.Entry, pace string) news {
	n, byID := news{s, map[string][]*states{}}, map[string]*states{}
	for i := range entries {
		e := &entries[i]
		if e.At == "" || pace == readerdb.FollowAtOnce && !e.IsUrgent() {
			continue
		}
		of := byID[e.ID()]
		if of == nil {
			of = &states{}
			byID[e.ID()] = of
		}
		for _, topic := range append([]string{""}, e.Topics...) {
			if !of.areOn(topic) {
				n.entries[topic] = append(n.entries[topic], of)
			}
		}
		*of = append(*of, e)
	}
	return n
}

// A reader follows something.
type reader struct {
	*readerdb.Follow
	topics []string // all names of it
}

// told returns the last state that mails to readers, who are one, have told; nil for none.
func (s states) told(readers []reader) *catalog.Entry {
	for _, e := range s {
		for _, r := range readers {
			if r.Began < e.Position && e.Position <= r.Cursor && e.IsOn(r.topics) {
				return e
			}
		}
	}
	return nil
}

// A letter is the content of a mail.
type letter struct {
	Follows []string // ids
	Topics  string   // their names
	Entries []mail.Entry
	More    int // entries that are left out
}

// write returns the letter about what a reader follows, as JSON; "" if there is nothing to tell.
func (n news) write(follows []readerdb.Follow) string {
	var l letter
	var names []string
	isCorrection := map[*catalog.Entry]bool{} // of all that is told
	readers := make([]reader, len(follows))
	for i := range follows {
		readers[i] = reader{&follows[i], chronicle.Names(n.snap, follows[i].Topic)}
	}
	for _, r := range readers {
		isNew := false
		for _, topic := range r.topics {
			for _, of := range n.entries[topic] {
				now := (*of)[0]
				if now.Position <= r.Cursor {
					continue
				}
				was := of.told(readers)
				wasTold := was != nil && !was.Withdrawn
				if wasTold && !was.Says(now) || !wasTold && !now.Withdrawn && now.IsOn(r.topics) {
					isCorrection[now], isNew = wasTold, true
				}
			}
		}
		if isNew {
			l.Follows, names = append(l.Follows, r.ID), append(names, TopicName(n.snap, r.Topic))
		}
	}
	if len(isCorrection) == 0 {
		return ""
	}
	list := slices.SortedFunc(maps.Keys(isCorrection), func(a, b *catalog.Entry) int {
		return int(b.Position - a.Position)
	})
	l.Topics, l.More = strings.Join(names, "\u00a0», «\u00a0"), max(0, len(list)-maxEntries)
	for _, e := range list[:len(list)-l.More] {
		words := chronicle.Title
		if isCorrection[e] {
			words = chronicle.Correction
		}
		line := mail.Entry{Title: words(e, problem.French), Page: n.snap.Catalog.URL + chronicle.About(n.snap, e).Path}
		if e.What == catalog.WhatScore && !e.Withdrawn {
			line.Summary = markdown.NoBreak(e.Note)
		}
		l.Entries = append(l.Entries, line)
	}
	content, err := json.Marshal(l)
	if err != nil {
		panic(err) // texts and numbers are always valid
	}
	return string(content)
}

// Bulletin returns what somebody who follows something is told, or asked to confirm.
func (n *Newsletter) Bulletin(ctx context.Context, r mail.Request) (b mail.Bulletin, _ error) {
	if r.Kind == mail.ConfirmFollow {
		asked, malformed := url.ParseQuery(r.About)
		to, err := n.Links.Open(r.To)
		b.To, b.Topics = to, TopicName(n.Snapshot(), Followed(n.Snapshot(), asked.Get("quoi")))
		b.IsWeekly = asked.Get("quand") == readerdb.FollowWeekly
		return b, errors.Join(malformed, err)
	}
	var l letter
	if err := json.Unmarshal([]byte(r.Content), &l); err != nil {
		return b, err
	}
	b.Topics, b.Entries, b.More = l.Topics, l.Entries, l.More
	for _, id := range l.Follows {
		f, err := n.Follows.Find(ctx, id)
		if errors.Is(err, sqldb.ErrNotFound) {
			continue
		}
		if err != nil {
			return b, err
		}
		all := ""
		if b.To != "" {
			all = f.All
		}
		b.To, b.End = f.Address, n.EndURL(f.Token, all)
	}
	if b.To == "" {
		return b, mail.ErrObsolete // she has ended it
	}
	return b, nil
}
