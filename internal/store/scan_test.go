package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"testing"
	"time"

	"palmares/internal/account"
	"palmares/internal/keyring"
	"palmares/internal/quota"
)

// atRest gives all that the database keeps: of SQLite every byte of its files, of
// PostgreSQL, whose files are the server's, every row.
func atRest(t *testing.T, s *Store) []byte {
	t.Helper()
	if s.Shared() {
		return []byte(dump(t, s))
	}
	var all []byte
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(s.name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func TestNoKeyNoAddressAndNoDestroyedKeyOfADayIsAtRest(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		now := time.Date(2026, 11, 15, 23, 0, 0, 0, time.UTC)
		secrets := map[string][]byte{}
		hide := func(what string, b []byte) {
			secrets[what] = b
			secrets[what+" in hexadecimal"] = []byte(hex.EncodeToString(b))
		}

		// Keys are made, used, renamed, rotated, revoked, and go with their account.
		publish(t, s, catalogue(tool("a", "1 €/mois")), now)
		ring := keyring.New(s.Keys, func() time.Time { return now })
		var owners []account.Account
		for i := range 5 {
			email := fmt.Sprintf("owner%d@example.org", i)
			owners = append(owners, create(t, s, email, account.Developer))
			text, k := createKey(t, s, email, "import")
			next, _ := rotate(t, s, k.ID, now)
			for what, text := range map[string]string{"a key": text, "a successor": next} {
				what = fmt.Sprint(what, " ", i)
				hide(what, []byte(text))
				secrets[what+" in part"] = []byte(text[8:38])
				if _, err := ring.Check(ctx, text); err != nil {
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
		if err := s.Accounts.Delete(ctx, owners[4].Email); err != nil {
			t.Fatal(err)
		}

		// A real meter counts strangers on two days.
		meter, err := quota.New(ctx, quota.Config{
			Counters: s.Usage, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		count := func() {
			for i := range 300 {
				v4 := netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})
				v6 := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0xfe, 0xdc, byte(i >> 8), byte(i)})
				for _, network := range []netip.Prefix{netip.PrefixFrom(v4, 32), netip.PrefixFrom(v6, 64)} {
					as16 := network.Addr().As16()
					hide("the address "+network.Addr().String(), as16[:])
					secrets[network.Addr().String()] = []byte(network.Addr().String())
					meter.Take(t.Context(), quota.Subject{Network: network})
				}
			}
			meter.Take(t.Context(), quota.Subject{Tier: quota.Free, Account: owners[0].ID})
			done, stop := context.WithCancel(ctx)
			stop()
			if err := meter.Run(done); err != nil { // which saves once more before it ends
				t.Fatal(err)
			}
		}
		count()
		yesterday := dayKey(t, s, "2026-11-15")
		before := atRest(t, s)
		for _, there := range []string{owners[0].Email, hex.EncodeToString(yesterday[:])} {
			if !bytes.Contains(before, []byte(there)) {
				t.Fatalf("the scan does not see %q, which is there", there)
			}
		}

		now = now.Add(3 * time.Hour)
		count()
		prune(t, s, "2026-11-16", "2025-10-16")
		hide("the key of a day that is over", yesterday[:])
		after := atRest(t, s)
		for what, secret := range secrets {
			if bytes.Contains(after, secret) {
				t.Errorf("%s is at rest", what)
			}
		}
		today := dayKey(t, s, "2026-11-16")
		if !bytes.Contains(after, []byte(hex.EncodeToString(today[:]))) {
			t.Error("the key of the day is not there: a restart would begin at zero")
		}
		if bytes.Contains(after, []byte(owners[4].Email)) {
			t.Error("the address of a deleted account is at rest")
		}
	})
}
