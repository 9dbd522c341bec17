package account

import "testing"

func TestABearerTokenIsTheOnlyCredentialThatIsRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
		ok    bool
	}{
		{"as documented", []string{"Bearer plm_x"}, "plm_x", true},
		{"the scheme in any case", []string{"bEARER plm_x"}, "plm_x", true},
		{"several spaces", []string{"Bearer   plm_x"}, "plm_x", true},
		{"an empty token is found and refused later", []string{"Bearer "}, "", true},
		{"what follows the token belongs to it", []string{"Bearer plm_x y"}, "plm_x y", true},
		{"no header", nil, "", false},
		{"two headers", []string{"Bearer plm_x", "Bearer plm_x"}, "", false},
		{"another scheme", []string{"Basic plm_x"}, "", false},
		{"no scheme", []string{"plm_x"}, "", false},
		{"no token", []string{"Bearer"}, "", false},
		{"a tab is no space", []string{"Bearer\tplm_x"}, "", false},
		{"an empty header", []string{""}, "", false},
	} {
		if token, ok := Bearer(c.lines); token != c.want || ok != c.ok {
			t.Errorf("%s: %q, %t", c.name, token, ok)
		}
	}
}
