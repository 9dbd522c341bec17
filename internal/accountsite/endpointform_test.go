package accountsite

import (
	"testing"

	"palmares/internal/webhook"
)

func TestEveryEventTypeIsExplained(t *testing.T) {
	for _, name := range webhook.Types {
		if typeTexts[name] == "" {
			t.Errorf("%s has no text in typeTexts", name)
		}
	}
	if len(typeTexts) != len(webhook.Types) {
		t.Errorf("%d texts for %d types", len(typeTexts), len(webhook.Types))
	}
}
