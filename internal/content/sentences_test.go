package content

import (
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/problem"
)

func TestEveryKindHasItsSentences(t *testing.T) {
	for _, kind := range catalog.WrittenKinds {
		for code, args := range map[string][]any{"count-": {1}, "no-": {"x"}, "hidden-": {"x", "a draft"}} {
			func() {
				defer func() {
					if why := recover(); why != nil {
						t.Errorf("%v: write it in the table of internal/problem", why)
					}
				}()
				problem.New(code+kind.Folder, args...)
			}()
		}
	}
}
