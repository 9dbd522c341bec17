package vault_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"palmares/internal/vault"
)

// secrets are sealed secrets in memory.
type secrets struct {
	stored  []vault.Sealed
	failing string // the owner whose secrets cannot be replaced
}

func (s *secrets) SealedSecrets(context.Context) ([]vault.Sealed, error) {
	return slices.Clone(s.stored), nil
}

func (s *secrets) ReplaceSecret(_ context.Context, old vault.Sealed, replacement string) error {
	if old.Owner == s.failing {
		return errors.New("the row is locked")
	}
	s.stored[slices.Index(s.stored, old)].Text = replacement
	return nil
}

func TestProcessesThatCreateTheKeyFileAtOnceAllGetTheSameKey(t *testing.T) {
	dir := t.TempDir()
	source := vault.KeySource{File: filepath.Join(dir, "palmares.key")}
	sealers := make([]vault.Sealer, 50)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range sealers {
		all.Go(func() {
			<-start
			var err error
			if sealers[i], err = source.Open(t.Context(), nil); err != nil {
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
	stored := &secrets{failing: "whk_b", stored: []vault.Sealed{
		{"whk_a", "damaged"},
		{"whk_b", before.Seal("whk_b", "whsec_b")},
		{"whk_c", before.Seal("whk_c", "whsec_c")},
		{"whk_c", before.Seal("whk_c", "whsec_old")},
		{"whk_d", both.Seal("whk_d", "whsec_d")},
	}}
	if n, err := both.Reseal(t.Context(), vault.Secrets{stored}); n != 2 || err == nil {
		t.Errorf("Reseal = %d, %v; want the two of whk_c, and an error for whk_a and whk_b", n, err)
	}
	after := mustKeys(key(2))
	for i, want := range map[int]string{2: "whsec_c", 3: "whsec_old"} {
		if secret, err := after.Open("whk_c", stored.stored[i].Text); err != nil || secret != want {
			t.Errorf("opened with the new key alone: %q, %v; want %q", secret, err, want)
		}
	}
}
