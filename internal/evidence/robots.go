package evidence

import (
	"slices"
	"strings"
)

// robots are the rules of a host's robots.txt for one agent (RFC 9309), those first that decide: long ones, and allowing.
type robots []rule

type rule struct {
	path string // with * for any text, and $ at its end for the end of the path
	verb string // allow or disallow
}

// parseRobots reads the rules for an agent: those of the groups that name it, or else those for all.
func parseRobots(text, agent string) robots {
	rules, group, isOver := map[string]robots{}, []string{}, false // the agents of the present group
	agent, text = strings.ToLower(agent), strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r", "\n")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch key {
		case "user-agent":
			if isOver {
				group, isOver = nil, false
			}
			if name := strings.ToLower(value); (name == "*" || name == agent) && !slices.Contains(group, name) {
				group, rules[name] = append(group, name), append(rules[name], rule{"", "allow"})
			}
		case "allow", "disallow":
			isOver = true
			for _, name := range group {
				if value != "" {
					rules[name] = append(rules[name], rule{value, key})
				}
			}
		}
	}
	list, ok := rules[agent]
	if !ok {
		list = rules["*"]
	}
	slices.SortFunc(list, func(a, b rule) int { return 2*(len(b.path)-len(a.path)) + strings.Compare(a.verb, b.verb) })
	return list
}

// allow reports whether a path with its query may be asked for: the longest rule that matches decides.
func (r robots) allow(path string) bool {
	i := slices.IndexFunc(r, func(x rule) bool { return x.matches(path) })
	return i < 0 || r[i].verb == "allow"
}

// matches reports whether the rule is about a path. The parts between the stars are found one after the other, each
// as early as possible, so that no rule costs more than its length times the path's.
func (r rule) matches(path string) bool {
	rest, isWhole := strings.CutSuffix(r.path, "$")
	if !isWhole {
		rest += "*"
	}
	part, rest, hasStar := strings.Cut(rest, "*")
	path, ok := strings.CutPrefix(path, part)
	for ok && hasStar {
		if part, rest, hasStar = strings.Cut(rest, "*"); !hasStar {
			return strings.HasSuffix(path, part)
		}
		_, path, ok = strings.Cut(path, part)
	}
	return ok && path == ""
}
