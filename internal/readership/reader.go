package readership

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// robots are words in the names of programs, of which no browser has any. Programs that say where to
// read about them have the http of an address. Cubot makes telephones.
var robots = regexp.MustCompile(`(?i)^$|(?:^|[^u])bot|crawl|spider|slurp|scrap|http|curl|wget|fetch|python|java/|perl|axios|` +
	`undici|^node|^ruby|postman|headless|lighthouse|inspection|preview|monitor|archive|feed|embedly|nutch|masscan|zgrab|` +
	`whatsapp/|mediapartners|-user(?:/|$)`)

// isReader reports whether a request is that of a person's browser that shows a page.
func (c *Counter) isReader(r *http.Request) bool {
	agent, dest := r.Header["User-Agent"], r.Header["Sec-Fetch-Dest"] // which old browsers do not send
	isShown := dest == nil || dest[0] == "document"
	for _, ahead := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} { // fetched before anybody asks for it
		isShown = isShown && r.Header[ahead] == nil
	}
	if agent == nil || !isShown || r.Method != http.MethodGet {
		return false
	}
	isRobot, _ := c.robots.Load(agent[0], func() (bool, error) { return robots.MatchString(agent[0]), nil })
	return !isRobot
}

// hostName is the name of a host in a domain. Others, and addresses, are the machines of somebody.
var hostName = regexp.MustCompile(`^(?:[a-z0-9-]{1,63}\.){1,9}[a-z][a-z0-9-]{0,62}$`)

// hostOf returns the host that a reader comes from: "" if it is one of ours or none.
func hostOf(referer string, ours ...string) string {
	host := siteOf(referer)
	switch {
	case !strings.HasPrefix(referer, "http"), slices.ContainsFunc(ours, func(own string) bool { return siteOf(own) == host }):
		return ""
	case !hostName.MatchString(host):
		return Others
	}
	return host
}

// siteOf returns the host of an address without its port, and without what many names begin with.
func siteOf(address string) string {
	_, host, hasScheme := strings.Cut(address, "://")
	if !hasScheme {
		host = address
	}
	host, _, _ = strings.Cut(host, "/")
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	return strings.TrimPrefix(host, "www.")
}
