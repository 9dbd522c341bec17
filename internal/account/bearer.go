package account

import "strings"

// Bearer returns the token of an Authorization header, of which there must be exactly one.
// The scheme is case-insensitive.
func Bearer(lines []string) (token string, ok bool) {
	if len(lines) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(lines[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimLeft(token, " "), true
}
