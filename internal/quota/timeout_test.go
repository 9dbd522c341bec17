package quota_test

import (
	"testing"

	"palmares/internal/keyring"
	"palmares/internal/quota"
)

func TestTheTestsWaitAsLongAsRequests(t *testing.T) {
	if quota.StoreTimeout != keyring.StoreTimeout {
		t.Errorf("the tests wait %s for the store, requests %s", quota.StoreTimeout, keyring.StoreTimeout)
	}
}
