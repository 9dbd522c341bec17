package account

import "strings"

// Bearer finds the token of the one Authorization header there may be. The scheme
// may be written in any case.
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
