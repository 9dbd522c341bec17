package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"palmares/internal/quota"
)

func renew(t *testing.T, s *Store, own quota.Node, gone ...quota.Node) []quota.Node {
	t.Helper()
	nodes, err := s.Usage.Renew(t.Context(), own, gone)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(nodes, func(a, b quota.Node) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}

func TestNodesSeeEachOtherAndRemoveOnlyWhatHasNotBeenRenewed(t *testing.T) {
	s := open(t, databases.Postgres(t))
	expect := func(got []quota.Node, want ...quota.Node) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("nodes %+v; want %+v", got, want)
		}
	}
	join := func(id string) {
		t.Helper()
		if err := s.Usage.Join(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	node := func(id string, renewals int64, sole bool) quota.Node {
		return quota.Node{ID: id, Renewals: renewals, Sole: sole}
	}
	expect(renew(t, s, node("a", 1, false))) // it has no row, and gets none
	join("a")
	expect(renew(t, s, node("a", 2, false)), node("a", 2, false))
	expect(renew(t, s, node("a", 4, true)), node("a", 4, true))
	expect(renew(t, s, node("a", 3, false))) // it was delayed
	join("a")                                // it has a row
	join("b")
	expect(renew(t, s, node("b", 1, false)), node("a", 4, true), node("b", 1, false))
	renew(t, s, node("a", 5, true))
	renew(t, s, node("b", 2, false), node("a", 4, true))
	expect(renew(t, s, node("b", 3, false)), node("a", 5, true), node("b", 3, false))
	renew(t, s, node("b", 4, false), node("a", 5, true), node("c", 0, false))
	expect(renew(t, s, node("b", 5, false)), node("b", 5, false))
	expect(renew(t, s, node("a", 6, true)), node("b", 5, false))
	if err := s.Usage.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	expect(renew(t, s, node("a", 7, false)))
}

// Many nodes come, try to be the only one, and go. Each follows the rules of package
// quota: what it reads decides only about what it wrote before.
func TestNoNodeCountsBesideTheOnlyOne(t *testing.T) {
	dsn := databases.Postgres(t)
	stores := []*Store{open(t, dsn), open(t, dsn)}
	var inStore, inMemory, soles atomic.Int64
	var all sync.WaitGroup
	for i, s := range stores {
		all.Go(func() {
			for round := range 200 {
				own := quota.Node{ID: fmt.Sprint(i, " ", round)}
				others := func() (n int, sole bool) {
					own.Renewals++
					nodes, err := s.Usage.Renew(t.Context(), own, nil)
					if err != nil {
						t.Error(err)
					}
					return len(nodes) - 1, slices.ContainsFunc(nodes, func(n quota.Node) bool { return n.Sole && n.ID != own.ID })
				}
				if err := s.Usage.Join(t.Context(), own.ID); err != nil {
					t.Error(err)
					return
				}
				for _, sole := others(); sole && !t.Failed(); _, sole = others() {
				}
				inStore.Add(1)
				if inMemory.Load() > 0 {
					t.Error("a node counts in the store beside one that counts in memory")
				}
				own.Sole = true
				if n, _ := others(); n == 0 {
					if n, _ := others(); n == 0 {
						soles.Add(1)
						inMemory.Add(1)
						for range 3 { // for a while
							others()
							if inStore.Load() > 1 {
								t.Error("a node counts in memory beside another")
							}
						}
						inMemory.Add(-1)
					}
				}
				own.Sole = false
				others()
				inStore.Add(-1)
				if err := s.Usage.Leave(t.Context(), own.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d of 400 were the only one for a while", soles.Load())
}

func TestANodeOfAReleaseWithoutRowsIsSeen(t *testing.T) {
	dsn := databases.Postgres(t)
	s := open(t, dsn)
	own := quota.Node{ID: "a"}
	if err := s.Usage.Join(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	today(t, s) // how this release counts
	renew(t, s, own)
	if nodes := renew(t, s, own); len(nodes) != 1 {
		t.Fatalf("nodes %+v; want one", nodes)
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	var count int
	if err := db.QueryRowContext(t.Context(), `
	WITH clock AS (SELECT clock_timestamp() AS now),
	open AS (SELECT now FROM clock WHERE $1::text > '') SELECT count(*) FROM open`, "2026-11-16").Scan(&count); err != nil {
		t.Fatal(err)
	}
	if nodes := renew(t, s, own); len(nodes) != 2 || nodes[0] != (quota.Node{}) {
		t.Errorf("nodes %+v; want another one, without a name", nodes)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
