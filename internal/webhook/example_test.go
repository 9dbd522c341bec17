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
	ids := map[string]bool{}
	for _, example := range webhook.Examples() {
		var event struct {
			ID   string
			Type string
			Data struct {
				Slug, Reason, URL string
				Changed           []string
			}
		}
		if err := json.Unmarshal([]byte(example.Body), &event); err != nil || event.Type != example.Type || event.Data.URL == "" {
			t.Errorf("%s: %v in %s", example.Type, err, example.Body)
		}
		if ids[event.ID] || len(event.ID) != len("evt_01kb3q7dzz0a2c4e6g8j1k3m5n") {
			t.Errorf("%s has the id %q, which another one has or which is none", event.Type, event.ID)
		}
		ids[event.ID] = true
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
