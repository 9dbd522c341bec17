package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// digestOf returns the digest of a folder with the given files.
func digestOf(t *testing.T, files map[string]string, elsewhere map[string]string) Digest {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return digestDir(t, dir, 1, elsewhere)
}

func digestDir(t *testing.T, dir string, least int64, elsewhere map[string]string) Digest {
	t.Helper()
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := DigestOf(t.Context(), root, least, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADigestIsThatOfEveryNameAndByte(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), (2*pieceBytes+1000)/16)
	folder := func(long []byte) map[string]string {
		return map[string]string{"outils.jsonl": string(long), "outils/a.md": "12", "outils/b.md": "3"}
	}
	want := digestOf(t, folder(long), nil)
	if again := digestOf(t, folder(long), nil); again.Content != want.Content {
		t.Error("the same folder elsewhere has another digest")
	}
	seen := map[[sha256.Size]byte]string{{}: "nothing", want.Content: "the folder"}
	is := func(what string, files map[string]string) {
		t.Helper()
		d := digestOf(t, files, nil)
		if first, ok := seen[d.Content]; ok {
			t.Errorf("%s has the digest of %s", what, first)
		}
		seen[d.Content] = what
	}
	for _, at := range []int{0, pieceBytes - 1, pieceBytes, 2 * pieceBytes, len(long) - 1} {
		changed := bytes.Clone(long)
		changed[at]++
		is(fmt.Sprintf("a change of byte %d", at), folder(changed))
	}
	is("a byte more", folder(append(bytes.Clone(long), 'x')))
	is("a byte less", folder(long[:len(long)-1]))
	swapped := bytes.Clone(long)
	swapped[0], swapped[pieceBytes] = 'x', 'y'
	is("two changes", folder(swapped))
	swapped[0], swapped[pieceBytes] = 'y', 'x'
	is("two changes the other way round", folder(swapped))
	for what, other := range map[string]map[string]string{
		"a byte in the next file": {"outils/a.md": "1", "outils/b.md": "23"},
		"another name":            {"outils/a.md": "12", "outils/c.md": "3"},
		"one more, empty":         {"outils/a.md": "12", "outils/b.md": "3", "outils/c.md": ""},
		"another folder":          {"outils/a.md": "12", "pages/b.md": "3"},
		"a folder for a file":     {"outils/a.md": "12", "outils/b.md/x": ""},
	} {
		is(what, other)
	}
}

func TestAPictureElsewhereHasTheDigestOfItsFile(t *testing.T) {
	const content = "a picture"
	sum := sha256.Sum256([]byte(content))
	here := digestOf(t, map[string]string{"images/a.png": content, "images/b.png": "another"}, nil)
	there := digestOf(t, map[string]string{"images/a.png": "", "images/b.png": "another"}, map[string]string{"images/a.png": hex.EncodeToString(sum[:])})
	if here.Content != there.Content || here.Content == (Digest{}).Content {
		t.Errorf("%x and %x", here.Content, there.Content)
	}
}

func TestAFolderThatIsSmallOrCannotBeReadHasNoDigest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "catalogue.yaml"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if digestDir(t, dir, 6, nil) != (Digest{}) || digestDir(t, dir, 5, nil) == (Digest{}) {
		t.Error("a folder of five bytes does not begin to have a digest at five bytes")
	}
	root, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DigestOf(ended, root, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "outils")); err != nil {
		t.Fatal(err)
	}
	if digestDir(t, dir, 1, nil) != (Digest{}) {
		t.Error("a folder with a link that leads out of it has a digest")
	}
}
