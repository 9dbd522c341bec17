package webhook_test

import (
	"encoding/json"
	"slices"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/webhook"
)

func TestThereIsAnExampleOfEveryTypeOfEvent(t *testing.T) {
	var types []string
	for _, example := range webhook.Examples() {
		var event struct {
			Type string
			Data struct {
				Slug, Reason, URL string
				Changed           []string
			}
		}
		if err := json.Unmarshal([]byte(example.Body), &event); err != nil || event.Type != example.Type || event.Data.URL == "" {
			t.Errorf("%s: %v in %s", example.Type, err, example.Body)
		}
		types = append(types, event.Type)
		d := event.Data
		switch event.Type {
		case catalog.EmbeddingsUpdated:
			if d.Reason != catalog.EmbeddingsChanged || !slices.Contains(d.Changed, "hash") {
				t.Errorf("the example does not show a change: %s", example.Body)
			}
		case catalog.ToolUpdated, catalog.PricingUpdated, catalog.ComparisonUpdated:
			if d.Slug == "" || len(d.Changed) == 0 {
				t.Errorf("%s", example.Body)
			}
		}
	}
	if want := append(slices.Clone(webhook.Types), webhook.Ping); !slices.Equal(types, want) {
		t.Errorf("examples of %v; want %v", types, want)
	}
}
