package content

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
)

// Reviews holds the reviews of the tools of a folder in a temporary file: they are most of
// a large catalogue. The Body of each tool is then a reference to its review.
type Reviews struct{ spool spool }

// A reference is the SHA-256 of a review, followed by its place.
const (
	placeLength     = 12
	referenceLength = sha256.Size + placeLength
)

// Text returns the review to which the Body of a tool refers; "" if it has none.
func (r *Reviews) Text(body string) (string, error) {
	if body == "" {
		return "", nil
	}
	if len(body) != referenceLength {
		return "", fmt.Errorf("%q refers to no review", body)
	}
	at := []byte(body[sha256.Size:])
	offset, length := int64(binary.BigEndian.Uint64(at)), int(binary.BigEndian.Uint32(at[8:])) //nolint:gosec // made by add
	buf := texts.Get().(*[]byte)
	defer texts.Put(buf)
	*buf = slices.Grow((*buf)[:0], length)[:length]
	if _, err := r.spool.file.ReadAt(*buf, offset); err != nil {
		return "", fmt.Errorf("the temporary file for reviews cannot be read: %w", err)
	}
	return string(*buf), nil
}

// texts has space for texts on their way.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// Is reports whether the Body of a tool refers to a text.
func (r *Reviews) Is(body, text string) bool {
	if body == "" || text == "" {
		return body == text
	}
	buf := texts.Get().(*[]byte)
	defer texts.Put(buf)
	*buf = append((*buf)[:0], text...)
	sum := sha256.Sum256(*buf)
	return len(body) == referenceLength && body[:sha256.Size] == string(sum[:])
}

// add moves the reviews of records to the file. buf is for reuse.
func (r *Reviews) add(records []record, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for i := range records {
		if t := records[i].tool; t != nil {
			buf = append(buf, t.Body...)
		}
	}
	if len(buf) == 0 {
		return buf, nil
	}
	at, err := r.spool.add(buf, "reviews")
	if err != nil {
		return buf, err
	}
	rest, offset := buf, uint64(at.offset) //nolint:gosec // not negative
	for i := range records {
		t := records[i].tool
		if t == nil || t.Body == "" {
			continue
		}
		length := len(t.Body)
		sum := sha256.Sum256(rest[:length])
		rest = rest[length:]
		reference := append(make([]byte, 0, referenceLength), sum[:]...)
		reference = binary.BigEndian.AppendUint64(reference, offset)
		reference = binary.BigEndian.AppendUint32(reference, uint32(length)) //nolint:gosec // below maxRecord
		t.Body = string(reference)
		offset += uint64(length)
	}
	return buf, nil
}

func (r *Reviews) close() error {
	if r == nil {
		return nil
	}
	return r.spool.close()
}
