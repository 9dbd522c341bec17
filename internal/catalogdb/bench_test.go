package catalogdb

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkPublish measures the figures of the documentation:
// go test -run - -bench Publish -benchtime 1x ./internal/catalogdb
func BenchmarkPublish(b *testing.B) {
	const tools, body = 100_000, 3000
	for _, kind := range []string{"sqlite", "postgres"} {
		dsn := "sqlite:" + filepath.Join(b.TempDir(), "palmares.db")
		if kind == "postgres" {
			dsn = databases.Postgres(b)
		}
		s := open(b, dsn)
		for i, name := range []string{"first", "unchanged", "changed"} {
			b.Run(fmt.Sprintf("%s/%s", kind, name), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					next := large(tools, uint64(i/2), body)
					b.StartTimer()
					publish(b, s, next, day(i))
				}
			})
		}
		b.Run(kind+"/load", func(b *testing.B) {
			for range b.N {
				if n := len(loaded(b, s).Catalog.Tools); n != tools {
					b.Fatalf("%d tools", n)
				}
			}
		})
	}
}
