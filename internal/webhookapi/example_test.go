package webhookapi_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"palmares/internal/webhook"
	"palmares/internal/webhookapi"
)

func TestTheExamplesOfEventsAreWhatTheDocumentSays(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(webhookapi.Document())
	if err != nil {
		t.Fatal(err)
	}
	schema := document.Components.Schemas["Event"].Value
	for _, example := range webhook.Examples() {
		var event any
		if err := json.Unmarshal([]byte(example.Body), &event); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(event); err != nil {
			t.Errorf("%s: %v", example.Type, err)
		}
	}
}

// An attempt is « tentative », a ping « essai », a recovery « récupération », the plan « offre ».
func TestTheDocumentHasOneWordForOneThing(t *testing.T) {
	other := regexp.MustCompile(`(?i)[^"]*(rattrap|formule|(dernier|tous les|leurs|après l’|rang de l’) ?essai)[^"]*`)
	for _, text := range other.FindAllString(string(webhookapi.Document()), -1) {
		t.Errorf("%q has another word", text)
	}
}
