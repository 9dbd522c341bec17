package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"palmares/internal/testkit"
)

func TestALogBufferKeepsEveryRecordInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out testkit.Log
		l := NewLogBuffer(&out)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := l.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		var want strings.Builder
		for i := range 1000 {
			line := fmt.Sprintf("record %d\n", i)
			want.WriteString(line)
			if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
				t.Fatal(n, err)
			}
			if i%100 == 0 {
				<-time.After(time.Second)
				synctest.Wait()
				if out.String() != want.String() {
					t.Fatalf("after a second %d of %d bytes are written", len(out.String()), want.Len())
				}
			}
		}
		stop()
		running.Wait()
		if out.String() != want.String() {
			t.Error("the last records were lost")
		}
	})
}

func TestAFullLogBufferWritesByItself(t *testing.T) {
	var out testkit.Log
	l := NewLogBuffer(&out)
	record := strings.Repeat("x", 1000) + "\n"
	for range 2 * logBufferSize / len(record) {
		if _, err := l.Write([]byte(record)); err != nil {
			t.Fatal(err)
		}
	}
	if len(out.String()) < logBufferSize {
		t.Errorf("%d bytes are written", len(out.String()))
	}
}
