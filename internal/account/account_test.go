package account

import (
	"strings"
	"testing"
)

func TestPlansHaveTheirKeys(t *testing.T) {
	for plan, want := range map[string]int{"developer": 3, "pro": 10} {
		p, err := ParsePlan(plan)
		if err != nil || MaxKeys(p) != want {
			t.Errorf("plan %s: %d keys, %v; want %d", plan, MaxKeys(p), err, want)
		}
	}
	for _, s := range []string{"", "Pro", "free", "anonymous", "pro "} {
		if _, err := ParsePlan(s); err == nil || !strings.Contains(err.Error(), "developer or pro") {
			t.Errorf("ParsePlan(%q) = %v; want a sentence with the plans there are", s, err)
		}
	}
}

func TestOneAddressHasOneForm(t *testing.T) {
	for in, want := range map[string]string{
		"ada@example.org":             "ada@example.org",
		"  Ada.Lovelace@Example.ORG ": "ada.lovelace@example.org",
		"ada+palmares@example.org":    "ada+palmares@example.org",
		"ÉLODIE@exemple.fr":           "élodie@exemple.fr",
		"o'neil@example.org":          "o'neil@example.org",
		"ada@Hôtel-1.exemple.fr":      "ada@hôtel-1.exemple.fr",
		"ada@xn--htel-1-cxa.example":  "ada@xn--htel-1-cxa.example",
	} {
		if got, err := NormalizeEmail(in); got != want || err != nil {
			t.Errorf("NormalizeEmail(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestWhatIsNotAnAddressIsRefused(t *testing.T) {
	for _, in := range []string{
		"", " ", "ada", "@example.org", "ada@", "ada@@example.org", "ada example@example.org",
		"Ada <ada@example.org>", "<ada@example.org>", "ada@example.org (Ada)", `"ada lovelace"@example.org`,
		"ada@example.org, bob@example.org", "ada@example.org\r\nBcc: bob@example.org", "ada\x00@example.org",
		"ada@[127.0.0.1]", "ada\u200b@example.org", "ada@exam\xffple.org",
		"root@localhost", "a@b_c", "a@b_c.fr", "a@-b.fr", "a@b-.fr", "a@b..fr", "a@.fr", "a@fr.", "a@10.0.0.1", "a@" + strings.Repeat("b", 64) + ".fr",
		strings.Repeat("a", 250) + "@b.fr",
	} {
		if got, err := NormalizeEmail(in); err == nil {
			t.Errorf("NormalizeEmail(%q) = %q; want an error", in, got)
		}
	}
}

func TestTheLongestAddressStillPasses(t *testing.T) {
	in := strings.Repeat("a", 249) + "@b.fr"
	if got, err := NormalizeEmail(in); got != in || err != nil {
		t.Errorf("an address of %d bytes: %v", len(in), err)
	}
}

func FuzzNormalizeEmail(f *testing.F) {
	for _, s := range []string{"ada@example.org", "Ada <a@b>", "é@é.fr", "a@[::1]", "\"a\"@b", "a@b\x00", "İ@x.fr"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		email, err := NormalizeEmail(s)
		if err != nil {
			return
		}
		if again, err := NormalizeEmail(email); again != email || err != nil {
			t.Errorf("%q is normal, yet becomes %q, %v", email, again, err)
		}
		if strings.ContainsAny(email, " \t\r\n\x00<>") || strings.Count(email, "@") == 0 {
			t.Errorf("%q passed as %q", s, email)
		}
	})
}

func TestKeyNamesAreShortAndPrintable(t *testing.T) {
	if got, err := NormalizeKeyName("  import de nuit  "); got != "import de nuit" || err != nil {
		t.Errorf("NormalizeKeyName = %q, %v", got, err)
	}
	if _, err := NormalizeKeyName(strings.Repeat("é", 100)); err != nil {
		t.Errorf("a name of 100 characters: %v", err)
	}
	for _, s := range []string{"", "  ", "a\nb", "a\u200bb", "a\u202eb", "a\u00adb", "a\x00b", "\xff", strings.Repeat("é", 101)} {
		if got, err := NormalizeKeyName(s); err == nil {
			t.Errorf("NormalizeKeyName(%q) = %q; want an error", s, got)
		}
	}
}
