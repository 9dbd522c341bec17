package publication_test

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"palmares/internal/content"
	"palmares/internal/problem"
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
func (*gauge) Report(...problem.Text) error         { return nil }

// A publication has the texts of its tools in memory once: what is published is compared
// tool by tool.
func TestAPublicationHasTheTextsOfItsToolsInMemoryOnce(t *testing.T) {
	const tools, limit = 5_000, 4_200 // bytes per tool, of which 2,200 are its review
	st := databases.OpenDSN(t, databases.SQLite(t))
	dir := filepath.Join(t.TempDir(), "folder")
	if err := content.Write(t.Context(), dir, synthetic.Catalog(tools, 1), content.WriteOptions{Format: content.JSONL}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "unchanged"} {
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
		got := g.most / tools
		t.Logf("the %s publication needs %d bytes per tool at the stage %s", name, got, g.stage)
		if got > limit {
			t.Errorf("want at most %d", limit)
		}
	}
}
