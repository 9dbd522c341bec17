package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// views compares a page that counts who reads it to the same page with readership: off.
func (b *bench) views() error {
	var loads []load
	for _, name := range []string{"counted", "uncounted"} {
		folder, database, err := b.catalogue(name, 50)
		if err != nil {
			return err
		}
		if name == "uncounted" {
			settings := filepath.Join(folder, "catalogue.yaml")
			text, err := os.ReadFile(settings)
			if err != nil {
				return err
			}
			if err := os.WriteFile(settings, append(text, "\nreadership: off\n"...), 0o600); err != nil {
				return err
			}
			if _, _, err := b.palmares(b.binary, "publish", folder, "--database", database); err != nil {
				return err
			}
		}
		p, err := b.serve(b.binary, database, "--quota", "off")
		if err != nil {
			return err
		}
		loads = append(loads, load{url: p.url + "/outils", headers: []string{"User-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "Accept-Encoding: br"}, seconds: 4, to: p})
	}
	figures, err := b.alternate(loads...)
	if err != nil {
		return err
	}
	fmt.Printf("A page that counts its views: %.0f requests/s, ratio %.3f to one that does not (at least 0.970); "+
		"processor time %.2f µs and %.2f µs\n", middle(figures[0]).rate, ratio(figures[0], figures[1]), cost(figures[0]), cost(figures[1]))
	for _, l := range loads {
		if err := l.to.stop(); err != nil {
			return err
		}
	}
	return nil
}
