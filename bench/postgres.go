package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes the databases
)

// A postgres is a server of this run, with the settings that PostgreSQL ships
// with: it syncs every commit, unlike that of the tests. It listens on loopback, as
// the nodes of another machine would reach it, without the way in between.
type postgres struct {
	process *os.Process
	ended   chan error
	url     string // without the database
	pool    *sql.DB
}

func startPostgres(ctx context.Context, dir string) (*postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return nil, errors.New("PostgreSQL is missing: apt-get install postgresql")
	}
	bin := filepath.Dir(found[len(found)-1])
	home := filepath.Join(dir, "postgres")
	attributes := &syscall.SysProcAttr{}
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid) // numbers, on every Unix
		gid, _ := strconv.Atoi(u.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := errors.Join(os.Chown(home, uid, gid), os.Chmod(dir, 0o711)); err != nil {
			return nil, err
		}
	}
	// The port is free now, and a moment later still, on a machine that does nothing else.
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := probe.Addr().(*net.TCPAddr).Port
	if err := probe.Close(); err != nil {
		return nil, err
	}
	data := filepath.Join(home, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale")
	initdb.Dir, initdb.SysProcAttr = home, attributes
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", home, "-h", "127.0.0.1", "-p", strconv.Itoa(port))
	cmd.Dir, cmd.SysProcAttr = home, attributes
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &postgres{process: cmd.Process, ended: make(chan error, 1), url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/", port)}
	go func() { p.ended <- cmd.Wait() }()
	if p.pool, err = sql.Open("pgx", p.url+"postgres"); err != nil {
		return nil, err
	}
	for p.pool.PingContext(ctx) != nil {
		select {
		case err := <-p.ended:
			return nil, fmt.Errorf("postgres did not start: %w", err)
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), p.process.Signal(syscall.SIGQUIT), <-p.ended)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return p, nil
}

func (p *postgres) stop() {
	_ = p.pool.Close()
	_ = p.process.Signal(syscall.SIGQUIT) // it loses data, and nobody wants it
	<-p.ended
}

// create makes a database and gives its URL.
func (p *postgres) create(ctx context.Context, name string) (string, error) {
	_, err := p.pool.ExecContext(ctx, "CREATE DATABASE "+name)
	return p.url + name, err
}

// writes is how many transactions have written since the server was made: only
// those take a number.
func (p *postgres) writes(ctx context.Context) (n int64, err error) {
	err = p.pool.QueryRowContext(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`).Scan(&n)
	return n, err
}

// cpu is what the server and its connections, also those that have ended, have used.
func (p *postgres) cpu() (time.Duration, error) {
	own, children, err := cpuTime(p.process.Pid)
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
		if parent, err := statField(pid, 4); err != nil || parent != int64(p.process.Pid) {
			continue // another's, or ended meanwhile
		}
		if own, _, err := cpuTime(pid); err == nil {
			sum += own
		}
	}
	return sum, nil
}

// cpuTime is what a process has used, and what those of its children that it
// has waited for have.
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

// statField is a field of /proc/PID/stat, numbered as in proc(5). The second may
// hold spaces and ends with the last parenthesis.
func statField(pid, field int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strconv.ParseInt(strings.Fields(rest)[field-3], 10, 64)
}
