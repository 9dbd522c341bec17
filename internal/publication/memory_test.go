package publication_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"palmares/internal/content"
	"palmares/internal/publication"
	"palmares/internal/synthetic"
)

// A gauge is a Sink that measures what lives at each stage of a publication.
type gauge struct {
	base  uint64
	most  uint64 // above base
	stage string // of most
	last  string // stage
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (g *gauge) Progress(stage string, _, _ int) {
	switch stage {
	case g.last:
		return
	case "load", "compare", "feed", "events": // nothing else allocates meanwhile
	default:
		return
	}
	g.last = stage
	if now := live(); now > g.base+g.most {
		g.most, g.stage = now-g.base, stage
	}
}

func (*gauge) Findings([]publication.Finding) error { return nil }
func (*gauge) Report(string) error                  { return nil }

// A publication needs a few times the short texts of its tools: neither their reviews nor
// the published catalogue are in memory, and what changes is not there several times.
func TestAPublicationNeedsLittleMemoryPerTool(t *testing.T) {
	const tools = 5_000
	for _, open := range []func(testing.TB) string{databases.SQLite, databases.Postgres} { // one at a time
		st := databases.OpenDSN(t, open(t))
		dir := filepath.Join(t.TempDir(), "folder")
		if err := content.Write(t.Context(), dir, synthetic.Catalog(tools, 1), content.WriteOptions{Format: content.JSONL}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name  string
			limit uint64 // bytes per tool
		}{{"first", 1800}, {"unchanged", 1400}} {
			g := &gauge{base: live()}
			job := &publication.Job{Dir: dir, Name: "catalogue", Now: func() time.Time { return sunday }, Sink: g}
			read, err := job.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = job.Publish(t.Context(), st.Catalogue, read)
			if err != nil {
				t.Fatal(err)
			}
			if err := read.Close(); err != nil {
				t.Error(err)
			}
			if got := g.most / tools; got > test.limit {
				t.Errorf("the %s publication needs %d bytes per tool at the stage %s; want at most %d", test.name, got, g.stage, test.limit)
			} else {
				t.Logf("%s: %d bytes per tool at the stage %s", test.name, got, g.stage)
			}
		}
	}
}
