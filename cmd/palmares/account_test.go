package main

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"palmares/internal/billing"
	"palmares/internal/node"
)

func TestAnAccountThatPaysIsDeletedOnlyIfItsSubscriptionWasCancelled(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	must(t, "account", "create", "ada@example.org", "--database", database)
	st, err := node.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	id := firstID(t, "account", "list", "--database", database)
	_, unset := st.Subscriptions.SetCustomer(t.Context(), id, "", "cus_1")
	_, unpaid := st.Subscriptions.Apply(t.Context(), billing.Finding{
		Reading: billing.Reading{ID: "sub_1", Status: billing.PastDue}, AccountID: id, Version: 1, ObservedAt: time.Now(),
	})
	if err := errors.Join(unset, unpaid); err != nil {
		t.Fatal(err)
	}
	shown := must(t, "account", "show", id, "--database", database)
	remove := []string{"account", "delete", "ada@example.org", "--database", database}
	refuses(t, "cancel the subscription sub_1 in the Stripe dashboard", remove...)
	if after := must(t, "account", "show", id, "--database", database); after != shown {
		t.Errorf("the account was\n%s\nand is\n%s", shown, after)
	}
	must(t, append(remove, "--cancelled")...)
	refuses(t, "no account", "account", "show", id, "--database", database)
}
