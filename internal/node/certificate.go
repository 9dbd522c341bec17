package node

import (
	"context"

	"golang.org/x/crypto/acme/autocert"

	"palmares/internal/vault"
)

// keptCertificates are copies of certificates in files, sealed as they are in the database.
type keptCertificates struct {
	autocert.DirCache
	keys vault.KeySource
}

// Get returns a certificate.
func (k keptCertificates) Get(ctx context.Context, domain string) ([]byte, error) {
	sealer, err := k.keys.Sealer()
	if err != nil {
		return nil, err
	}
	sealed, err := k.DirCache.Get(ctx, domain)
	if err != nil {
		return nil, err
	}
	text, err := sealer.Open(domain, string(sealed))
	return []byte(text), err
}

// Put keeps a certificate.
func (k keptCertificates) Put(ctx context.Context, domain string, text []byte) error {
	sealer, err := k.keys.Sealer()
	if err != nil {
		return err
	}
	return k.DirCache.Put(ctx, domain, []byte(sealer.Seal(domain, string(text))))
}
