package certificate

import (
	"context"
	"time"
)

// What tests in another package use; they need a store, whose package imports this one.

const ProofPath = proofPath

var Ways = ways

func (m *Manager) Open(store Store, sealer Sealer) { m.values.open(store, sealer) }

func (m *Manager) Order(ctx context.Context, domain string) error { return m.order(ctx, domain) }

func (m *Manager) Load(ctx context.Context) error { return m.load(ctx) }

func (m *Manager) Put(ctx context.Context, name, value string) error {
	return m.values.put(ctx, name, value)
}

func (m *Manager) Get(ctx context.Context, name string) (string, error) {
	return m.values.get(ctx, name)
}

func (o Order) MayTry(now time.Time, started bool) bool { return o.mayTry(now, started) }
