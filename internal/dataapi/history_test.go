package dataapi_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"palmares/internal/catalog"
)

// changed is a catalogue whose tool a had another price and another score before, and
// whose others have no history.
func changed() *catalog.Catalog {
	c := small()
	a := c.Tools[0]
	a.PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-06-01", OldPricing: "payant", OldPrice: "4 €/mois", NewPricing: "payant", NewPrice: "5 €/mois"},
		{ChangedAt: "2026-06-01", OldPricing: "gratuit", OldPrice: "0 €", NewPricing: "payant", NewPrice: "4 €/mois"},
		{ChangedAt: "2026-01-10", OldPricing: "payant", OldPrice: "9 €/mois", NewPricing: "gratuit", NewPrice: "0 €"},
	}
	a.ScoreHistory = []catalog.ScoreChange{{ChangedAt: "2026-03-05", NewScore: ptr(7), NewVerifiability: ptr(6.5), Note: "Premier essai."}}
	a.Verifiability = ptr(6.5)
	return c
}

func TestAHistoryHasEveryPriceAndScoreOrThoseOfADay(t *testing.T) {
	s := serve(t, changed(), nil)
	price := func(from, pricing, price string) string {
		return fmt.Sprintf(`{"from":%s,"pricing":"%s","price":"%s"}`, from, pricing, price)
	}
	now, between, free, oldest := price(`"2026-06-01"`, "payant", "5 €/mois"), price(`"2026-06-01"`, "payant", "4 €/mois"), price(`"2026-01-10"`, "gratuit", "0 €"), price("null", "payant", "9 €/mois")
	tested := `{"from":"2026-03-05","score":7,"verifiability":6.5,"obsolescence":null,"note":"Premier essai."}`
	untested := `{"from":null,"score":null,"verifiability":null,"obsolescence":null,"note":""}`
	body := func(prices, scores, at string) string {
		return fmt.Sprintf(`{"data":{"slug":"a","price":[%s],"score":[%s],"criteria":[]},"meta":{"at":%s}}`, prices, scores, at)
	}
	for query, want := range map[string]string{
		"":               body(strings.Join([]string{now, between, free, oldest}, ","), tested+","+untested, "null"),
		"?x=y":           body(strings.Join([]string{now, between, free, oldest}, ","), tested+","+untested, "null"),
		"?at=2026-11-01": body(now, tested, `"2026-11-01"`),
		"?at=2026-06-01": body(now, tested, `"2026-06-01"`),
		"?at=2026-05-31": body(free, tested, `"2026-05-31"`),
		"?at=2026-01-10": body(free, untested, `"2026-01-10"`),
		"?at=2026-01-09": body(oldest, untested, `"2026-01-09"`),
		"?at=0001-01-01": body(oldest, untested, `"0001-01-01"`),
	} {
		r := s.get("/data/v1/history/a" + query).OK()
		if r.Body != want {
			t.Errorf("%s: %s; want %s", r, r.Body, want)
		}
		s.get("/data/v1/history/a"+query, "If-None-Match: "+r.Header.Get("ETag")).Is(304)
	}
	if got := s.get("/data/v1/history/b").OK().Body; got != `{"data":{"slug":"b","price":[{"from":null,"pricing":"payant","price":"5 €/mois"}],"score":[{"from":null,"score":7,"verifiability":null,"obsolescence":null,"note":""}],"criteria":[]},"meta":{"at":null}}` {
		t.Error(got)
	}
	for _, query := range []string{"?at=9999-01-01", "?at=hier", "?at=", "?at=2026-02-30", "?at=2026-1-1", "?at=2026-01-01T00:00:00Z", "?at=2026-01-01&at=2026-01-01"} {
		s.get("/data/v1/history/a"+query).Fails(400, "invalid_parameter")
	}
}

// Editors may write a history with gaps, and one that does not lead to the current values.
func TestAHistoryHasWhatWasRecordedForEachDay(t *testing.T) {
	c := small()
	a := c.Tools[0]
	a.Price, a.Score = "12 €/mois", ptr(9)
	a.PriceHistory = []catalog.PriceChange{
		{ChangedAt: "2026-03-01", OldPricing: "payant", OldPrice: "8 €/mois", NewPricing: "payant", NewPrice: "10 €/mois"},
		{ChangedAt: "2026-01-01", OldPricing: "gratuit", OldPrice: "5 €/mois", NewPricing: "freemium", NewPrice: "6 €/mois"},
	}
	a.ScoreHistory = []catalog.ScoreChange{
		{ChangedAt: "2026-03-01", OldScore: ptr(4), NewScore: ptr(8), Note: "Mieux."},
		{ChangedAt: "2026-01-01", OldScore: ptr(2), NewScore: ptr(3), NewObsolescence: ptr(1)},
	}
	b := c.Tools[1]
	b.Price, b.PriceHistory = "10 €/mois", a.PriceHistory
	b.Score, b.ScoreHistory = ptr(8), a.ScoreHistory
	s := serve(t, c, nil)
	type period struct {
		From, Pricing, Price, Note string
		Score, Obsolescence        float64
	}
	read := func(path string) (price, score []period) {
		var body struct {
			Data struct{ Price, Score []period }
		}
		s.get("/data/v1/history/" + path).OK().Into(&body)
		return body.Data.Price, body.Data.Score
	}
	prices := []period{
		{Pricing: "payant", Price: "12 €/mois"},
		{From: "2026-03-01", Pricing: "payant", Price: "10 €/mois"},
		{From: "2026-01-01", Pricing: "freemium", Price: "6 €/mois"},
		{Pricing: "gratuit", Price: "5 €/mois"},
	}
	scores := []period{{Score: 9}, {From: "2026-03-01", Score: 8, Note: "Mieux."}, {From: "2026-01-01", Score: 3, Obsolescence: 1}, {Score: 2}}
	for path, want := range map[string][2]int{ // the first of the periods above, and the one after the last
		"a": {0, 4}, "a?at=" + catalog.Day(time.Now()): {0, 1}, "a?at=2026-03-02": {1, 2}, "a?at=2026-02-28": {2, 3}, "a?at=2025-12-31": {3, 4},
		"b": {1, 4}, "b?at=" + catalog.Day(time.Now()): {1, 2}, "b?at=2026-01-15": {2, 3}, "b?at=2025-12-31": {3, 4},
	} {
		price, score := read(path)
		if !slices.Equal(price, prices[want[0]:want[1]]) || !slices.Equal(score, scores[want[0]:want[1]]) {
			t.Errorf("%s: %+v, %+v", path, price, score)
		}
	}
}

func TestTheHistoryOfARenamedToolIsElsewhere(t *testing.T) {
	s := serve(t, changed(), nil)
	s.get("/data/v1/history/ancien?at=2026-01-09").Is(308).HasHeader("Location", "/data/v1/history/a?at=2026-01-09")
	s.get("/data/v1/history/gomme").Fails(404, "tool_not_found", "depuis le 2026-01-01 (mort)")
	s.get("/data/v1/history/zut").Fails(404, "tool_not_found", "/api/v1/tools")
	for _, path := range []string{"/data/v1/history", "/data/v1/history/", "/data/v1/history/a/", "/data/v1/history/a%2Fb", "/data/v1/history/a/b", "/data/v1/history/%61"} {
		s.get(path).Fails(404, "not_found")
	}
}

func TestTheListOfEmbeddingsSaysWhichChunksToFetchAgain(t *testing.T) {
	c := small()
	for i := range c.Tools[:2] {
		c.Tools[i].Tier, c.Tools[i].Verifiability = 1, ptr(6.5)
		c.Tools[i].Body = "Le début.\n\n## Prix <&>\n\nCinq euros.\n"
	}
	c.Tools[1].Score = ptr(9) // before the other one in the top set
	s := serve(t, c, almostUsedUp(t))
	s.get("/data/v1/embeddings").Fails(401, "missing_api_key")
	r := s.get("/data/v1/embeddings", "Authorization: good").OK().HasHeader("X-RateLimit-Remaining", "2")
	s.get("/data/v1/embeddings", "Authorization: good", "If-None-Match: "+r.Header.Get("ETag")).Is(304)
	var list struct {
		Data []struct {
			Slug, Hash   string
			MetadataHash string `json:"metadata_hash"`
			ChunkCount   int    `json:"chunk_count"`
			Chunks       []struct {
				UID, Hash string
				Position  int
			}
		}
		Meta struct{ Total int }
	}
	r.Into(&list)
	if len(list.Data) != 2 || list.Meta.Total != 2 {
		t.Fatalf("%+v", list)
	}
	hash := func(text string) string { return fmt.Sprintf("sha256-%x", sha256.Sum256([]byte(text))) }
	for i, slug := range []string{"a", "b"} {
		body, _ := s.live.Embeddings(slug) // what /api/embeddings/{slug} sends
		var doc struct {
			Hash   string
			Chunks []struct {
				ID, Text string
				Metadata json.RawMessage
			}
		}
		if err := json.Unmarshal(body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		entry, metadata := list.Data[i], ""
		if entry.Slug != slug || entry.Hash != doc.Hash || entry.ChunkCount != len(doc.Chunks) || len(entry.Chunks) != len(doc.Chunks) || len(doc.Chunks) < 2 {
			t.Fatalf("%+v; want %+v", entry, doc)
		}
		for j, chunk := range doc.Chunks {
			if got := entry.Chunks[j]; got.UID != slug+"#"+chunk.ID || got.Hash != hash(chunk.Text) || got.Position != j {
				t.Errorf("%+v; want %+v", got, chunk)
			}
			metadata += string(chunk.Metadata) + "\n"
		}
		if entry.MetadataHash != hash(metadata) {
			t.Errorf("the metadata hash of %s is %s", slug, entry.MetadataHash)
		}
	}
	empty := serve(t, small(), nil)
	if got := empty.get("/data/v1/embeddings", "Authorization: good").OK().Body; got != `{"data":[],"meta":{"total":0}}` {
		t.Error(got)
	}
}

func TestTheCriteriaOfATimeAreAllThatWereInForce(t *testing.T) {
	values := func(pairs ...any) (all catalog.Values) {
		for i := 0; i < len(pairs); i += 2 {
			v := catalog.Value{Name: pairs[i].(string)}
			switch x := pairs[i+1].(type) {
			case float64:
				v.Number = x
			case bool:
				v.Number, v.IsFlag = 1, true
			}
			all = append(all, v)
		}
		return all
	}
	c := changed()
	tool := c.Tools[0]
	tool.Criteria = values("exactitude", 8.5, "latence", 1.9)
	tool.CriteriaHistory = []catalog.CriteriaChange{
		{ChangedAt: "2026-06-01", Old: values("latence", 2.4), New: values("latence", 1.9)},
		{ChangedAt: "2026-03-01", Old: values("hors-ligne", true), New: values("exactitude", 8.5)},
	}
	s := serve(t, c, nil)
	now, between, oldest := `{"from":"2026-06-01","criteria":{"exactitude":8.5,"latence":1.9}}`,
		`{"from":"2026-03-01","criteria":{"exactitude":8.5,"latence":2.4}}`, `{"from":null,"criteria":{"hors-ligne":true,"latence":2.4}}`
	for query, want := range map[string]string{
		"":               now + "," + between + "," + oldest,
		"?at=2026-11-01": now,
		"?at=2026-05-31": between,
		"?at=2025-01-01": oldest,
	} {
		if got := s.get("/data/v1/history/" + tool.Slug + query).OK().Body; !strings.Contains(got, `"criteria":[`+want+`]`) {
			t.Errorf("%s: %s; want %s", query, got, want)
		}
	}
}
