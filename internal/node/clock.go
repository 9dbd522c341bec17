package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"palmares/internal/sqldb"
)

// maxClockOffset is how far the clocks of a node and of its database may be apart. Receivers of
// webhooks accept signatures of the last five minutes.
const maxClockOffset = 2 * time.Minute

// A clockCheck compares the clock of this machine with that of a database that nodes share, which
// all of them go by.
type clockCheck struct {
	store  *Database
	now    func() time.Time
	log    *slog.Logger
	offset atomic.Pointer[time.Duration] // how far ours is ahead; nil until it is known
}

// run compares until ctx ends.
func (c *clockCheck) run(ctx context.Context) error {
	wasWrong := false
	return repeat(ctx, healthInterval, func(ctx context.Context) error {
		if c.measure(ctx) == nil && c.isWrong() != wasWrong {
			wasWrong = !wasWrong
			c.report(wasWrong)
		}
		return nil
	}, nil)
}

// measure asks for the time. What is known stays if there is no answer, or a late one.
func (c *clockCheck) measure(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, healthInterval)
	defer cancel()
	begin := c.now()
	there, err := sqldb.Value[time.Time](limited, c.store.SQL.Reads(), `SELECT clock_timestamp()`)
	took := c.now().Sub(begin)
	if err == nil && took > healthInterval {
		err = errors.New("the clock was set meanwhile")
	}
	if err == nil {
		offset := begin.Add(took / 2).Sub(there)
		c.offset.Store(&offset)
	}
	return err
}

// isWrong reports whether nothing may be signed with the time of this machine.
func (c *clockCheck) isWrong() bool {
	if !c.store.SQL.Shared() {
		return false // there is nothing to compare with
	}
	offset := c.offset.Load()
	return offset == nil || offset.Abs() > maxClockOffset
}

// ahead returns the offset in seconds.
func (c *clockCheck) ahead() float64 {
	if offset := c.offset.Load(); offset != nil {
		return offset.Seconds()
	}
	return math.NaN()
}

func (c *clockCheck) report(isWrong bool) {
	if !isWrong {
		c.log.Info("the clocks of this machine and of the database agree again: webhooks are sent")
		return
	}
	offset := *c.offset.Load()
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	c.log.Error(fmt.Sprintf("the clock of this machine is %s the database's: this node sends no webhooks until they "+
		"are less than %s apart; set the one that is wrong (timedatectl, chronyc)", direction, maxClockOffset),
		"by", offset.Abs().Round(time.Second).String())
}
