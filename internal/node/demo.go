package node

import (
	"context"
	"fmt"
	"sync"

	"palmares/demo"
	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/content"
	"palmares/internal/record"
	"palmares/internal/snapshot"
)

// A demoCatalogue is the catalogue in this binary, with its pictures. It is read when it
// is first shown, and never stored: a node on PostgreSQL needs no writable file system.
// The zero value has not been read.
type demoCatalogue struct {
	mu   sync.Mutex
	read *content.Result // nil until it is shown
}

// snapshot returns the demo as a server at base shows it.
func (d *demoCatalogue) snapshot(ctx context.Context, base string) (*snapshot.Snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read == nil {
		read, err := content.ReadFS(ctx, demo.Folder, content.Options{InMemory: true})
		if err != nil {
			return nil, err
		}
		if len(read.Problems) > 0 {
			return nil, fmt.Errorf("the demo catalogue in this binary is broken: %v", read.Problems[0])
		}
		read.Catalog.URL = base
		catalog.CarryOver(&catalog.Catalog{}, read.Catalog, snapshot.NewestUpdate(read.Catalog))
		d.read = read
	}
	newest := snapshot.NewestUpdate(d.read.Catalog)
	s := snapshot.Build(d.read.Catalog, 0, newest)
	s.PublishedAt = newest + "T00:00:00.000Z"
	feed := record.First("", d.read.Catalog, 0, s.PublishedAt)
	feed.ID = "demo-" + feed.State[len(feed.State)-26:] // another program or address has another feed
	s.SetFeed(feed)
	return s, nil
}

// forget frees the demo, which a published catalogue has replaced.
func (d *demoCatalogue) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = nil
}

// picture returns the bytes of a picture if the demo is shown and has it.
func (d *demoCatalogue) picture(ctx context.Context, hash string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read == nil {
		return nil, false
	}
	file, err := d.read.Pictures.Read(ctx, hash)
	return file, err == nil
}

// pictures reads the pictures of the demo and of the published catalogue. A hash names the same
// bytes in both.
type pictures struct {
	demo   *demoCatalogue
	stored *catalogdb.Pictures
}

// Read implements site.Pictures.
func (p pictures) Read(ctx context.Context, hash string) ([]byte, error) {
	if file, ok := p.demo.picture(ctx, hash); ok {
		return file, nil
	}
	return p.stored.Read(ctx, hash)
}
