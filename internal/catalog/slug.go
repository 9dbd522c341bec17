package catalog

// MaxSlug is the maximum length of a slug, in bytes.
const MaxSlug = 100

// IsSlug reports whether s matches `[a-z0-9]+(-[a-z0-9]+)*` and has at most
// MaxSlug bytes.
func IsSlug(s string) bool {
	if s == "" || len(s) > MaxSlug {
		return false
	}
	dash := true // a dash may not come first or follow another
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
