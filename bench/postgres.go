package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"palmares/internal/testkit"
)

// A postgres is a server with the settings that PostgreSQL ships with: it syncs
// every commit, unlike that of the tests. It listens on loopback, so that nodes reach
// it over TCP.
type postgres struct {
	*testkit.PostgresServer
	pool *sql.DB
}

func startPostgres() (*postgres, error) {
	server, err := testkit.StartPostgres(testkit.PostgresOptions{TCP: true, Durable: true})
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("pgx", server.URL("postgres"))
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return &postgres{server, pool}, nil
}

func (p *postgres) stop() error { return errors.Join(p.pool.Close(), p.Stop()) }

// create creates a database and returns its URL.
func (p *postgres) create(ctx context.Context, name string) (string, error) {
	return p.URL(name), p.Exec(ctx, "CREATE DATABASE "+name)
}

// writes returns how many transactions have written since the server was created:
// only those take a number.
func (p *postgres) writes(ctx context.Context) (n int64, err error) {
	err = p.pool.QueryRowContext(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`).Scan(&n)
	return n, err
}

// cpu returns the processor time of the server and its connections, those that have
// ended included.
func (p *postgres) cpu() (time.Duration, error) {
	own, children, err := cpuTime(p.PID())
	if err != nil {
		return 0, err
	}
	sum := own + children
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range processes {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return 0, err
		}
		if parent, err := statField(pid, 4); err != nil || parent != int64(p.PID()) {
			continue // not a child, or it has ended
		}
		if own, _, err := cpuTime(pid); err == nil {
			sum += own
		}
	}
	return sum, nil
}

// cpuTime returns the processor time of a process, and that of the children it has
// waited for.
func cpuTime(pid int) (own, children time.Duration, err error) {
	const tick = 10 * time.Millisecond // USER_HZ, the same on every Linux that Go runs on
	var used [4]int64
	for i := range used {
		if used[i], err = statField(pid, 14+i); err != nil {
			return 0, 0, err
		}
	}
	return time.Duration(used[0]+used[1]) * tick, time.Duration(used[2]+used[3]) * tick, nil
}

// statField returns a field of /proc/PID/stat, numbered as in proc(5). The second may
// contain spaces and ends with the last parenthesis.
func statField(pid, field int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strconv.ParseInt(strings.Fields(rest)[field-3], 10, 64)
}
