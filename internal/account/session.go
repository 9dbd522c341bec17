package account

import (
	"strings"
	"time"
)

// SessionID is the prefix of the name of a session, in the list that its owner
// sees. The secret in the cookie is another thing: NewToken makes it.
const SessionID = "ses_"

// SessionLife is how long a session lasts after the last day on which it was used.
const SessionLife = 30 * 24 * time.Hour

// A Session is one browser in which somebody is signed in. A sign-in makes it; it
// ends when its owner ends it, with the account, or SessionLife after its last use.
type Session struct {
	ID        string
	AccountID string
	Browser   string // as DescribeBrowser gives it
	CreatedAt time.Time
	SeenOn    string // the UTC day of its last use, 2026-11-15: no finer, so that a visit writes once a day
	ExpiresAt time.Time
}

// Marks in a User-Agent and what they mean, the first that is found. Browsers name
// each other for old sites' sake, so that the order tells them apart: all but
// Firefox say Safari, and those made from Chrome say Chrome too.
var (
	browserMarks = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"YaBrowser/", "Yandex"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Chromium/", "Chromium"},
		{"Safari/", "Safari"},
		{"curl/", "curl"},
	}
	systemMarks = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"Macintosh", "macOS"},
		{"FreeBSD", "FreeBSD"},
		{"Linux", "Linux"},
	}
)

// DescribeBrowser says in a few French words what sent a User-Agent: « Firefox sur
// Linux ». All its words are ours: nothing that a stranger sends is kept, and no
// version, by which one browser could be told from others.
func DescribeBrowser(userAgent string) string {
	browser, system := marked(userAgent, browserMarks), marked(userAgent, systemMarks)
	switch {
	case browser == "" && system == "":
		return "Navigateur inconnu"
	case browser == "":
		return "Navigateur inconnu sur " + system
	case system == "":
		return browser
	}
	return browser + " sur " + system
}

func marked(s string, marks [][2]string) string {
	for _, m := range marks {
		if strings.Contains(s, m[0]) {
			return m[1]
		}
	}
	return ""
}
