package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// A database is a PostgreSQL that can be restarted, and moved to another port.
type database struct {
	bin, home string
	port      int
	process   *syscall.SysProcAttr
}

func newDatabase(ctx context.Context, dir string) (*database, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl")
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("PostgreSQL is missing: apt-get install postgresql")
	}
	d := &database{bin: filepath.Dir(found[len(found)-1]), home: filepath.Join(dir, "postgres"), process: &syscall.SysProcAttr{}}
	if err := os.Mkdir(d.home, 0o700); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid) // numbers, on every Unix
		gid, _ := strconv.Atoi(u.Gid)
		d.process.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(d.home, uid, gid); err != nil {
			return nil, err
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			return nil, err
		}
	}
	if err := d.run(ctx, "initdb", "-D", d.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"); err != nil {
		return nil, err
	}
	return d, d.start(ctx)
}

func (d *database) data() string { return filepath.Join(d.home, "data") }

func (d *database) address() string { return fmt.Sprintf("127.0.0.1:%d", d.port) }

func (d *database) url(address string) string { return "postgres://postgres@" + address + "/postgres" }

func (d *database) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(d.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = d.home, d.process
	log, err := os.CreateTemp("", "chaos-"+name) // not a pipe: the server would keep it open
	if err != nil {
		return err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name()) // what there is
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return nil
}

// start starts the server on a port that is free now.
func (d *database) start(ctx context.Context) error {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.port = probe.Addr().(*net.TCPAddr).Port
	if err := probe.Close(); err != nil {
		return err
	}
	return d.run(ctx, "pg_ctl", "-D", d.data(), "-w", "-o", fmt.Sprintf("-h 127.0.0.1 -p %d -k %s", d.port, d.home), "start")
}

func (d *database) stop(ctx context.Context, how string) error {
	return d.run(ctx, "pg_ctl", "-D", d.data(), "-w", "-m", how, "stop")
}

// restart ends every session and takes connections again, at the same address.
func (d *database) restart(ctx context.Context) error {
	return d.run(ctx, "pg_ctl", "-D", d.data(), "-w", "-m", "fast", "restart")
}

// move is what a fail-over looks like from outside: the server is gone without a
// word, and its data are served at another address.
func (d *database) move(ctx context.Context) error {
	if err := d.stop(ctx, "immediate"); err != nil {
		return err
	}
	return d.start(ctx)
}
