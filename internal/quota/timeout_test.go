package quota_test

import (
	"testing"

	"palmares/internal/quota"
	"palmares/internal/web"
)

func TestTheTestsWaitAsLongAsRequests(t *testing.T) {
	if quota.StoreTimeout != web.StoreTimeout {
		t.Errorf("the tests wait %s for the store, requests %s", quota.StoreTimeout, web.StoreTimeout)
	}
}
