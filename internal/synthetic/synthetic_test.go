package synthetic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
)

// Users who keep a seed rely on this: change the digest only if catalogues are meant
// to change, and say so in the changelog. The digest also changes when a Go field of
// a record is renamed or added.
func TestTheCatalogueOfAKnownSeedDoesNotChangeByAccident(t *testing.T) {
	const want = "ed40f0910b5693dacf2a665d0479f51b0b0a3f995f0cd52a9ba7f35b682e4081"
	b, err := json.Marshal(Catalog(50, 1))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("Catalog(50, 1) has the digest %s, want %s", got, want)
	}
}
