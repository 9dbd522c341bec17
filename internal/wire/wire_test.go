package wire_test

import (
	"testing"

	"palmares/internal/wire"
)

func TestJSONIsCompactAndWithoutHTMLEscapes(t *testing.T) {
	v := struct {
		Name  string `json:"name"`
		Price string `json:"price"`
	}{"<A & B>", "1 €/mois"}
	if got := string(wire.AppendJSON([]byte("x"), v)); got != `x{"name":"<A & B>","price":"1 €/mois"}` {
		t.Errorf("got %s", got)
	}
}

type greeting struct{}

func (greeting) Append(b []byte) []byte { return append(b, "bonjour"...) }

func TestABodyIsTheSameWholeOrInParts(t *testing.T) {
	d := wire.Sum([]byte("bonjour"))
	whole, parts := wire.NewBody(d, []byte("bonjour")), wire.NewParts(d, greeting{})
	for _, b := range []wire.Body{whole, parts} {
		if string(b.Bytes()) != "bonjour" || b.Digest() != d {
			t.Errorf("%q, %x", b.Bytes(), b.Digest())
		}
	}
}
