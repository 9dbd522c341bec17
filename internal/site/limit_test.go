package site_test

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestPagesThatAreMadeWaitForRoomAndTheOthersDoNot(t *testing.T) {
	v := open(t, small())
	v.get("/outils").ok()
	leave := v.site.OccupyPages(t.Context())
	var refused sync.WaitGroup
	for _, path := range []string{"/outils?q=abeille", "/comparer?outils=abeille,bourdon", "/prix", "/carte.md?pricing=zzz"} {
		refused.Go(func() {
			v.get(path).answers(503).is("Retry-After", "5").is("Cache-Control", "no-store").says("Trop de visites")
		})
	}
	refused.Wait()
	v.get("/outils").ok()
	leave()
	v.get("/outils?q=abeille").ok()
	v.get("/prix").ok()
}

func TestAPageThatManyWantAtOnceIsMadeOnce(t *testing.T) {
	v := open(t, small())
	const many = 50
	ask := func(path string, location func(int) string) (made int32, to [many]string) {
		var asked, served sync.WaitGroup
		var count atomic.Int32
		asked.Add(many)
		for i := range many {
			served.Go(func() {
				asked.Done()
				to[i] = v.site.MakePage(path, location(i), func() { count.Add(1); asked.Wait() })
			})
		}
		served.Wait()
		return count.Load(), to
	}
	if made, _ := ask("/one", func(int) string { return "" }); made != 1 {
		t.Errorf("a page was made %d times", made)
	}
	name := func(i int) string { return "/" + string(rune('A'+i)) }
	_, to := ask("/moved", name)
	for i := range to {
		if to[i] != name(i) {
			t.Errorf("a visitor got the redirect of another: %s", to[i])
		}
	}
}

func TestARefusedMapIsNotDrawn(t *testing.T) {
	v := open(t, small())
	for _, path := range []string{"/carte?pricing=cher", "/carte?pricing=cher&category=chat"} {
		v.get(path).answers(400).says("cette valeur n’existe pas", `<select id="page.pricing"`, "data-tally", "data-results").
			saysNot("<svg class=\"plot", "Abeille", "Aucun outil", "Le catalogue est encore vide")
	}
	v.get("/carte.md?pricing=cher").answers(400).says("cette valeur n’existe pas").saysNot("Abeille", "Aucun outil")
}
