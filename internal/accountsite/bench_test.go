package accountsite_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// BenchmarkRequestingALink shows what an attacker could measure: the median time of
// the same request for an address with an account, one without, and one that reached
// its limit of mails. They alternate, so that a slow machine slows all of them.
func BenchmarkRequestingALink(b *testing.B) {
	for name, dsn := range map[string]func() string{
		"sqlite":   func() string { return databases.SQLite(b) },
		"postgres": func() string { return databases.Postgres(b) },
	} {
		b.Run(name, func(b *testing.B) {
			p := open(b, dsn(), publicURL)
			const accounts = 200
			for i := range accounts {
				p.signedIn(fmt.Sprintf("known%d@example.org", i))
			}
			took := map[string][]time.Duration{}
			ask := func(kind, email string, n int) {
				caller := p.browser()
				caller.from = fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
				start := time.Now()
				answer := caller.post("/compte", "email", email)
				took[kind] = append(took[kind], time.Since(start))
				answer.Is(http.StatusSeeOther)
			}
			for range 3 {
				ask("warm-up", "limited@example.org", 0)
			}
			n := 1
			for b.Loop() {
				p.now = p.now.Add(time.Millisecond)
				if n%(3*accounts) == 1 {
					p.now = p.now.Add(3 * time.Hour) // so that mails are allowed again
					for range 3 {
						ask("warm-up", "limited@example.org", 0)
					}
				}
				ask("known", fmt.Sprintf("known%d@example.org", n/3%accounts), n)
				ask("unknown", fmt.Sprintf("other%d@example.org", n), n+1)
				ask("limited", "limited@example.org", n+2)
				n += 3
			}
			for _, kind := range []string{"known", "unknown", "limited"} {
				slices.Sort(took[kind])
				b.ReportMetric(float64(took[kind][len(took[kind])/2].Microseconds()), kind+"-µs")
			}
		})
	}
}
