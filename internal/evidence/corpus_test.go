package evidence

import (
	"cmp"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
)

const heldOut = "held out"

// A sample is a page of the corpus, and what is recorded of it.
type sample struct {
	name, page, address string
	claim               Claim
	isLie               bool
	part                string
}

// readCorpus reads pages that follow headers such as "=== name; price=19 €/mois; hint=Pro".
func readCorpus(t testing.TB, file string, isLie bool) (list []sample) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "=== "), "\n=== ") {
		header, page, _ := strings.Cut(part, "\n")
		name, rest, _ := strings.Cut(header, "; ")
		values := map[string]string{}
		for pair := range strings.SplitSeq(rest, "; ") {
			key, value, _ := strings.Cut(pair, "=")
			values[key] = value
		}
		if page == "" || !catalog.IsPrice(values["price"]) {
			t.Fatalf("%s: %q has no page or no price", file, header)
		}
		sum := fnv.New32a()
		sum.Write([]byte(name))
		part := "tuned"
		switch {
		case strings.HasPrefix(file, "blind"):
			part = "blind"
		case strings.HasPrefix(file, "stranger"):
			part = "stranger"
		case values["round"] != "":
			part, _, _ = strings.Cut(file, "-")
			part += " " + values["round"]
		case sum.Sum32()%2 == 1 && values["tuned"] == "":
			part = heldOut
		}
		list = append(list, sample{
			name: name, page: "<!doctype html>" + page, isLie: isLie, part: part,
			address: cmp.Or(values["url"], "https://plume.example/tarifs"),
			claim: Claim{
				Name: cmp.Or(values["tool"], "Plume"), Pricing: catalog.Pricing(cmp.Or(values["pricing"], "payant")), Price: values["price"],
				Display: values["display"], Hint: values["hint"],
			},
		})
	}
	return list
}

// TestTheCorpusIsJudgedWell prints how many prices of the corpus are judged rightly. About half
// of the pages are held out by a hash: what is wrong with those is never looked at. Those that were
// written to improve the judgement say so.
//
// The pages of the adversary were written to fool it: the first round without having read the program, each of
// the others after what the one before had fooled was made right in kind. So they are tuned by now. When each
// round was first judged, of 61, 49, 41, 15 and 10 lies 6, 22, 20, 6 and 5 were believed; of 34, 20, 24, 0 and 12 true
// prices 30, 19, 22, 0 and 11 were confirmed, and of all 1 called changed.
//
// The blind ones were written before the rules that hold now. Those were made without looking at their texts, but their
// totals were watched meanwhile, so that they say less of unknown pages: of 40 lies the rules before believed 4 and
// these 0, and of 30 true prices they confirmed 29 and 27.
//
// The stranger's pages were written by somebody who had not read the program, for two earlier states of it: of 155 lies these
// believed 9 and 0, and of 110 true prices they confirmed 90.9 % and 69.1 %. The rules for plans without a hint, for labels and
// for the ends of sentences were made by looking at them, so that they are tuned by now.
//
// The pages of plans and sentences were written for those rules in four rounds, as those of the adversary were. When each was first
// judged, of 71, 72, 40 and 20 lies 16, 14, 8 and 7 were believed, and of 53, 44, 30 and 15 true prices 34, 34, 23 and 10 confirmed.
//
// The fresh pages were written, each round before it was judged, after the ways in which sites are built: of 106, 59 and 40 lies 1,
// 11 and 1 were believed, and of 90, 55 and 40 true prices 82, 45 and 37 were confirmed, and 2, 1 and 2 called changed.
//
// The pages of kinds are from a stranger's set of 100 true prices and 100 lies: all true ones that were not confirmed when it was first
// judged, which were 27, two of them called changed, and a third of the lies, of which none was believed.
//
// Those of whole are every eighth of another stranger's, which are as long as real ones, with testimonials, questions and
// news: when first judged 34 % of its 100 true prices were confirmed, nearly all others being taken for dated by the news.
//
// Those of vendors are every tenth of thirteen strangers' sets of 100 true prices and 100 lies each (one has 86), written without
// having read the program, and judged one after the other: of the true ones 54, 60, 71, 70, 81, 70, 74, 83, 84, 83, 83, 94 and 87 % were
// confirmed when first judged, and 9, 2, 1, 3, 3, 2, 2, 1, 6, 0, 1, 1 and 3 % called changed; of the lies 1, 0, 0, 0, 1, 0, 1, 1, 0, 4, 0, 0
// and 0 were believed. What was wrong with each but the last two was then made right in kind.
func TestTheCorpusIsJudgedWell(t *testing.T) {
	corpus := slices.Concat(readCorpus(t, "true.txt", false), readCorpus(t, "lies.txt", true),
		readCorpus(t, "adversary-true.txt", false), readCorpus(t, "adversary-lies.txt", true),
		readCorpus(t, "blind-true.txt", false), readCorpus(t, "blind-lies.txt", true),
		readCorpus(t, "stranger-true.txt", false), readCorpus(t, "stranger-lies.txt", true),
		readCorpus(t, "plans-true.txt", false), readCorpus(t, "plans-lies.txt", true),
		readCorpus(t, "fresh-true.txt", false), readCorpus(t, "fresh-lies.txt", true),
		readCorpus(t, "kinds-true.txt", false), readCorpus(t, "kinds-lies.txt", true),
		readCorpus(t, "whole-true.txt", false), readCorpus(t, "whole-lies.txt", true),
		readCorpus(t, "vendors-true.txt", false), readCorpus(t, "vendors-lies.txt", true))
	t.Logf("%-11s %5s %14s %14s %5s %15s", "pages", "true", "confirmed", "changed", "lies", "lies confirmed")
	lies := 0
	for _, part := range []string{"tuned", heldOut, "adversary 1", "adversary 2", "adversary 3", "adversary 4", "adversary 5", "blind", "stranger", "plans 1", "plans 2", "plans 3", "plans 4", "fresh 1", "fresh 2", "fresh 3", "kinds 1", "whole 1", "vendors 1"} {
		var honest, confirmed, changed, lied, believed int
		for _, s := range corpus {
			if s.part != part {
				continue
			}
			result, found, _ := judgeAt(&s.claim, []byte(s.page), s.address)
			p := Proof{Slug: "plume", URL: s.address, CheckedAt: time.Unix(1, 0), Result: result, Found: found, Price: s.claim.wanted()}
			if !p.isSound() {
				t.Errorf("%s: the line would be refused: %s", s.name, p.line())
			}
			if s.isLie {
				lied++
			} else {
				honest++
			}
			switch {
			case s.isLie && result == Confirmed:
				believed++
			case s.isLie:
				continue
			case result == Confirmed:
				confirmed++
				continue
			case result == Changed:
				changed++
			}
			if part != heldOut && part != "blind" {
				t.Logf("%s: %s, found %v", s.name, result, found)
			}
		}
		t.Logf("%-11s %5d %12.1f %% %12.1f %% %5d %15d", part, honest, 100*float64(confirmed)/float64(max(1, honest)), 100*float64(changed)/float64(max(1, honest)), lied, believed)
		if believed > 0 || 100*confirmed < 85*honest || 100*changed > 5*honest {
			t.Errorf("%s: too much is wrong", part)
		}
		lies += lied
	}
	if len(corpus) < 120 || lies < 60 {
		t.Errorf("%d pages, %d of them lies", len(corpus), lies)
	}
}
