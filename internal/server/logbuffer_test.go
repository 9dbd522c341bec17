package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

func TestALogThatNobodyReadsDelaysNothing(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	logs := NewLogBuffer(writer)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- logs.Run(ctx) }()

	n := startLogging(t, http.NotFoundHandler(), logs)
	n.metrics.Log(logs)
	path := "/" + strings.Repeat("x", 190)
	const requests = 40_000
	answered := 0
	for range requests {
		w := httptest.NewRecorder()
		n.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		answered += w.Code
	}
	if status, _, _ := n.get("/healthz"); status != 200 || answered != 404*requests {
		t.Errorf("/healthz answers %d", status)
	}
	dropped := logs.Dropped()
	if dropped == 0 {
		t.Fatal("a pipe that nobody reads took everything")
	}

	// It is read again, after all: the gap is where it belongs, and says what is missing.
	lines := bufio.NewScanner(reader)
	kept := int64(0)
	for lines.Scan() && strings.Contains(lines.Text(), `"msg":"request"`) {
		kept++
	}
	if gap := fmt.Sprintf(`"dropped":%d}`, dropped); !strings.Contains(lines.Text(), gap) || kept+dropped != requests {
		t.Errorf("%d records and then %s; want %s, for %d requests in all", kept, lines.Text(), gap, requests)
	}
	n.get("/after")
	if !lines.Scan() || !strings.Contains(lines.Text(), "/after") {
		t.Errorf("after the gap: %s", lines.Text())
	}
	if body := scrape(t, n.metrics); !strings.Contains(body, fmt.Sprintf("palmares_log_records_dropped_total %d\n", dropped)) {
		t.Error("the metrics do not count what was dropped")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestALogThatNobodyReadsDoesNotKeepTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		logs := NewLogBuffer(writer)
		_, _ = logs.Write([]byte("a record\n"))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		start := time.Now()
		if err := logs.Run(ctx); err != nil || time.Since(start) > logStopTimeout {
			t.Errorf("Run = %v after %s", err, time.Since(start))
		}
		reader.Close() // lets the write end
	})
}

func TestRecordsThatCannotBeWrittenAreCounted(t *testing.T) {
	reader, writer := io.Pipe()
	reader.Close()
	logs := NewLogBuffer(writer)
	_, _ = logs.Write([]byte("one\ntwo\n"))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := logs.Run(ctx); err != nil || logs.Dropped() != 2 {
		t.Errorf("%d records were dropped, %v; want 2", logs.Dropped(), err)
	}
}

// A fullDisk takes no more than so many bytes.
type fullDisk struct {
	testkit.Log
	free atomic.Int64
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(int64(len(b)), d.free.Load())
	d.free.Add(-n)
	_, _ = d.Log.Write(b[:n])
	if n < int64(len(b)) {
		return int(n), syscall.ENOSPC
	}
	return int(n), nil
}

func TestALogGoesOnAfterItsDiskWasFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disk fullDisk
		disk.free.Store(8) // the first record and a part of the second
		logs := NewLogBuffer(&disk)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = logs.Run(ctx) })
		record := func(text string) {
			_, _ = logs.Write([]byte(text + "\n"))
			<-time.After(time.Second)
		}
		_, _ = logs.Write([]byte("first\n"))
		record("second")
		record("third")
		record("fourth")
		disk.free.Store(1 << 20)
		record("fifth") // says by itself that it can be written again
		record("sixth")
		stop()
		running.Wait()
		lines := strings.Split(strings.TrimSuffix(disk.String(), "\n"), "\n")
		if len(lines) != 4 || lines[0] != "first" || lines[1] != "se" || !strings.HasSuffix(lines[2], `"dropped":4}`) || lines[3] != "sixth" {
			t.Errorf("the log has %q; want the first record, a part of the second, a gap of four and the sixth", lines)
		}
		if logs.Dropped() != 4 {
			t.Errorf("%d records are counted as dropped; want 4", logs.Dropped())
		}
	})
}
