package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"palmares/internal/testkit"
)

// A postgres is a server with the settings that PostgreSQL ships with: it syncs every commit,
// unlike that of the tests. It listens on loopback, so that nodes reach it over TCP.
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

// create creates the database of a URL, if it is of this server.
func (p *postgres) create(ctx context.Context, database string) error {
	address, err := url.Parse(database)
	if err != nil || address.Scheme == "sqlite" {
		return err
	}
	return p.Exec(ctx, "CREATE DATABASE "+strings.Trim(address.Path, "/"))
}

// writes returns how many transactions have written since the server was created: only those
// take a number.
func (p *postgres) writes(ctx context.Context) (n int64, err error) {
	err = p.pool.QueryRowContext(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`).Scan(&n)
	return n, err
}

// cpu returns the processor time of the server and its connections, those that have ended
// included.
func (p *postgres) cpu() (time.Duration, error) {
	own, children, err := cpuTime(p.PID())
	if err != nil {
		return 0, err
	}
	sum := own + children
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID(), p.PID()))
	if err != nil {
		return 0, err
	}
	for _, child := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			return 0, err
		}
		if own, _, err := cpuTime(pid); err == nil { // else it has ended
			sum += own
		}
	}
	return sum, nil
}

// cpuTime returns the processor time of a process, and that of the children it has waited
// for: the fields 14 to 17 of /proc/PID/stat, of which the second may contain spaces and ends
// with the last parenthesis.
func cpuTime(pid int) (own, children time.Duration, err error) {
	const tick = 10 * time.Millisecond // USER_HZ, the same on every Linux that Go runs on
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var used [4]time.Duration
	for i := range used {
		n, err := strconv.Atoi(strings.Fields(rest)[14-3+i])
		if err != nil {
			return 0, 0, err
		}
		used[i] = time.Duration(n) * tick
	}
	return used[0] + used[1], used[2] + used[3], nil
}
