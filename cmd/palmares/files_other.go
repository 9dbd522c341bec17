//go:build !unix

package main

import (
	"errors"
	"math"
	"os/user"
)

// becomeUser fails: there is no root here.
func becomeUser(*user.User) error { return errors.ErrUnsupported }

// fileLimit returns how many files this process may have open.
func fileLimit() int { return math.MaxInt32 }
