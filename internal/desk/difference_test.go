package desk

import (
	"testing"

	"palmares/internal/content/document"
)

func TestOfAListOnlyTheEntriesThatDifferAreShown(t *testing.T) {
	open := func(more string) *document.Document {
		doc, err := document.Open("catalogue.yaml", []byte("name: Essai\nurl: https://essai.example\ncategories:\n"+
			"  - slug: code\n    label: Code\n    description: Écrire du code.\n"+more))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	voice, image := "  - slug: voix\n    label: Voix\n", "  - slug: image\n    label: Image\n"
	for _, c := range []struct{ old, changed, wasShown, isShown string }{
		{voice, voice + image, "", "image · Image"},
		{voice + image, voice, "image · Image", ""},
		{voice, image, "voix · Voix", "image · Image"},
	} {
		list := differences(nil, open(c.old), open(c.changed))
		if len(list) != 1 || list[0].Old != c.wasShown || list[0].New != c.isShown {
			t.Errorf("%q to %q: %+v", c.old, c.changed, list)
		}
	}
}
