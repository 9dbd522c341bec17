package publication

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"palmares/internal/content"
	"palmares/internal/program"
	"palmares/internal/store"
)

// Reading a large folder takes minutes, most of which is decoding and checking. A folder
// that has the bytes of the last one needs neither: they give the same catalogue, without
// problems, and the same warnings on the same day. So one that gave no warnings is recorded
// with the version, by a digest, until the day before it might give one.

// largeFolder is how many bytes are read in about a second.
const largeFolder = 32 << 20

// A digest identifies a folder as it is now.
type digest struct {
	content.Digest
	name string // under which it is recorded; "" if it is not
}

// digest returns the digest of the folder; one without a name if the folder is to be read
// in any case.
func (j *Job) digest(ctx context.Context, root *os.Root) (d digest, err error) {
	least := j.Large
	if least == 0 {
		least = largeFolder
	}
	if j.Last == nil {
		return d, nil
	}
	if d.Digest, err = content.DigestOf(ctx, root, least, j.Elsewhere); err != nil || d.Digest == (content.Digest{}) {
		return d, err
	}
	running, err := program.Digest()
	if err != nil {
		return digest{}, nil
	}
	// Another program may find other problems.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %x %d", running, d.Content, j.MaxAge))
	d.name = hex.EncodeToString(sum[:])
	return d, nil
}

// recognizable returns what is recorded of a folder that was read and had the given digest
// before: nothing if it gave warnings, or was changed meanwhile.
func (j *Job) recognizable(ctx context.Context, root *os.Root, read *content.Result, before digest) (store.Folder, error) {
	if before.name == "" || len(read.Warnings) > 0 || read.Until == "" {
		return store.Folder{}, nil
	}
	after, err := j.digest(ctx, root)
	if err != nil || after != before {
		return store.Folder{}, err
	}
	return store.Folder{Digest: before.name, Until: read.Until}, nil
}

// stand publishes a folder that was not read. ErrOtherFolder: it must be.
func (j *Job) stand(ctx context.Context, to *store.Catalogue) (int64, error) {
	if to == nil {
		return 0, store.ErrOtherFolder
	}
	version, n, err := to.Stand(ctx, j.options())
	if err != nil {
		return 0, err
	}
	return version, j.Sink.Report(unchanged(version, n))
}
