package account

import "testing"

func TestWhoMayDoWhat(t *testing.T) {
	for _, c := range []struct {
		who, needed Role
		may         bool
	}{
		{"", "", false},
		{"", Author, false},
		{"", Editor, false},
		{Author, "", false},
		{Author, Author, true},
		{Author, Editor, false},
		{Editor, "", false},
		{Editor, Author, true},
		{Editor, Editor, true},
		{"owner", "", false},
		{"owner", "owner", false},
		{"owner", Author, false},
		{"owner", Editor, false},
		{"Editor", Editor, false},
	} {
		if got := c.who.Includes(c.needed); got != c.may {
			t.Errorf("somebody with the role %q may do what needs %q: %t", c.who, c.needed, got)
		}
	}
}
