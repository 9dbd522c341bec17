package account

import (
	"strings"
	"testing"
)

func TestABrowserIsDescribedInFewWords(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                    "Firefox sur Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                           "Chrome sur Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0":             "Edge sur Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                     "Safari sur macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1":   "Safari sur iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148 Safari/605.1.15": "Firefox sur iPhone",
		"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.0.0 Mobile/15E148 Safari/604.1":         "Chrome sur iPad",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":       "Samsung Internet sur Android",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36":                            "Chrome sur ChromeOS",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0":                       "Opera sur Linux",
		"curl/8.14.1":                         "curl",
		"":                                    "Navigateur inconnu",
		"<script>alert(1)</script> sur Linux": "Navigateur inconnu sur Linux",
	} {
		if got := DescribeBrowser(agent); got != want {
			t.Errorf("%q is described as %q, want %q", agent, got, want)
		}
	}
}

// Whatever a stranger calls himself, only words of ours are kept.
func FuzzADescriptionHoldsOurWordsOnly(f *testing.F) {
	for _, s := range []string{"", "Firefox/ Linux", "Edg", "<b>", "\x00\xff", strings.Repeat("Chrome/", 1000)} {
		f.Add(s)
	}
	ours := map[string]bool{"Navigateur inconnu": true}
	for _, b := range browserMarks {
		ours[b[1]] = true
	}
	systems := map[string]bool{}
	for _, s := range systemMarks {
		systems[s[1]] = true
	}
	f.Fuzz(func(t *testing.T, agent string) {
		browser, system, has := strings.Cut(DescribeBrowser(agent), " sur ")
		if !ours[browser] || has && !systems[system] {
			t.Errorf("%q is described as %q on %q", agent, browser, system)
		}
	})
}
