package demo_test

import (
	"testing"

	"palmares/demo"
	"palmares/internal/content"
)

func TestTheDemoHasNeitherProblemsNorWarnings(t *testing.T) {
	r, err := content.ReadFS(t.Context(), demo.Folder, content.Options{Today: "2026-11-15"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, p := range r.Problems {
		t.Error(p)
	}
	for _, w := range r.Warnings {
		t.Error(w)
	}
}
