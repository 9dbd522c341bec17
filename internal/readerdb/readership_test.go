package readerdb_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/accountdb"
	"palmares/internal/pseudonym"
	"palmares/internal/readerdb"
	"palmares/internal/readership"
	"palmares/internal/sqldb"
	"palmares/internal/testkit"
)

func TestThreeNodesAddTheirViewsAndNoBatchTwice(t *testing.T) {
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		var all sync.WaitGroup
		s := databases.OpenDSN(t, dsn)
		for n := range 3 {
			own := s
			if s.SQL.Shared() {
				own = databases.OpenDSN(t, dsn)
			}
			all.Go(func() {
				for i := range 20 {
					views := map[readership.Name]int64{
						{Day: "2026-11-14", Kind: readership.Hosts, Name: "forum.example"}:   1,
						{Day: "2026-11-15", Kind: readership.Pages, Name: "/"}:               2,
						{Day: "2026-11-15", Kind: readership.Pages, Name: readership.Others}: 1,
					}
					for j := range 100 { // more than a day has room for
						views[readership.Name{Day: "2026-11-15", Kind: readership.Pages, Name: fmt.Sprintf("/outils/%d-%d-%d", n, i, j)}] = 1
					}
					b := &readership.Batch{Writer: fmt.Sprint("2026-11-15 ", n), Number: int64(i + 1), Views: views}
					for range 2 { // the second time as if the first had failed
						err := own.Readership.Save(t.Context(), b)
						for errors.Is(err, sqldb.ErrBusy) || errors.Is(err, sqldb.ErrUnavailable) {
							err = own.Readership.Save(t.Context(), b)
						}
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		pages, err := s.Readership.Top(t.Context(), readership.Pages, "2026-11-15", "2026-11-15", 10_000)
		if err != nil {
			t.Fatal(err)
		}
		// Of 6,000 pages and the home page, 5,000 have a row, and the most read one has.
		if diff := cmp.Diff([]readerdb.Views{{"2026-11-15", readership.Others, 60 + 1001}, {"2026-11-15", "/", 120}}, pages[:2]); diff != "" || len(pages) != 5001 {
			t.Error(len(pages), diff)
		}
		hosts, err := s.Readership.Top(t.Context(), readership.Hosts, "2026-11-01", "2026-11-15", 5)
		if diff := cmp.Diff([]readerdb.Views{{"2026-11-14", "forum.example", 60}}, hosts); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if _, err := s.Readership.Begin(t.Context(), "2026-11-16", "2026-11-16", [32]byte{}); err != nil { // as a wrong clock would
			t.Fatal(err)
		}
		for path, want := range map[string]int{"": 60 + 120 + 6000, "/": 120} {
			days, err := s.Readership.Daily(t.Context(), path, "2026-11-01")
			if err != nil || len(days) != 1 || days[0].Day != "2026-11-15" || days[0].Views != want {
				t.Errorf("%q: %v %v", path, days, err)
			}
		}
	})
}

// ending stops a counter once it has begun a day.
type ending struct {
	*readerdb.Readership
	stop func()
}

func (e ending) Begin(ctx context.Context, oldest, week string, candidate pseudonym.Key) (pseudonym.Key, error) {
	defer e.stop()
	return e.Readership.Begin(ctx, oldest, week, candidate)
}

func TestNothingThatIsCountedOfReadersIdentifiesAnybody(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) // a Sunday
		hidden := map[string][]byte{}
		hide := func(what string, b []byte) {
			hidden[what], hidden[what+" in hexadecimal"] = b, []byte(hex.EncodeToString(b))
		}
		for _, text := range []string{"Firefox", "essai=identifiant", "identifiant", "ada-lovelace", "chemin-secret", "recherche secrète", "fr-CA"} {
			hide(text, []byte(text))
		}
		visit := func(address, words string) {
			ctx, stop := context.WithCancel(t.Context())
			c := readership.New(readership.Config{
				Store: ending{s.Readership, stop}, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
				Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, // of httptest
			})
			if err := c.Run(ctx); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "/outils?page=2&qui=ada-lovelace", nil)
			r.Header.Set("User-Agent", "Mozilla/5.0 Firefox/145.0")
			r.Header.Set("Cookie", "essai=identifiant")
			r.Header.Set("Accept-Language", "fr-CA")
			r.Header.Set("Referer", "https://forum.example/ada-lovelace?chemin-secret")
			r.Header.Set("X-Forwarded-For", address)
			hide(address, []byte(address))
			as16 := netip.MustParseAddr(address).As16()
			hide("the bytes of "+address, as16[:])
			c.View(r)
			c.Missed(r, words)
			if err := c.Run(ctx); err != nil { // which saves, and ends
				t.Fatal(err)
			}
		}
		for i := range 5 {
			visit(fmt.Sprintf("203.0.113.%d", 100+i), "aspirateur quantique")
			visit("203.0.113.200", "aspirateur quantique")
			visit("203.0.113.201", "recherche secrète") // one network, five times
		}
		words, err := s.Readership.Missed(t.Context(), "2026-11-01", 10)
		if diff := cmp.Diff([]readerdb.Views{{"2026-11-09", "aspirateur quantique", 6}}, words); err != nil || diff != "" {
			t.Error(err, diff)
		}
		key, err := accountdb.KeyOf(t.Context(), s.SQL, accountdb.ForSearches, "2026-11-09", pseudonym.Key{})
		if err != nil {
			t.Fatal(err)
		}
		stored := testkit.AtRest(t, s.SQL.Reads())
		for _, there := range []string{"forum.example", "aspirateur quantique", fmt.Sprintf("%x", key)} {
			if !bytes.Contains(stored, []byte(there)) {
				t.Errorf("%s is not stored", there)
			}
		}
		for what, secret := range hidden {
			if bytes.Contains(stored, secret) {
				t.Errorf("%s is stored", what)
			}
		}
		now = now.AddDate(0, 0, 1) // a Monday: the key has gone, and with it what guesses could be compared with
		visit("203.0.113.202", "x")
		if stored := testkit.AtRest(t, s.SQL.Reads()); bytes.Contains(stored, []byte(fmt.Sprintf("%x", key))) {
			t.Error("the key of last week is still there")
		}
		left, err := s.Readership.Missed(t.Context(), "2026-11-01", 10)
		if diff := cmp.Diff(words, left); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
