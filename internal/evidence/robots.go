package evidence

import (
	"slices"
	"strings"
)

// robots are the rules of a host's robots.txt for one agent (RFC 9309), those first that decide: the longest, and allowing.
type robots []robotsRule

type robotsRule struct {
	path string // with * for any text, and $ at its end for the end of the path
	verb string // allow or disallow
}

// parseRobots reads the rules for an agent: those of the groups that name it, or else those for all.
func parseRobots(text, agent string) robots {
	rules, group, isOver := map[string]robots{}, []string{}, false // the agents of the present group
	for line := range strings.FieldsFuncSeq(strings.TrimPrefix(text, "\ufeff"), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if isOver {
				group, isOver = nil, false
			}
			if name := strings.ToLower(value); (name == "*" || name == strings.ToLower(agent)) && !slices.Contains(group, name) {
				group, rules[name] = append(group, name), rules[name]
			}
		case "allow", "disallow":
			isOver = true
			for _, name := range group {
				if value != "" {
					rules[name] = append(rules[name], robotsRule{value, key})
				}
			}
		}
	}
	list, ok := rules[strings.ToLower(agent)]
	if !ok {
		list = rules["*"]
	}
	slices.SortFunc(list, func(a, b robotsRule) int { return 2*(len(b.path)-len(a.path)) + strings.Compare(a.verb, b.verb) })
	return list
}

// allow reports whether a path with its query may be asked for: the longest rule that matches decides.
func (r robots) allow(path string) bool {
	i := slices.IndexFunc(r, func(rule robotsRule) bool { return rule.matches(path) })
	return i < 0 || r[i].verb == "allow"
}

// matches reports whether the rule is about a path. The parts between the stars are found one after the other, each
// as early as possible, so that no rule costs more than its length times the path's.
func (r robotsRule) matches(path string) bool {
	rule, isWhole := strings.CutSuffix(r.path, "$")
	if !isWhole {
		rule += "*"
	}
	part, rule, hasStar := strings.Cut(rule, "*")
	path, ok := strings.CutPrefix(path, part)
	for ok && hasStar {
		if part, rule, hasStar = strings.Cut(rule, "*"); !hasStar {
			return strings.HasSuffix(path, part)
		}
		_, path, ok = strings.Cut(path, part)
	}
	return ok && path == ""
}
