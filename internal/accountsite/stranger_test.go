package accountsite_test

import (
	"crypto/rand"
	"database/sql"
	"sync"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountsite"
	"palmares/internal/testkit"
)

func TestWhoIsSignedInDoesNotWaitBehindStrangers(t *testing.T) {
	accountsite.SetStrangerWait(t, 500*time.Millisecond)
	p := open(t, databases.SQLite(t), publicURL)
	known := p.signedIn("ada@example.org")
	known.get("/compte/sessions").Is(200)
	tokens := []string{p.link("eve@example.org"), p.link("eve@example.org")}
	var strangers sync.WaitGroup
	err := p.store.SQL.Write(t.Context(), func(*sql.Tx) error {
		for _, token := range tokens { // both wait for this transaction
			strangers.Go(func() { p.browser().post("/compte/connexion", "jeton", token).Is(303) })
		}
		testkit.Until(t, "the refusal of one more", func() bool {
			r := p.browser().get("/compte/connexion?jeton=" + account.NewToken(rand.Reader))
			return r.Status == 503 && r.Header.Get("Retry-After") != ""
		})
		known.get("/compte/sessions").Is(200)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	strangers.Wait()
	p.browser().get("/compte").Is(200).Contains(form)
}
