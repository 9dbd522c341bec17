package accountdb

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/mail"
	"palmares/internal/quota"
	"palmares/internal/testkit"
)

// secrets are byte strings that must not be stored, by what they are.
type secrets map[string][]byte

// add adds a secret, and its hexadecimal form.
func (x secrets) add(what string, b []byte) {
	x[what] = b
	x[what+" in hexadecimal"] = []byte(hex.EncodeToString(b))
}

// useKeys creates, uses, renames, rotates and revokes keys of five accounts, and deletes
// the last account.
func useKeys(t *testing.T, s *kit, hidden secrets, now time.Time) (owners []account.Account) {
	t.Helper()
	ctx := t.Context()
	ring := keyring.New(s.Keys, func() time.Time { return now })
	for i := range 5 {
		email := fmt.Sprintf("owner%d@example.org", i)
		owners = append(owners, create(t, s, email, account.Developer))
		text, k := createKey(t, s, email, "import")
		next, _ := rotate(t, s, k.ID, now)
		for what, text := range map[string]string{"a key": text, "a successor": next} {
			what = fmt.Sprint(what, " ", i)
			hidden.add(what, []byte(text))
			hidden[what+" in part"] = []byte(text[8:38])
			if _, err := ring.Check(ctx, text, netip.Prefix{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Keys.Rename(ctx, account.AnyOwner(), k.ID, "export"); err != nil {
			t.Fatal(err)
		}
		if err := s.Keys.Revoke(ctx, account.AnyOwner(), k.ID, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keys.MarkUsed(ctx, ring.Used()); err != nil {
		t.Fatal(err)
	}
	unused, network := link(t, s, owners[0].Email, account.LinkDeletion, now), netip.MustParsePrefix("198.51.100.77/32")
	hidden.add("a session", []byte(signIn(t, s, owners[0].Email, now)))
	hidden.add("a link", []byte(unused))
	hidden["a link in part"] = []byte(unused[8:40])
	hidden["who asks for a link"] = []byte(network.Addr().String())
	request(t, s, "stranger@example.org", network, now)
	for _, m := range claimMails(t, s, now, 10) { // only the queue has addresses, until it is emptied
		finishMail(t, s, m, mail.Verdict{})
	}
	hidden["an address without an account"] = []byte("stranger@example.org")
	if err := s.Accounts.Delete(ctx, owners[4].Email); err != nil {
		t.Fatal(err)
	}
	return owners
}

// countRequests has a meter count requests of 600 networks and of an account, and save
// them.
func countRequests(t *testing.T, meter *quota.Meter, hidden secrets, accountID string) {
	t.Helper()
	for i := range 300 {
		v4 := netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})
		v6 := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0xfe, 0xdc, byte(i >> 8), byte(i)})
		for _, network := range []netip.Prefix{netip.PrefixFrom(v4, 32), netip.PrefixFrom(v6, 64)} {
			as16 := network.Addr().As16()
			hidden.add("the address "+network.Addr().String(), as16[:])
			hidden[network.Addr().String()] = []byte(network.Addr().String())
			meter.Take(t.Context(), quota.Subject{Network: network})
		}
	}
	meter.Take(t.Context(), quota.Subject{Tier: quota.Free, Account: accountID})
	done, stop := context.WithCancel(t.Context())
	stop()
	if err := meter.Run(done); err != nil { // it saves once more before it ends
		t.Fatal(err)
	}
}

func TestNoKeyOrAddressIsStoredInClearAndNoDeletedDayKeyRemains(t *testing.T) {
	each(t, func(t *testing.T, s *kit) {
		now := time.Date(2026, 11, 15, 23, 0, 0, 0, time.UTC)
		hidden := secrets{}
		publish(t, s, small(tool("a", "1 €/mois")), now)
		owners := useKeys(t, s, hidden, now)

		// A real meter counts networks on two days.
		meter, err := quota.New(t.Context(), quota.Config{
			Counters: s.Usage, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		countRequests(t, meter, hidden, owners[0].ID)
		yesterday := dayKey(t, s, "2026-11-15")
		before := testkit.AtRest(t, s.SQL.Reads())
		for _, there := range []string{owners[0].Email, hex.EncodeToString(yesterday[:])} {
			if !bytes.Contains(before, []byte(there)) {
				t.Fatalf("the scan does not see %q, which is there", there)
			}
		}

		now = now.Add(3 * time.Hour)
		countRequests(t, meter, hidden, owners[0].ID)
		prune(t, s, "2026-11-16", "2025-10-16")
		hidden.add("the key of a day that is over", yesterday[:])
		after := testkit.AtRest(t, s.SQL.Reads())
		for what, secret := range hidden {
			if bytes.Contains(after, secret) {
				t.Errorf("%s is stored", what)
			}
		}
		today := dayKey(t, s, "2026-11-16")
		if !bytes.Contains(after, []byte(hex.EncodeToString(today[:]))) {
			t.Error("the key of the day is not there: a restart would begin at zero")
		}
		if bytes.Contains(after, []byte(owners[4].Email)) {
			t.Error("the address of a deleted account is stored")
		}
	})
}
