package browser_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/chromedp"
)

var shots int

func (b *tab) shoot(dir string) {
	shots++
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '-' {
			return r
		}
		return '_'
	}, strings.SplitN(b.lastURL(), "/compte", 2)[1])
	for _, v := range []struct {
		s      screen
		scheme string
	}{{desktop, "light"}, {phone, "dark"}, {phone, "light"}, {desktop, "dark"}} {
		b.show(v.s)
		b.prefer(v.scheme)
		raw := get(b, chromedp.FullScreenshot(100))
		os.WriteFile(fmt.Sprintf("%s/%02d%.30s-%s-%s.png", dir, shots, name, v.s.name, v.scheme), raw, 0o644)
	}
	b.show(desktop)
}
