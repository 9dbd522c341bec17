package sqldb

import (
	"database/sql"
	"encoding/json"
	"reflect"
	"time"
)

// ScanFields reads a row whose columns are the fields of a struct, in their order.
func ScanFields[T any](scan Scanner, to *T) error { return scan(Fields(to)...) }

// Fields returns what Scan reads the fields of a struct with, and of structs in it, in their order.
func Fields(to any) (all []any) {
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		p := column(v.Field(i).Addr().Interface())
		if _, scans := p.(sql.Scanner); v.Field(i).Kind() == reflect.Struct && !scans {
			all = append(all, Fields(p)...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// column returns what Scan reads a value with.
func column(to any) any {
	switch to := to.(type) {
	case *time.Time:
		return Time(to)
	case *[]string:
		return (*texts)(to)
	}
	if v := reflect.ValueOf(to).Elem(); v.Kind() == reflect.Array {
		return hexadecimal(v.Bytes())
	}
	return to
}

// Bytes of a fixed number are stored in hexadecimal.
type hexadecimal []byte

// Scan implements sql.Scanner.
func (b hexadecimal) Scan(column any) error {
	text, _ := column.(string)
	return DecodeHex(b, []byte(text))
}

// A list of texts is stored in one column; an empty one is "".
type texts []string

// FormatTexts returns a list of texts as it is stored.
func FormatTexts(all []string) string {
	if len(all) == 0 {
		return ""
	}
	text, _ := json.Marshal(all) // strings
	return string(text)
}

// Scan implements sql.Scanner.
func (l *texts) Scan(column any) (err error) {
	if text, _ := column.(string); text != "" {
		err = json.Unmarshal([]byte(text), l)
	}
	return err
}
