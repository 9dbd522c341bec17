package content

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// large returns a catalogue of n tools, each with a review of 3 kB.
func large(n int) *catalog.Catalog {
	paragraph := "L’outil **Boréal** tient ses promesses : l’installation prend deux minutes et le [guide](https://exemple.fr/guide) est clair. " +
		"On regrette seulement que l’export `CSV` oublie les *accents* des en-têtes, et que le mode hors ligne ne garde que trois projets.\n\n"
	var body strings.Builder
	for i := range 5 {
		fmt.Fprintf(&body, "## Partie %d\n\n%s%s- un point fort\n- un point faible\n\n", i, paragraph, paragraph)
	}
	c := sample()
	c.Comparisons, c.Retired = nil, nil
	tool := *c.Tools[0]
	tool.Body = strings.TrimSpace(body.String())
	tool.Verifiability, tool.Obsolescence = tool.Score, tool.Score
	tool.TestedAt, tool.PriceCheckedAt = "2026-01-01", "2026-01-01"
	tool.Sources = []string{"https://boreal.example/tarifs", "https://boreal.example/aide"}
	c.Tools = make([]*catalog.Tool, n)
	for i := range c.Tools {
		own := tool
		c.Tools[i] = &own
		c.Tools[i].Slug = fmt.Sprintf("outil-%07d", i)
		c.Tools[i].Aliases = []string{fmt.Sprintf("ancien-%07d", i)}
	}
	return c
}

func BenchmarkRead(b *testing.B) {
	const n = 10_000
	c := large(n)
	for name, format := range formats {
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "export")
			if err := Write(b.Context(), dir, c, WriteOptions{Format: format}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, problems, err := readDir(b, dir); err != nil || len(problems) > 0 {
					b.Fatal(err, problems)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/record")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	const n = 10_000
	c := large(n)
	for name, format := range formats {
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "export")
			for b.Loop() {
				if err := Write(b.Context(), dir, c, WriteOptions{Format: format}); err != nil {
					b.Fatal(err)
				}
				if err := os.RemoveAll(dir); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/record")
		})
	}
}
