package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// AppendJSON appends v to b in the encoding of everything we send: compact, and with
// <, > and & unescaped, because no response is ever embedded in a page. It panics if v
// does not encode; what we send holds only strings, finite numbers, and lists and
// objects of them.
func AppendJSON(b []byte, v any) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("wire: %T does not encode: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
