package main

import "testing"

func TestABaseURLHasAHostAndNothingAfterItsPath(t *testing.T) {
	for text, want := range map[string]string{
		"https://catalogue.example":      "https://catalogue.example",
		"https://catalogue.example/":     "https://catalogue.example",
		"http://localhost:8080":          "http://localhost:8080",
		"http://[::1]:8080":              "http://[::1]:8080",
		"https://catalogue.example/a/":   "https://catalogue.example/a",
		"":                               "",
		"nowhere":                        "",
		"ftp://catalogue.example":        "",
		"https://":                       "",
		"https://:8080":                  "",
		"https://ada@catalogue.example":  "",
		"https://catalogue.example?a=1":  "",
		"https://catalogue.example?":     "",
		"https://catalogue.example/#top": "",
		"https://catalogue.example#":     "",
	} {
		var got baseURL
		if err := got.UnmarshalText([]byte(text)); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
