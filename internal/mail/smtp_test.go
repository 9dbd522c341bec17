package mail_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"palmares/internal/mail"
)

func TestTheMailServerIsReadFromItsAddress(t *testing.T) {
	for text, want := range map[string]mail.SMTP{
		"smtp://mail.example.org":                          {Host: "mail.example.org", Port: 587, Security: mail.StartTLS},
		"smtp://mail.example.org:25/":                      {Host: "mail.example.org", Port: 25, Security: mail.StartTLS},
		"smtp://mail.example.org:25?tls=off":               {Host: "mail.example.org", Port: 25, Security: mail.Off},
		"smtp://ada:s%40cret@mail.example.org":             {Host: "mail.example.org", Port: 587, User: "ada", Security: mail.StartTLS},
		"smtp://ada%40example.org:secret@mail.example":     {Host: "mail.example", Port: 587, User: "ada@example.org", Security: mail.StartTLS},
		"smtps://ada:secret@mail.example.org":              {Host: "mail.example.org", Port: 465, User: "ada", Security: mail.Implicit},
		"smtps://mail.example.org:2465":                    {Host: "mail.example.org", Port: 2465, Security: mail.Implicit},
		"smtp://mail.example.org:465?tls=implicit":         {Host: "mail.example.org", Port: 465, Security: mail.Implicit},
		"smtp://localhost:1025":                            {Host: "localhost", Port: 1025},
		"smtp://127.0.0.1:1025":                            {Host: "127.0.0.1", Port: 1025},
		"smtp://[::1]:1025":                                {Host: "::1", Port: 1025},
		"smtp://localhost:1025?tls=starttls":               {Host: "localhost", Port: 1025, Security: mail.StartTLS},
		"smtp://ada:secret@localhost:1025":                 {Host: "localhost", Port: 1025, User: "ada", Security: mail.StartTLS},
		"smtp://ada:secret@localhost:1025?tls=off":         {Host: "localhost", Port: 1025, User: "ada", Security: mail.Off},
		"smtp://localhost.example.org:25?tls=starttls":     {Host: "localhost.example.org", Port: 25, Security: mail.StartTLS},
		"smtp://127.0.0.1.example.org":                     {Host: "127.0.0.1.example.org", Port: 587, Security: mail.StartTLS},
		"SMTP://mail.example.org":                          {Host: "mail.example.org", Port: 587, Security: mail.StartTLS},
		"smtp://ada:a%2Fb%3Fc%23d@mail.example.org:587":    {Host: "mail.example.org", Port: 587, User: "ada", Security: mail.StartTLS},
		"smtp://ada:secret@[2001:db8::1]:587?tls=starttls": {Host: "2001:db8::1", Port: 587, User: "ada", Security: mail.StartTLS},
	} {
		got, err := mail.ParseSMTP(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.Host != want.Host || got.Port != want.Port || got.User != want.User || got.Security != want.Security {
			t.Errorf("%s: host %s, port %d, user %s, security %q", text, got.Host, got.Port, got.User, got.Security)
		}
	}
}

const hidden = "Tr0ub4dor"

func TestNonsenseForAMailServerIsRefusedWithoutRepeatingThePassword(t *testing.T) {
	for text, hint := range map[string]string{
		"":                                                        "scheme",
		"mail.example.org":                                        "scheme",
		"mail.example.org:587":                                    "scheme",
		"ada:" + hidden + "@mail.example.org":                     "scheme",
		"http://ada:" + hidden + "@mail":                          "scheme",
		"smtp:mail.example.org":                                   "no host",
		"smtp://":                                                 "no host",
		"smtp://ada:" + hidden + "@":                              "no host",
		"smtp://:587":                                             "no host",
		"smtp://mail:0":                                           "port",
		"smtp://mail:65536":                                       "port",
		"smtp://ada:" + hidden + "@mail:smtp":                     "not a URL",
		"smtp://ada:" + hidden + "/@mail":                         "not a URL",
		"smtp://ada:" + hidden + "%@mail":                         "not a URL",
		"smtp://ada:" + hidden + "@mail/inbox":                    "after its port",
		"smtp://ada:" + hidden + "@mail#x":                        "after its port",
		"smtp://" + hidden + "@mail":                              "without a password",
		"smtp://:" + hidden + "@mail":                             "without a password",
		"smtp://ada:" + hidden + "%0D%0A@mail":                    "control character",
		"smtp://mail\r\n":                                         "not a URL",
		"smtp://ada:" + hidden + "@mail?tls=never":                "neither off nor starttls nor implicit",
		"smtp://ada:" + hidden + "@mail?tls=":                     "neither off nor starttls nor implicit",
		"smtp://ada:" + hidden + "@mail?tls=off":                  "for all to read",
		"smtp://ada:" + hidden + "@mail?tls=off&tls=starttls":     "the only one is tls",
		"smtp://ada:" + hidden + "@mail?ssl=on":                   "the only one is tls",
		"smtp://ada:" + hidden + "@mail?tls=starttls&x=" + hidden: "the only one is tls",
		"smtp://ada:" + hidden + "@mail?%zz":                      "the only one is tls",
		"smtps://ada:" + hidden + "@mail?tls=starttls":            "write smtp://",
	} {
		got, err := mail.ParseSMTP(text)
		if err == nil {
			t.Errorf("%q is taken: %v", text, got)
			continue
		}
		if !strings.Contains(err.Error(), hint) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%q: %v; want a word about %q and none of the password", text, err, hint)
		}
	}
}

func TestAMailServerIsPrintedWithoutItsPassword(t *testing.T) {
	s, err := mail.ParseSMTP("smtps://ada:" + hidden + "@mail.example.org")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{s, &s, []mail.SMTP{s}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, hidden) || !strings.Contains(text, "mail.example.org:465") && verb == "%v" {
				t.Errorf("%s prints %s", verb, text)
			}
		}
	}
}

func FuzzParseSMTP(f *testing.F) {
	for _, seed := range []string{
		"smtp://ada:secret@mail.example.org:587?tls=starttls", "smtps://mail.example.org", "smtp://[::1]:25", "smtp://localhost?tls=off",
		"smtp://%00", "smtp://a@b@c", "smtp://a:b%@c", "://", "smtp://u:p@127.0.0.1:99999", "smtp:///x", "smtp://h?tls=off&tls=off",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := mail.ParseSMTP(text)
		if err != nil {
			if u, parse := url.Parse(text); parse == nil && u.User != nil {
				if p, _ := u.User.Password(); len(p) > 8 && strings.Contains(err.Error(), p) && !strings.Contains("smtp://USER:PASSWORD@HOST:PORT", p) {
					t.Errorf("the error repeats the password: %v", err)
				}
			}
			return
		}
		if s.Host == "" || s.Port < 1 || s.Port > 65535 || strings.ContainsAny(s.Host+s.User, "\r\n\x00") {
			t.Errorf("%q was taken as %v", text, s)
		}
		if s.User != "" && s.Security != mail.StartTLS && s.Security != mail.Implicit && s.Host != "localhost" && !strings.HasSuffix(strings.ToLower(s.Host), "localhost") &&
			!strings.HasPrefix(s.Host, "127.") && !strings.Contains(s.Host, "::") && !strings.Contains(s.Host, ":") {
			t.Errorf("%q sends a password in clear to %s", text, s.Host)
		}
	})
}

func TestTheSenderOfMailsIsAtTheSiteUnlessNamed(t *testing.T) {
	for _, c := range []struct{ text, base, want, hint string }{
		{base: "https://palmares.example", want: `<no-reply@palmares.example>`},
		{base: "http://localhost:8080", want: `<no-reply@localhost>`},
		{base: "http://127.0.0.1:8080", want: `<no-reply@localhost>`},
		{base: "http://[::1]:8080", want: `<no-reply@localhost>`},
		{base: "http://192.0.2.1", hint: "--mail-from"},
		{base: "https://palmarès.example", hint: "xn--"},
		{text: "bot@example.org", want: `<bot@example.org>`},
		{text: "Les outils <bot@example.org>", want: `"Les outils" <bot@example.org>`},
		{text: "bot", hint: "is not the sender"},
		{text: "a@example.org, b@example.org", hint: "is not the sender"},
		{text: "bot@example.org\r\nBcc: eve@example.org", hint: "is not the sender"},
		{text: "\"x\r\n y\" <bot@example.org>", hint: "is not the sender"},
		{text: `"a b"@example.org`, hint: "plain letters"},
		{text: "zoé@example.org", hint: "plain letters"},
	} {
		base, err := url.Parse(c.base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mail.ParseFrom(c.text, base)
		if c.hint != "" {
			if err == nil || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("%q at %s: %v, %v; want a word about %q", c.text, c.base, got, err, c.hint)
			}
		} else if err != nil || got.String() != c.want {
			t.Errorf("%q at %s: %s, %v; want %s", c.text, c.base, got.String(), err, c.want)
		}
	}
}
