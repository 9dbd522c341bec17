package accountsite

import (
	"testing"
	"time"
)

// SetStrangerWait sets how long strangers wait for each other, until the test ends.
func SetStrangerWait(t *testing.T, wait time.Duration) {
	before := strangerWait
	strangerWait = wait
	t.Cleanup(func() { strangerWait = before })
}
