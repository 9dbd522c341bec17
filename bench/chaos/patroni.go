package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"palmares/internal/testkit"
)

// The addresses that the three database machines have in the files of deploy/, and here.
const (
	subnet, loopback = "10.0.0.", "127.77.0."
	// comesUpIn is for a Patroni cluster that is created on a busy machine, or a machine
	// that returns to it.
	comesUpIn = 3 * time.Minute
	// bouncerPause is the RestartSec of docs/postgresql.md.
	bouncerPause = time.Second
)

// programs are what the files of deploy/ configure, as Debian 12 installs them.
var programs = []string{"etcd", "patroni", "haproxy", "pgbouncer", "psql", "/usr/lib/postgresql/15/bin/postgres"}

// missingPrograms returns those that are not installed. Debian keeps some outside of the
// PATH of users.
func missingPrograms() (missing []string) {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			if _, err := exec.LookPath("/usr/sbin/" + name); err != nil {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// A patroni is a cluster of three PostgreSQL servers on addresses of loopback, with haproxy
// and PgBouncer in front, all configured by the files of deploy/.
type patroni struct {
	dir      string
	user     *syscall.Credential // that the servers run as; nil for ours
	machines []*machine
	haproxy  *exec.Cmd
	bouncer  *bouncer
}

// A bouncer is a PgBouncer that is started again when it ends, as systemd does.
type bouncer struct {
	stop    context.CancelFunc
	ended   chan struct{}
	crashes int // when it has ended
}

// A machine is one server with its Patroni and its etcd.
type machine struct {
	name, address, dir string
	etcd, patroni      *exec.Cmd
}

func (m *machine) data() string { return filepath.Join(m.dir, "data") }

// patroniURL is that of the database, through PgBouncer and haproxy.
const patroniURL = "postgres://palmares:change-me-4@" + loopback + "1:6432/palmares?default_query_exec_mode=exec"

// startPatroni starts everything and waits until it is complete. What it returns must be
// stopped, also with an error.
func startPatroni(ctx context.Context, dir string) (*patroni, error) {
	p := &patroni{dir: dir}
	if os.Geteuid() == 0 {
		var err error
		p.user, err = testkit.Unprivileged()
		if err != nil {
			return p, err
		}
	}
	if err := p.ownedDir(dir); err != nil {
		return p, err
	}
	for i := range 3 {
		m := &machine{
			name: fmt.Sprintf("db%d", i+1), address: fmt.Sprintf("%s%d", loopback, 11+i),
			dir: filepath.Join(dir, fmt.Sprintf("db%d", i+1)),
		}
		p.machines = append(p.machines, m)
		if err := p.ownedDir(m.dir); err != nil {
			return p, err
		}
		if err := p.startMachine(m); err != nil {
			return p, err
		}
	}
	if err := p.complete(ctx); err != nil {
		return p, err
	}
	return p, p.startFrontends(ctx)
}

// ownedDir creates a folder of the user that the servers run as.
func (p *patroni) ownedDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil || p.user == nil {
		return err
	}
	return os.Chown(dir, int(p.user.Uid), int(p.user.Gid))
}

// configure writes a file of deploy/ with other addresses and paths, and returns its name and
// its text.
func (p *patroni) configure(name, dir string, replace ...string) (path, text string, err error) {
	file, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		return "", "", err
	}
	text = strings.NewReplacer(append(replace, subnet+"0/24", "127.0.0.0/8", subnet, loopback, "127.0.0.1",
		loopback+"1")...).Replace(string(file))
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil || p.user == nil {
		return path, text, err
	}
	return path, text, os.Chown(path, int(p.user.Uid), int(p.user.Gid))
}

// run starts a program that logs to a file.
func (p *patroni) run(dir string, env []string, name string, args ...string) (*exec.Cmd, error) {
	if _, err := exec.LookPath(name); err != nil {
		name = "/usr/sbin/" + name
	}
	log, err := os.OpenFile(filepath.Join(dir, filepath.Base(name)+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(append(os.Environ(), "HOME="+dir), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.user, Setpgid: true} // an interrupt is for us
	return cmd, cmd.Start()
}

func (p *patroni) startMachine(m *machine) error {
	var own []string // what differs from machine to machine
	for _, port := range []string{"2379", "2380", "5432", "8008"} {
		for _, before := range []string{"//", " "} {
			own = append(own, before+subnet+"11:"+port+"\n", before+m.address+":"+port+"\n")
		}
	}
	own = append(own, "ETCD_NAME=db1", "ETCD_NAME="+m.name, "name: db1", "name: "+m.name, "/var/lib/etcd/palmares",
		filepath.Join(m.dir, "etcd"),
		"/var/lib/postgresql/15/palmares", m.data(), "/var/lib/postgresql", m.dir, "/var/run/postgresql", m.dir)
	_, text, err := p.configure("etcd.default", m.dir, own...)
	if err != nil {
		return err
	}
	var env []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ETCD_") {
			env = append(env, strings.TrimSpace(line))
		}
	}
	m.etcd, err = p.run(m.dir, env, "etcd")
	if err != nil {
		return err
	}
	config, _, err := p.configure("patroni.yml", m.dir, own...)
	if err != nil {
		return err
	}
	m.patroni, err = p.run(m.dir, nil, "patroni", config)
	return err
}

// startFrontends creates the role and the database, and starts haproxy and PgBouncer.
func (p *patroni) startFrontends(ctx context.Context) error {
	_, primary := p.primary(ctx)
	superuser := "postgres://postgres:change-me-1@" + primary + "/postgres"
	if out, err := exec.CommandContext(ctx, "psql", superuser, "-v", "ON_ERROR_STOP=1", "-f",
		"deploy/postgresql.sql").CombinedOutput(); err != nil {
		return fmt.Errorf("deploy/postgresql.sql: %w: %s", err, out)
	}
	users, err := exec.CommandContext(ctx, "psql", superuser, "-Atc", userlistQuery).Output()
	if err != nil {
		return fmt.Errorf("userlist.txt: %w", err)
	}
	dir := filepath.Join(p.dir, "front")
	if err := p.ownedDir(dir); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "userlist.txt"), users, 0o644); err != nil {
		return err
	}
	config, _, err := p.configure("haproxy.cfg", dir, "log /dev/log", "log stdout format raw", "    chroot",
		"    # chroot", "    user", "    # user", "    group", "    # group")
	if err != nil {
		return err
	}
	p.haproxy, err = p.run(dir, nil, "haproxy", "-db", "-f", config)
	if err != nil {
		return err
	}
	config, _, err = p.configure("pgbouncer.ini", dir, "/var/log/postgresql", dir, "/var/run/postgresql", dir,
		"/etc/pgbouncer", dir)
	if err != nil {
		return err
	}
	p.startBouncer(dir, config)
	return p.wait(ctx, "the primary behind PgBouncer", func() bool { // haproxy starts with all three
		url, _, _ := strings.Cut(patroniURL, "?") // psql does not know the rest
		standby, err := exec.CommandContext(ctx, "psql", url, "-Atc", "SELECT pg_is_in_recovery()").Output()
		return err == nil && strings.TrimSpace(string(standby)) == "f"
	})
}

// startBouncer runs PgBouncer until the end. Version 1.18 crashes now and then when a client
// cancels a query.
func (p *patroni) startBouncer(dir, config string) {
	running, stop := context.WithCancel(context.Background())
	p.bouncer = &bouncer{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(p.bouncer.ended)
		for ; running.Err() == nil; p.bouncer.crashes++ {
			cmd, err := p.run(dir, nil, "pgbouncer", config)
			if err != nil {
				return // whoever waits for it says so
			}
			stopping := context.AfterFunc(running, func() { _ = cmd.Process.Signal(syscall.SIGTERM) }) // it may have ended
			_ = cmd.Wait()
			stopping()
			<-time.After(bouncerPause)
		}
	}()
}

// userlistQuery prints the file that PgBouncer knows passwords from: hashes, no passwords.
const userlistQuery = `SELECT format('"%s" "%s"', rolname, rolpassword) FROM pg_authid WHERE rolname = 'palmares'`

func (p *patroni) wait(ctx context.Context, what string, is func() bool) error {
	for begin := time.Now(); !is(); <-time.After(100 * time.Millisecond) {
		if ctx.Err() != nil || time.Since(begin) > comesUpIn {
			return errors.Join(ctx.Err(), fmt.Errorf("%s is not there after %s: see the logs in %s", what, comesUpIn, p.dir))
		}
	}
	return nil
}

// answers reports whether Patroni on a machine answers 200: it is what haproxy asks.
func (m *machine) answers(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "OPTIONS", "http://"+m.address+":8008"+path, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// primary returns the machine that is the primary, and the address of its server; nil if none
// is.
func (p *patroni) primary(ctx context.Context) (*machine, string) {
	for _, m := range p.machines {
		if m.answers(ctx, "/primary") {
			return m, m.address + ":5432"
		}
	}
	return nil, ""
}

// complete waits until there are a primary, a synchronous standby and another standby.
func (p *patroni) complete(ctx context.Context) error {
	return p.wait(ctx, "the Patroni cluster", func() bool {
		primaries, synchronous, standbys := 0, 0, 0
		for _, m := range p.machines {
			for path, n := range map[string]*int{
				"/primary": &primaries, "/synchronous": &synchronous, "/asynchronous": &standbys,
			} {
				if m.answers(ctx, path) {
					*n++
				}
			}
		}
		return primaries == 1 && synchronous == 1 && standbys == 1
	})
}

// killServer kills the postmaster of a machine, whose other processes end then.
func (m *machine) killServer() error {
	file, err := os.ReadFile(filepath.Join(m.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// kill is what a power cut does to a machine.
func (m *machine) kill() error {
	err := errors.Join(m.patroni.Process.Kill(), m.killServer(), m.etcd.Process.Kill())
	_, _ = m.patroni.Wait(), m.etcd.Wait() // killed, as they say
	return err
}

// stop ends everything.
func (p *patroni) stop() {
	end := func(cmds []*exec.Cmd) {
		for _, cmd := range cmds {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		}
		for _, cmd := range cmds {
			_ = cmd.Wait()
		}
	}
	var servers, etcds []*exec.Cmd
	for _, m := range p.machines {
		if m.patroni != nil {
			servers = append(servers, m.patroni)
		}
		if m.etcd != nil {
			etcds = append(etcds, m.etcd)
		}
	}
	if p.bouncer != nil {
		p.bouncer.stop()
		<-p.bouncer.ended
		fmt.Printf("PgBouncer crashed %d times\n", p.bouncer.crashes-1)
	}
	if p.haproxy != nil {
		end([]*exec.Cmd{p.haproxy})
	}
	end(servers) // while there is an etcd
	end(etcds)
}
