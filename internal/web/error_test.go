package web

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// A refusal is an error that waiting does not cure.
type refusal struct{}

func (refusal) Error() string   { return "wrong password" }
func (refusal) Permanent() bool { return true }

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
