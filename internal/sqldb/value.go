package sqldb

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"
)

// timeFormat has one width, so that stored times sort in the order they happened.
const timeFormat = "2006-01-02T15:04:05.000Z"

// FormatTime returns a time as it is stored: "" for the zero time, which means never.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

// Time returns what Scan reads a stored time with.
func Time(to *time.Time) sql.Scanner { return storedTime{to} }

type storedTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (t storedTime) Scan(column any) (err error) {
	if at, is := column.(time.Time); is { // of a server's clock
		*t.to = at
		return nil
	}
	text, ok := column.(string)
	if !ok {
		return fmt.Errorf("a column has %T where a time belongs", column)
	}
	*t.to = time.Time{}
	if text != "" {
		*t.to, err = time.Parse(timeFormat, text)
	}
	return err
}

// DecodeHex decodes a column that holds exactly the bytes of to. It returns an error for
// one that was changed by hand, where hex.Decode would panic or leave a part unset.
func DecodeHex(to, text []byte) error {
	if hex.DecodedLen(len(text)) != len(to) || len(text)%2 != 0 {
		return fmt.Errorf("a column has %d characters where %d hexadecimal digits belong",
			len(text), hex.EncodedLen(len(to)))
	}
	_, err := hex.Decode(to, text)
	return err
}
