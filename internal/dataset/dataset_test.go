package dataset_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite"

	"palmares/internal/catalog"
	"palmares/internal/dataset"
	"palmares/internal/markdown"
	"palmares/internal/record"
	"palmares/internal/snapshot"
	"palmares/internal/synthetic"
	"palmares/internal/testkit"
)

const published = "2026-11-16T09:30:00.250Z"

// varied is a catalogue with every field, with texts that spreadsheets would take for
// formulas, and with a comparison that is not published.
func varied() *catalog.Catalog {
	c := synthetic.Catalog(400, 7)
	c.Tools[0].Tagline, c.Tools[1].Tagline, c.Tools[2].Tagline = `=HYPERLINK("x")`, "-5 %, \"net\"", "\u00e9diteur d’ici"
	c.Comparisons[0].Published = false
	c.Pictures = map[string]catalog.Picture{}
	for _, name := range []string{"a", "b", "c"} {
		c.Pictures["images/"+name+".png"] = catalog.Picture{Path: "images/" + name + ".png", Hash: strings.Repeat("0f", 32), Ext: "png"}
	}
	catalog.CarryOver(&catalog.Catalog{}, c, "2026-11-01")
	return c
}

func show(c *catalog.Catalog, version int64, feed string) *snapshot.Snapshot {
	s := snapshot.Build(c, version, "2026-11-16")
	s.PublishedAt = published
	s.SetFeed(record.First(feed, c, version, published))
	return s
}

// exports is a folder of exports, with the process that writes them.
type exports struct {
	*dataset.Exports
	t   *testing.T
	dir string
	log *testkit.Log
}

func open(t *testing.T, dir string) *exports {
	t.Helper()
	e := &exports{t: t, dir: dir, log: &testkit.Log{}}
	e.Exports = dataset.New(dataset.Config{Dir: dir, Release: "1.2.3", Log: slog.New(slog.NewTextHandler(e.log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e *exports) get(s *snapshot.Snapshot) *dataset.Export {
	e.t.Helper()
	x, err := e.Get(e.t.Context(), s)
	if err != nil {
		e.t.Fatal(err, e.log)
	}
	return x
}

// read returns the content of a file, which must be as the manifest says.
func read(t *testing.T, x *dataset.Export, name string) []byte {
	t.Helper()
	about := x.File(name)
	f, err := x.Open(about)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != about.SHA256 || int64(len(b)) != about.Bytes {
		t.Errorf("%s is not as the manifest says: %+v", name, about)
	}
	if filepath.Ext(name) != ".zst" {
		return b
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// rowsOf returns the number of rows of a file, as the manifest has it.
func rowsOf(x *dataset.Export, name string) int {
	if f := x.File(name); f != nil {
		return int(f.Rows)
	}
	return -1
}

func TestTheFilesHaveTheRecordsThatTheStateProves(t *testing.T) {
	s := show(varied(), 12, "flux-1")
	x := open(t, t.TempDir()).get(s)
	var all []record.Change
	for _, kind := range catalog.WrittenKinds {
		name := dataset.FileOf(kind)
		lines := bufio.NewScanner(bytes.NewReader(read(t, x, name)))
		lines.Buffer(nil, 1<<20)
		var slugs []string
		for lines.Scan() {
			var head struct{ Slug string }
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
				t.Fatal(err)
			}
			slugs = append(slugs, head.Slug)
			all = append(all, record.Change{Kind: kind, Slug: head.Slug, Hash: record.Hash(lines.Bytes())})
		}
		if !slices.IsSorted(slugs) || len(slugs) == 0 || rowsOf(x, name) != len(slugs) {
			t.Errorf("%s has %d rows, and %d lines: %v", name, rowsOf(x, name), len(slugs), slugs)
		}
	}
	all = append(all, record.Change{Kind: catalog.CatalogueKind, Slug: "catalogue", Hash: record.Hash(read(t, x, "catalogue.json"))})
	if got := record.State(all); got != x.State || got != s.Feed.State {
		t.Errorf("the files have the state %s, the manifest %s, the feed %s", got, x.State, s.Feed.State)
	}
	var names []string
	for _, f := range x.Files {
		names = append(names, f.Name())
		if want := dataset.Path + "/" + filepath.Base(filepath.Dir(f.Path)) + "/" + f.Name(); f.Path != want || f.Type == "" {
			t.Errorf("%+v", f)
		}
	}
	if !slices.Equal(names, dataset.Files) || x.Version != 12 || x.Feed != "flux-1" || x.Position != s.Feed.Last || x.PublishedAt != published || x.Credit != s.Catalog.CreditLine() {
		t.Errorf("%s", x.JSON)
	}
}

func TestChunksAreThoseOfTheEmbeddings(t *testing.T) {
	s := show(varied(), 1, "flux-1")
	x := open(t, t.TempDir()).get(s)
	text := string(read(t, x, dataset.ChunksFile))
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, x, "chunks.ndjson.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if same, err := io.ReadAll(zipped); err != nil || string(same) != text || rowsOf(x, "chunks.ndjson.gz") != len(lines) {
		t.Errorf("the chunks in gzip differ: %d and %d bytes, %v", len(same), len(text), err)
	}
	var want []string
	top := s.Catalog.TopSet()
	slices.Sort(top)
	for _, i := range top {
		tool := s.Catalog.Tools[i]
		for _, c := range s.Catalog.EmbeddingsDoc(tool, markdown.Sections(tool.Body)).Chunks {
			want = append(want, tool.Slug+"#"+c.ID+" "+record.Hash([]byte(c.Text))+" "+c.Metadata.CanonicalURL+" "+c.Text)
		}
	}
	if len(want) == 0 || len(lines) != len(want) {
		t.Fatalf("%d lines; want %d", len(lines), len(want))
	}
	for i, line := range lines {
		var c struct {
			UID, Slug, Hash, URL, Text string
			Metadata                   catalog.ChunkMetadata
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil || c.UID+" "+c.Hash+" "+c.URL+" "+c.Text != want[i] || c.Metadata.Slug+"#"+c.Metadata.Section != c.UID {
			t.Fatalf("%s; want %s", line, want[i])
		}
	}
}

func TestTablesAreForSpreadsheets(t *testing.T) {
	s := show(varied(), 1, "flux-1")
	x := open(t, t.TempDir()).get(s)
	raw := string(read(t, x, "outils.csv"))
	if strings.Count(raw, "\n") != strings.Count(raw, "\r\n") || !strings.HasPrefix(raw, "slug,name,domain,") {
		t.Errorf("%.200s", raw)
	}
	rows, err := csv.NewReader(strings.NewReader(raw)).ReadAll()
	if err != nil || len(rows) != 401 || rowsOf(x, "outils.csv") != 400 {
		t.Fatal(len(rows), err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	if a, b, c := rows[1][column("tagline")], rows[2][column("tagline")], rows[3][column("tagline")]; a != `'=HYPERLINK("x")` || b != `'-5 %, "net"` || c != "éditeur d’ici" {
		t.Errorf("%q, %q, %q", a, b, c)
	}
	for i, row := range rows[1:] {
		tool := s.Catalog.Tools[i]
		score := ""
		if tool.Score != nil {
			score = fmt.Sprint(*tool.Score)
		}
		monthly := ""
		if euros := tool.EurosPerMonth(); euros != nil {
			monthly = strconv.FormatFloat(*euros, 'f', -1, 64)
		}
		if row[column("euros_per_month")] != monthly {
			t.Errorf("%s costs %q a month, not %q", tool.Slug, row[column("euros_per_month")], monthly)
		}
		if row[0] != tool.Slug || row[column("score")] != score || row[column("mainstream")] != fmt.Sprint(tool.Mainstream) ||
			row[column("author")] != strings.Join(tool.Authors, " ; ") {
			t.Errorf("%q; want the tool %+v", row, tool)
		}
	}
	prices, err := csv.NewReader(bytes.NewReader(read(t, x, "prix.csv"))).ReadAll()
	if err != nil || len(prices)-1 != rowsOf(x, "prix.csv") {
		t.Fatal(len(prices), err)
	}
	current, changes, oldest, seen := 0, 0, 0, map[string]bool{}
	for _, row := range prices[1:] {
		if !seen[row[0]] {
			seen[row[0]] = true
			if tool := s.Catalog.Tool(row[0]); string(tool.Pricing) == row[3] && tool.Price == strings.TrimPrefix(row[4], "'") {
				current++
			}
		}
		if row[5] != "" {
			changes++
		}
		history := s.Catalog.Tool(row[0]).PriceHistory
		if n := len(history) - 1; n >= 0 && row[5]+row[6]+row[7] == "" &&
			string(history[n].OldPricing) == row[3] && history[n].OldPrice == strings.TrimPrefix(row[4], "'") {
			oldest++
		}
	}
	recorded, withHistory := 0, 0
	for i := range s.Catalog.Tools {
		n := len(s.Catalog.Tools[i].PriceHistory)
		recorded += n
		withHistory += min(n, 1)
	}
	if current != 400 || changes != recorded || recorded == 0 || oldest != withHistory {
		t.Errorf("%d current prices, %d of %d changes, %d of %d oldest prices", current, changes, recorded, oldest, withHistory)
	}
}

// database opens the SQLite file of an export.
func database(t *testing.T, x *dataset.Export) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "palmares.sqlite")
	if err := os.WriteFile(path, read(t, x, "palmares.sqlite.zst"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func query[T any](t *testing.T, db *sql.DB, q string, args ...any) (v T) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), q, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return v
}

func TestTheDatabaseHasTablesAndWords(t *testing.T) {
	s := show(varied(), 12, "flux-1")
	x := open(t, t.TempDir()).get(s)
	db := database(t, x)
	for _, kind := range catalog.WrittenKinds {
		table := kind.Folder
		var records []string
		rows, err := db.QueryContext(t.Context(), "SELECT record, hash FROM "+table+" ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var text, hash string
			if err := rows.Scan(&text, &hash); err != nil || record.Hash([]byte(text)) != hash {
				t.Error(err, hash, text)
			}
			records = append(records, text+"\n")
		}
		if got := strings.Join(records, ""); rows.Err() != nil || got != string(read(t, x, dataset.FileOf(kind))) {
			t.Errorf("%s has other records than the file", table)
		}
	}
	if got := query[string](t, db, "SELECT state || version || position || credit || published_at FROM meta"); got != fmt.Sprintf("%s%d%d%s%s", x.State, x.Version, x.Position, x.Credit, published) {
		t.Error(got)
	}
	if got := query[string](t, db, "SELECT record FROM meta"); got != string(read(t, x, "catalogue.json")) {
		t.Error(got)
	}
	if found := query[string](t, db, `SELECT slug FROM search WHERE search MATCH 'tagline : editeur'`); found != s.Catalog.Tools[2].Slug { // without its accent
		t.Errorf("found %s", found)
	}
	if n := query[int](t, db, `SELECT count(*) FROM search JOIN documents USING (kind, slug) WHERE search MATCH 'bancaire' AND documents.body LIKE '%bancaire%'`); n == 0 {
		t.Error("no body has a common word")
	}
	tool := s.Catalog.Tools[slices.IndexFunc(s.Catalog.Tools, func(t *catalog.Tool) bool { return len(t.PriceHistory) > 1 })]
	if n := query[int](t, db, `SELECT count(*) FROM price_history WHERE tool = ? AND new_price = ?`, tool.Slug, tool.PriceHistory[0].NewPrice); n == 0 {
		t.Error("no price history")
	}
	for _, x := range s.Catalog.Tools[:50] {
		if got, want := query[*float64](t, db, `SELECT euros_per_month FROM outils WHERE slug = ?`, x.Slug), x.EurosPerMonth(); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s costs %v a month, not %v", x.Slug, got, want)
		}
		if got, want := query[string](t, db, `SELECT coalesce(author, '') FROM outils WHERE slug = ?`, x.Slug), strings.Join(x.Authors, `","`); strings.Trim(got, `["]`) != want {
			t.Errorf("%s is by %s, not by %s", x.Slug, got, want)
		}
	}
	if n := query[int](t, db, `SELECT count(*) FROM categories`); n != len(s.Catalog.Categories) {
		t.Errorf("%d categories", n)
	}
	if check := query[string](t, db, "PRAGMA integrity_check"); check != "ok" {
		t.Error(check)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)"); err != nil {
		t.Errorf("the full-text index does not match the records: %v", err)
	}
	if mode := query[string](t, db, "PRAGMA journal_mode"); mode != "delete" {
		t.Errorf("the journal mode is %s", mode)
	}
}

func TestAllNodesWriteTheSameBytes(t *testing.T) {
	a := open(t, t.TempDir()).get(show(varied(), 12, "flux-1"))
	b := open(t, t.TempDir()).get(show(varied(), 12, "flux-1"))
	if !bytes.Equal(a.JSON, b.JSON) {
		t.Errorf("%s\n%s", a.JSON, b.JSON)
	}
	for _, name := range dataset.Files {
		if !bytes.Equal(read(t, a, name), read(t, b, name)) {
			t.Errorf("%s differs", name)
		}
	}
	// What is different has another address.
	other := open(t, t.TempDir())
	changed := varied()
	changed.Tools[0].Price = "0 €"
	for what, s := range map[string]*snapshot.Snapshot{"feed": show(varied(), 12, "flux-2"), "state": show(changed, 12, "flux-1"), "version": show(varied(), 13, "flux-1")} {
		if x := other.get(s); x.Files[0].Path == a.Files[0].Path {
			t.Errorf("another %s has the address %s, too", what, x.Files[0].Path)
		}
	}
}

func TestHeadsHaveNoTexts(t *testing.T) {
	c := varied()
	c.Settings.Dataset = catalog.DatasetHead
	c.Tools[0].Body += "\n\nDes mots qui ne sortent pas : hippopotame."
	s := show(c, 1, "flux-1")
	x := open(t, t.TempDir()).get(s)
	if rowsOf(x, dataset.ChunksFile) != -1 || rowsOf(x, "palmares.sqlite.zst") < 400 {
		t.Errorf("%s", x.JSON)
	}
	for _, f := range x.Files {
		if b := read(t, x, f.Name()); bytes.Contains(b, []byte("hippopotame")) || bytes.Contains(b, []byte(`"body"`)) {
			t.Errorf("%s has texts", f.Name())
		}
	}
	if n := query[int](t, database(t, x), `SELECT count(*) FROM search WHERE search MATCH 'editeur'`); n != 1 {
		t.Errorf("the heads are not indexed: %d", n)
	}
}

func TestACellIsNoFormulaInAnyWidth(t *testing.T) {
	for _, text := range []string{"=1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A1", "﹦1", "﹢1", "﹣1", "﹫A1", "−1"} {
		if got := dataset.Cell(text); got != "'"+text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	for _, text := range []string{"", "a=1", "École", "1", "\xff=1"} {
		if got := dataset.Cell(text); got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}
