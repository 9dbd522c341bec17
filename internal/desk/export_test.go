package desk

import "palmares/internal/account"

// Routes returns the role that each route needs.
func Routes() map[string]account.Role {
	d := &desk{}
	all := map[string]account.Role{}
	for _, r := range d.routes(false) {
		all[r.pattern] = r.role
	}
	return all
}
