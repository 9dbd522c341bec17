package record

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendObject appends fields as a JSON object in the canonical form. It drops none.
func AppendObject(b []byte, fields []Field) []byte {
	b = append(b, '{')
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, f.Name), ':')
		switch v := f.Value.(type) {
		case string:
			b = appendString(b, v)
		case float64:
			b = appendNumber(b, v)
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case bool:
			b = strconv.AppendBool(b, v)
		case []string:
			b = appendList(b, v, appendString)
		case [][]Field:
			b = appendList(b, v, AppendObject)
		default:
			panic("record: the field " + f.Name + " has a value of another type")
		}
	}
	return append(b, '}')
}

func appendList[T any](b []byte, list []T, item func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, v)
	}
	return append(b, ']')
}

// isEscaped tells the bytes that a string cannot have as they are.
var isEscaped = func() (bytes [256]bool) {
	for b := range byte(' ') {
		bytes[b] = true
	}
	bytes['"'], bytes['\\'] = true, true
	return bytes
}()

// appendString appends a string as RFC 8785 3.2.2.2 says: only quotes, backslashes and
// control characters below U+0020 are escaped, those with a short form by it. (wire
// escapes U+2028 and U+2029 as well.) Strings are UTF-8: content and store accept no
// others.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	for {
		i := 0
		for i < len(s) && !isEscaped[s[i]] {
			i++
		}
		b = append(b, s[:i]...)
		if i == len(s) {
			return append(b, '"')
		}
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		s = s[i+1:]
	}
}

// appendNumber appends a finite number as RFC 8785 3.2.2.3 says, which is how ECMAScript
// does: the shortest digits that stand for it, with an exponent below 1e-6 and from 1e21.
func appendNumber(b []byte, x float64) []byte {
	if x == 0 {
		return append(b, '0') // also for -0
	}
	if magnitude := math.Abs(x); magnitude >= 1e-6 && magnitude < 1e21 {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // 1e-07 is 1e-7
		b = append(b[:n-2], b[n-1])
	}
	return b
}
