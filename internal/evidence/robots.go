package evidence

import "strings"

// robots are the rules of a host's robots.txt for one agent (RFC 9309).
type robots []robotsRule

type robotsRule struct {
	path    string // with * for any text, and $ at its end for the end of the path
	isAllow bool
}

// nothing are the rules of a host that allows nothing, such as one that fails to serve its rules.
var nothing = &robots{{path: "/"}}

// parseRobots reads the rules for an agent: those of the groups that name it, or else those for all.
func parseRobots(text []byte, agent string) *robots {
	var own, all robots
	var isOwn, isAll, isRules, isNamed bool
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if isRules {
				isOwn, isAll, isRules = false, false, false
			}
			isOwn = isOwn || strings.EqualFold(value, agent)
			isAll = isAll || value == "*"
			isNamed = isNamed || isOwn
		case "allow", "disallow":
			isRules = true
			if value == "" {
				continue
			}
			if isOwn {
				own = append(own, robotsRule{value, key == "allow"})
			}
			if isAll {
				all = append(all, robotsRule{value, key == "allow"})
			}
		}
	}
	if isNamed {
		return &own
	}
	return &all
}

// allow reports whether a path with its query may be asked for: the longest rule that matches decides.
func (r *robots) allow(path string) bool {
	longest, isAllow := -1, true
	for _, rule := range *r {
		n := len(rule.path)
		if (n > longest || n == longest && rule.isAllow) && rule.matches(path) {
			longest, isAllow = n, rule.isAllow
		}
	}
	return isAllow
}

// matches reports whether the rule is about a path. The parts between the stars are found one after the other, each
// as early as possible, so that no rule costs more than its length times the path's.
func (r robotsRule) matches(path string) bool {
	rule, isWhole := strings.CutSuffix(r.path, "$")
	parts := strings.Split(rule, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	for i, part := range parts[1:] {
		if isWhole && i == len(parts)-2 {
			return strings.HasSuffix(path, part)
		}
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	return !isWhole || path == ""
}
