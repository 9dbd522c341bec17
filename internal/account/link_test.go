package account

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestATokenIs32RandomBytes(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token := NewToken(rand.Reader)
		if !HasTokenForm(token) || seen[token] {
			t.Fatalf("the token %q has not the form of one, or came twice", token)
		}
		seen[token] = true
	}
	if got := NewToken(bytes.NewReader(bytes.Repeat([]byte{0xff}, 32))); got != strings.Repeat("_", 42)+"8" {
		t.Errorf("32 bytes of ones are %q", got)
	}
}

func TestWhatCannotBeATokenIsRefused(t *testing.T) {
	token := NewToken(bytes.NewReader(make([]byte, 32))) // it stays valid base64 when characters are cut off
	for _, s := range []string{"", token[1:], token + "A", token + "=", token[:42] + "!", token[:42] + "\n", token[:42] + "\r", token[:41] + "\r\n", token[:20] + "\n" + token[21:], strings.Repeat("_", 43), " " + token[1:], strings.Repeat("é", 21) + "A"} {
		if HasTokenForm(s) {
			t.Errorf("%q passes for a token", s)
		}
	}
}

func TestMailsAreLimitedInEveryStretchOfTime(t *testing.T) {
	start := time.Date(2026, 11, 15, 23, 50, 0, 0, time.UTC)
	for _, tt := range []struct {
		what  string
		limit MailLimit
		every time.Duration
		asked int
		want  []int // minutes at which a mail goes out
	}{
		{"an address that asks each minute", AddressLimit(), time.Minute, 35, []int{0, 1, 2, 15, 16, 17, 30, 31, 32}},
		{"an address that asks every hour", AddressLimit(), time.Hour, 26, []int{0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 1440, 1500}},
		{"a network that asks each minute", NetworkLimit(), time.Minute, 65, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 60, 61, 62, 63, 64}},
	} {
		var sent []time.Time
		var got []int
		for i := range tt.asked {
			now := start.Add(time.Duration(i) * tt.every)
			if tt.limit.Allows(sent, now) {
				sent = append(sent, now)
				got = append(got, int(now.Sub(start).Minutes()))
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s has mails at %v, want %v", tt.what, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s has mails at %v, want %v", tt.what, got, tt.want)
				break
			}
		}
	}
}

func TestAMailOfAClockThatIsAheadCounts(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ahead := now.Add(2 * time.Second)
	if AddressLimit().Allows([]time.Time{ahead, ahead, ahead}, now) {
		t.Error("three mails of another node's next seconds are overlooked")
	}
}

func TestALimitRemembersAsLongAsItReaches(t *testing.T) {
	if a, n := AddressLimit().Memory(), NetworkLimit().Memory(); a != 24*time.Hour || n != time.Hour {
		t.Errorf("addresses are remembered for %s and networks for %s", a, n)
	}
}

func TestALinkMailNeedsRoomForItsAddressAndItsNetwork(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	mails := func(n int) []time.Time { return slices.Repeat([]time.Time{now.Add(-time.Minute)}, n) }
	for _, test := range []struct {
		address, network int
		want             bool
	}{
		{0, 0, true},
		{2, 9, true},
		{3, 0, false},
		{0, 10, false},
		{3, 10, false},
	} {
		if got := LinkMailAllowed(mails(test.address), mails(test.network), now); got != test.want {
			t.Errorf("after %d mails to the address and %d from the network: %v", test.address, test.network, got)
		}
	}
}
