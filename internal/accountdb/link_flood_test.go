package accountdb

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/vault"
)

// manyNetworks returns the n-th of many networks.
func manyNetworks(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 32)
}

func TestRequestsInSomebodysNameDoNotKeepHerOut(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		var mails, longest int
		last := 0
		for minute := 0; minute < 24*60; minute += 5 {
			now := monday.Add(time.Duration(minute) * time.Minute)
			// An attacker from a network of its own each time, and then the owner.
			sent := request(t, s, "ada@example.org", manyNetworks(minute), now)
			if minute%60 == 0 {
				sent = request(t, s, "ada@example.org", home, now) || sent
			}
			if sent {
				mails, longest, last = mails+1, max(longest, minute-last), minute
			}
		}
		if longest > 60 || mails > 10+24 {
			t.Errorf("%d mails in a day, and none for %d minutes; want at most 34 and 60", mails, longest)
		}
	})
}

func TestRequestsToFollowKeepNobodyFromSigningIn(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		sealer, err := vault.ParseKeys(base64.StdEncoding.EncodeToString(make([]byte, vault.KeySize)))
		links := s.Links.Sealed(sealer)
		for i := range 30 { // in her name from everywhere, and in other names from her network
			_, byHer := links.Request(t.Context(), fmt.Sprintf("a%d@example.org", i), account.LinkFollow, "", home, monday)
			_, forHer := links.Request(t.Context(), "ada@example.org", account.LinkFollow, "", manyNetworks(i), monday)
			err = errors.Join(err, byHer, forHer)
		}
		if err != nil || !request(t, s, "ada@example.org", home, monday) {
			t.Errorf("she gets no mail to sign in, %v", err)
		}
	})
}

func TestReportsFromOneProviderLeaveRoomForThoseOfOthers(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		taken := map[byte]int{}
		for i := range 610 {
			network := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, byte(i / 102), 7, byte(i)}), 32)
			stored, err := s.Links.Limited(t.Context(), "report", network, monday, func(*sql.Tx) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if stored {
				taken[byte(i/102)]++
			}
		}
		if want := map[byte]int{0: 100, 1: 100, 2: 100, 3: 100, 4: 100, 5: 5}; !maps.Equal(taken, want) {
			t.Errorf("reports by provider: %v", taken)
		}
	})
}

func TestRequestsFromOneProviderLeaveRoomForThoseOfOthers(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		sent := 0
		for i := range 120 {
			if request(t, s, fmt.Sprintf("a%d@example.org", i), manyNetworks(i), monday) {
				sent++
			}
		}
		if sent != 100 {
			t.Errorf("%d mails for the customers of one provider, not 100", sent)
		}
		s.Links.ceiling = account.MailLimit{{Most: 100, During: time.Hour}} // which is used up now
		if !request(t, s, "ada@example.org", home, monday) {
			t.Error("somebody else gets no mail")
		}
	})
}

// whileNobodyWrites runs fn while another transaction keeps Request from writing.
func whileNobodyWrites(t *testing.T, s *kit, fn func()) {
	t.Helper()
	err := s.SQL.Sending().WriteLarge(t.Context(), func(tx *sql.Tx) error {
		if s.SQL.Shared() {
			if _, err := tx.ExecContext(t.Context(), `LOCK TABLE link_requests IN EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		fn()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARequestThatIsRefusedDoesNotWaitForAWriter(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for range 3 {
			request(t, s, "ada@example.org", home, monday)
		}
		whileNobodyWrites(t, s, func() {
			if request(t, s, "ada@example.org", home, monday) {
				t.Error("a fourth mail is sent")
			}
		})
	})
}

func TestAllMailsTogetherHaveACeilingThatMadeUpAddressesCannotUseUpForOwners(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		s.Links.ceiling = account.MailLimit{{Most: 5, During: time.Hour}}
		create(t, s, "ada@example.org", account.Developer)
		for i := range 7 {
			queued, err := s.Links.Request(t.Context(), fmt.Sprintf("a%d@example.org", i), account.LinkSignIn, "", manyNetworks(i), monday)
			if want := i < 5; queued != want || errors.Is(err, ErrCeiling) == want {
				t.Errorf("mail %d to a stranger: %t, %v", i, queued, err)
			}
		}
		if !request(t, s, "ada@example.org", home, monday) {
			t.Error("an owner gets no mail")
		}
		if !request(t, s, editor, manyNetworks(8), monday) {
			t.Error("an editor who never signed in gets no mail")
		}
		sealer, err := vault.ParseKeys(base64.StdEncoding.EncodeToString(make([]byte, vault.KeySize)))
		if err != nil {
			t.Fatal(err)
		}
		queued, err := s.Links.Sealed(sealer).Request(t.Context(), "lea@example.org", account.LinkFollow, "", manyNetworks(7), monday)
		if !queued || err != nil {
			t.Errorf("a reader gets no mail, %v", err)
		}
		if !request(t, s, "a9@example.org", manyNetworks(9), monday.Add(time.Hour)) {
			t.Error("an hour later there is none")
		}
	})
}

func TestPagesDoNotKeepWebhooksAndMailsFromTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		request(t, s, "ada@example.org", home, monday)
		var held []*sql.Conn
		for range s.SQL.Reads().Stats().MaxOpenConnections {
			conn, err := s.SQL.Reads().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.Deliveries.Claim(ctx, monday, time.Minute, 10); err != nil {
			t.Errorf("no webhook is sent: %v", err)
		}
		if mails, err := s.Mails.Claim(ctx, monday, 10); err != nil || len(mails) != 1 {
			t.Errorf("%d mails are sent, %v", len(mails), err)
		}
		if _, err := s.Links.Create(ctx, "ada@example.org", account.LinkSignIn, monday); err != nil {
			t.Errorf("a mail gets no link: %v", err)
		}
		for _, conn := range held {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAColumnThatWasChangedByHandIsAnErrorAndNoPanic(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		for _, text := range []string{"", "0", "00ff", "zz", fmt.Sprintf("%0100d", 0)} {
			exec(t, s, `DELETE FROM pseudonym_keys`)
			exec(t, s, `INSERT INTO pseudonym_keys (purpose, day, key) VALUES ($1, $2, $3)`, forLinks, "2026-11-16", text)
			if _, err := s.Links.Request(t.Context(), "ada@example.org", account.LinkSignIn, "", home, monday); err == nil {
				t.Errorf("the key %q is accepted", text)
			}
		}
	})
}
