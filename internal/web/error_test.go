package web

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"palmares/internal/french"
	"palmares/internal/problem"
	"palmares/internal/quota"
)

// A refusal is an error that waiting does not cure.
type refusal struct{}

func (refusal) Error() string   { return "wrong password" }
func (refusal) Permanent() bool { return true }

func TestThePartsOfASentenceAreInItsLanguage(t *testing.T) {
	p := ParseParams("limit=0", nil)
	p.Limit()
	for _, test := range []struct {
		err             error
		english, french string
	}{
		{
			p.Err(), `The parameter "limit" is "0"; allowed values: an integer from 1 to 200.`,
			"Le paramètre « limit » vaut « 0 » ; valeurs admises : un entier de 1 à 200.",
		},
		{
			quotaExceeded(&quota.Grant{Tier: quota.Free}, true), // which has no time of renewal
			"The quota of 1 000 requests a day is used up; it is renewed at . " +
				"The Pro plan has no quota (see /tarifs); the export, /data/v1/export, has the whole catalogue.",
			"Le quota de 1 000 requêtes par jour est épuisé ; il se renouvelle à . " +
				"La formule Pro n’a pas de quota (voir /tarifs) ; l’export, /data/v1/export, a tout le catalogue.",
		},
		{
			Unavailable(refusal{}, problem.New("key-not-checked")),
			"This API key cannot be verified: the service needs its operator, and has logged why.",
			"Cette clé d’API ne peut pas être vérifiée : le service a besoin d’une intervention de son exploitant, " +
				"et l’a consigné.",
		},
	} {
		said := AsError(test.err).Text
		if plain := strings.NewReplacer(french.Space, " ", french.Narrow, " ").Replace(said.French); plain != test.french || said.English != test.english {
			t.Errorf("%s\n%s", said.English, said.French)
		}
	}
}

func TestCallersAreToldToTryAgainSoonOnlyIfThatCanHelp(t *testing.T) {
	for _, test := range []struct {
		err        error
		retryAfter string
		soon       bool
	}{
		{errors.New("timeout"), RetrySoon, true},
		{fmt.Errorf("looking up a key: %w", refusal{}), RetryLater, false},
	} {
		w := httptest.NewRecorder()
		WriteError(w, httptest.NewRequest("GET", "/", nil), KeyError(test.err))
		body := w.Body.String()
		if w.Code != 503 || w.Header().Get("Retry-After") != test.retryAfter || strings.Contains(body, "réessayez") != test.soon || strings.Contains(body, "password") {
			t.Errorf("%v: %d %v %s", test.err, w.Code, w.Header(), body)
		}
	}
}
