package site

import "testing"

func TestAddressesBreakAfterSeparatorsOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a.fr/b-c?d=<e>&f`:     `a.<wbr>fr/<wbr>b-<wbr>c?<wbr>d=&lt;e&gt;&amp;<wbr>f`,
		`9 €/mois → 12 €/mois`: `<span class="side">9 €/mois</span> → <span class="side">12 €/mois</span>`,
		`8 €/utilisateur/mois`: `8 €/<wbr>utilisateur/<wbr>mois`,
	} {
		if got := string(breakable(text)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
