package main

import "fmt"

// connectionLimit is how many connections may be open; 0 until given.
type connectionLimit int

// defaultConnections is the limit where the limit of open files allows it.
const defaultConnections = 16_384

// maxConnections returns how many of a number of files are for connections. The
// database, the operator's listener, webhooks and mails need the rest.
func maxConnections(files int) int { return files - min(512, files/4) }

// fit sets the default and refuses more connections than a number of files allows.
func (c *connectionLimit) fit(files int) error {
	most := maxConnections(files)
	switch {
	case *c == 0:
		*c = connectionLimit(min(defaultConnections, most))
	case int(*c) > most:
		return fmt.Errorf("--max-connections %d needs more open files than the limit of %d allows: "+
			"raise that limit (LimitNOFILE of systemd, ulimit -n), or give at most %d", *c, files, most)
	}
	return nil
}
