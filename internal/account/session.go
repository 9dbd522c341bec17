package account

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"
)

// SessionID is the prefix of the ID of a session, by which its owner sees it. The secret in
// the cookie is another value, from NewToken.
const SessionID = "ses_"

// SessionLife is how long a session lasts after the last day on which it was used.
const SessionLife = 30 * 24 * time.Hour

// A Session is one browser in which somebody is signed in. It ends when its owner ends it,
// when the account is deleted, or SessionLife after its last use. Its JSON is what its owner exports.
type Session struct {
	ID        string    `json:"id"`
	AccountID string    `json:"-"`
	Browser   string    `json:"browser"` // as returned by DescribeBrowser
	CreatedAt time.Time `json:"created_at"`
	SeenOn    string    `json:"seen_on"` // the UTC day of its last use, 2026-11-15: no finer, so that a visit writes once a day
	ExpiresAt time.Time `json:"expires_at"`
}

// FormToken returns what the forms of a session carry, from the secret in its cookie. It does not
// lead back to the secret.
func FormToken(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("form"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:shareBytes])
}

// Substrings of a User-Agent and what they mean; the first match counts. Browsers include
// each other's names for compatibility, so the order matters: all but Firefox include
// Safari, and those based on Chrome include Chrome too.
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

// DescribeBrowser describes a User-Agent in a few French words: « Firefox sur Linux ». All
// words are ours: nothing that a client sends is kept, and no version, which could identify
// a browser.
func DescribeBrowser(userAgent string) string {
	browser, system := firstMatch(userAgent, browserMarks), firstMatch(userAgent, systemMarks)
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

func firstMatch(s string, marks [][2]string) string {
	for _, m := range marks {
		if strings.Contains(s, m[0]) {
			return m[1]
		}
	}
	return ""
}
