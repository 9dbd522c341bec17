package webhook_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"palmares/internal/webhook"
)

// secrets are sealed secrets in memory.
type secrets struct {
	stored  []webhook.SealedSecret
	failing string // the endpoint whose secrets cannot be replaced
}

func (s *secrets) SealedSecrets(context.Context) ([]webhook.SealedSecret, error) {
	return s.stored, nil
}

func (s *secrets) ReplaceSecret(_ context.Context, endpointID, sealed, replacement string) error {
	if endpointID == s.failing {
		return errors.New("the row is locked")
	}
	for i := range s.stored {
		held := &s.stored[i]
		if held.EndpointID == endpointID && held.Secret == sealed {
			held.Secret = replacement
		}
		if held.EndpointID == endpointID && held.OldSecret == sealed {
			held.OldSecret = replacement
		}
	}
	return nil
}

func TestProcessesThatCreateTheKeyFileAtOnceAllGetTheSameKey(t *testing.T) {
	dir := t.TempDir()
	source := webhook.KeySource{File: filepath.Join(dir, "palmares.key")}
	sealers := make([]webhook.Sealer, 50)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range sealers {
		all.Go(func() {
			<-start
			var err error
			if sealers[i], err = source.Open(t.Context(), &secrets{}); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	if t.Failed() {
		return
	}
	for i, sealer := range sealers {
		sealed := sealer.Seal("whk_1", "whsec_x")
		if secret, err := sealers[0].Open("whk_1", sealed); err != nil || secret != "whsec_x" {
			t.Errorf("process %d has another key: %v", i, err)
		}
	}
	folder, err := os.ReadDir(dir)
	if err != nil || len(folder) != 1 || folder[0].Name() != "palmares.key" {
		t.Errorf("left behind: %v, %v", folder, err)
	}
	if info, err := folder[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestResealUsesTheFirstKeyAndOneFailureDoesNotStopTheOthers(t *testing.T) {
	before, both := mustKeys(key(1)), mustKeys(key(2)+","+key(1))
	stored := &secrets{failing: "whk_b", stored: []webhook.SealedSecret{
		{EndpointID: "whk_a", Secret: "damaged"},
		{EndpointID: "whk_b", Secret: before.Seal("whk_b", "whsec_b")},
		{EndpointID: "whk_c", Secret: before.Seal("whk_c", "whsec_c"), OldSecret: before.Seal("whk_c", "whsec_old")},
		{EndpointID: "whk_d", Secret: both.Seal("whk_d", "whsec_d")},
	}}
	if n, err := both.Reseal(t.Context(), stored); n != 2 || err == nil {
		t.Errorf("Reseal = %d, %v; want the two of whk_c, and an error for whk_a and whk_b", n, err)
	}
	after := mustKeys(key(2))
	for sealed, want := range map[string]string{stored.stored[2].Secret: "whsec_c", stored.stored[2].OldSecret: "whsec_old"} {
		if secret, err := after.Open("whk_c", sealed); err != nil || secret != want {
			t.Errorf("opened with the new key alone: %q, %v; want %q", secret, err, want)
		}
	}
}
