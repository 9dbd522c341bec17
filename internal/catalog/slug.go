package catalog

// MaxSlug is the longest slug, in bytes.
const MaxSlug = 100

// IsSlug tells whether s is `[a-z0-9]+(-[a-z0-9]+)*` of at most MaxSlug bytes.
func IsSlug(s string) bool {
	if s == "" || len(s) > MaxSlug {
		return false
	}
	dash := true // a dash may not come first, nor after another
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			dash = false
		case c == '-' && !dash:
			dash = true
		default:
			return false
		}
	}
	return !dash
}
