package sqldb

import (
	"context"
	"time"
)

// unwritableFor is how long Health returns a write that failed. Others may have succeeded
// since: a full disk often has room for a few bytes and not for a publication.
const unwritableFor = time.Minute

// Health returns what is wrong with the database although it may still respond: its file
// is gone, replaced or damaged, or its disk is full. It returns nil if nothing is known
// to be wrong.
func (d *DB) Health(ctx context.Context) error {
	if err := d.dialect.inspect(ctx); err != nil {
		return d.Explain(ctx, err)
	}
	if f := d.faults.damaged.Load(); f != nil {
		return f.err
	}
	f := d.faults.unwritable.Load()
	if f == nil {
		return nil
	}
	if time.Since(f.at) < d.unwritableFor {
		return f.err
	}
	err := WriteOnce(ctx, d.Retried(), `UPDATE palmares_schema SET version = version`)
	if err == nil {
		d.faults.unwritable.CompareAndSwap(f, nil)
	}
	return err
}
