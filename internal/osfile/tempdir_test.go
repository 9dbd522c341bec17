package osfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFoldersOfProcessesThatAreGoneAreRemoved(t *testing.T) {
	temp := t.TempDir()
	folders := map[string]bool{ // and whether they stay
		fmt.Sprintf("palmares-draft-%d-new", os.Getpid()): true,
		fmt.Sprintf("palmares-draft-%d-old", os.Getpid()): false,
		"palmares-draft-1-init":                           true,
		"palmares-draft-999999999-x":                      false, // more than Linux ever gives
		"palmares-draft-x":                                true,
	}
	for name := range folders {
		dir := filepath.Join(temp, name)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "outils"), 0o700), os.WriteFile(filepath.Join(dir, "outils/x.md"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "old") {
			if err := os.Chtimes(dir, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := RemoveLeftovers(temp); err != nil {
		t.Error(err)
	}
	for name, stays := range folders {
		if _, err := os.Stat(filepath.Join(temp, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
