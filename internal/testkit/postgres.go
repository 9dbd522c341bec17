package testkit

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that creates databases
)

// PostgresOptions say how a server runs. The zero value is what tests need.
type PostgresOptions struct {
	// TCP makes the server listen on a free port of loopback. Otherwise it listens on
	// a Unix socket in its own folder, so that any number of servers run at once
	// without agreeing on ports.
	TCP bool
	// Durable keeps PostgreSQL's own settings, which sync every commit. Otherwise
	// nothing is synced, because nothing in the database outlives the tests.
	Durable bool
}

// A PostgresServer is a PostgreSQL server in a temporary folder. It ends with the process
// that started it, however that ends: the kernel stops it if Stop is not called.
type PostgresServer struct {
	options PostgresOptions
	bin     string // the folder of initdb and postgres
	dir     string
	port    int
	user    *syscall.Credential // the user it runs as, nil for ours
	process *os.Process
	ended   chan struct{} // closed when the process has ended
	admin   *sql.DB
}

// tempDir is where temporary files go, also for a test that has set TMPDIR.
var tempDir = os.TempDir()

// StartPostgres creates a server and returns when it accepts connections.
func StartPostgres(options PostgresOptions) (*PostgresServer, error) {
	bin, err := postgresBinaries()
	if err != nil {
		return nil, err
	}
	// Not under t.TempDir(): its folders are closed to the user the server runs as.
	dir, err := os.MkdirTemp(tempDir, "palmares-postgres-")
	if err != nil {
		return nil, err
	}
	p := &PostgresServer{options: options, bin: bin, dir: dir, port: 5432}
	if err := p.create(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// create makes the data folder.
func (p *PostgresServer) create() error {
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		var err error
		p.user, err = Unprivileged()
		if err != nil {
			return err
		}
		if err := os.Chown(p.dir, int(p.user.Uid), int(p.user.Gid)); err != nil {
			return err
		}
	}
	out, err := p.command("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale",
		"--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (p *PostgresServer) data() string { return filepath.Join(p.dir, "data") }

func (p *PostgresServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, &syscall.SysProcAttr{Credential: p.user}
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC") // start looks for a message in English
	return cmd
}

// start starts the server on its data folder, over TCP on a port that is free now.
func (p *PostgresServer) start() error {
	if p.options.TCP {
		address, err := FreeAddress()
		if err != nil {
			return err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		p.port, err = strconv.Atoi(port)
		if err != nil {
			return err
		}
	}
	return p.Resume()
}

// Resume starts the server on its data folder and its port.
func (p *PostgresServer) Resume() error {
	addresses := ""
	if p.options.TCP {
		addresses = "127.0.0.1"
	}
	args := []string{"-D", p.data(), "-k", p.dir, "-p", strconv.Itoa(p.port), "-c", "listen_addresses=" + addresses}
	if !p.options.Durable {
		for _, setting := range []string{
			"fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200",
			"shared_buffers=32MB", "autovacuum=off", // databases are small and live for seconds
		} {
			args = append(args, "-c", setting)
		}
	}
	if err := p.launch(args...); err != nil {
		return err
	}
	var err error
	p.admin, err = sql.Open("pgx", p.URL("postgres"))
	return err
}

// launch runs postgres and returns when it accepts connections.
func (p *PostgresServer) launch(args ...string) error {
	postgres := p.command("postgres", args...)
	postgres.SysProcAttr.Pdeathsig = syscall.SIGQUIT // stop at once, losing data
	log, err := postgres.StderrPipe()
	if err != nil {
		return err
	}
	p.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		// The death signal comes when the thread that started the child ends, not the
		// process, so this goroutine keeps its thread until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		if err := postgres.Start(); err != nil {
			started <- err
			return
		}
		p.process = postgres.Process
		var output bytes.Buffer
		ready := false
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if ready {
				continue // what it logs from here on are errors that tests provoke
			}
			output.Write(append(lines.Bytes(), '\n'))
			ready = bytes.Contains(lines.Bytes(), []byte("ready to accept connections"))
			if ready {
				started <- nil
			}
		}
		if err := postgres.Wait(); !ready {
			started <- fmt.Errorf("postgres ended before it was ready: %v\n%s", err, output.Bytes())
		}
	}()
	return <-started
}

// halt sends a signal to the server and waits for its end.
func (p *PostgresServer) halt(signal syscall.Signal) error {
	if err := errors.Join(p.admin.Close(), p.process.Signal(signal)); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	<-p.ended
	return nil
}

// Stop stops the server and removes its folder.
func (p *PostgresServer) Stop() error {
	return errors.Join(p.halt(syscall.SIGQUIT), os.RemoveAll(p.dir))
}

// Restart ends every session properly and starts the server at the same address.
func (p *PostgresServer) Restart() error {
	if err := p.halt(syscall.SIGINT); err != nil {
		return err
	}
	return p.Resume()
}

// Move is what a failover looks like to clients: the server vanishes without a word,
// and its data are served at another address.
func (p *PostgresServer) Move() error {
	if err := p.halt(syscall.SIGQUIT); err != nil {
		return err
	}
	return p.start()
}

// Freeze stops the server and its sessions in the middle of whatever they do. Connections
// stay open. Thaw lets them go on.
func (p *PostgresServer) Freeze() error {
	return errors.Join(p.process.Signal(syscall.SIGSTOP), p.signalSessions(syscall.SIGSTOP))
}

// Thaw ends Freeze.
func (p *PostgresServer) Thaw() error {
	return errors.Join(p.signalSessions(syscall.SIGCONT), p.process.Signal(syscall.SIGCONT))
}

// Kill ends the server and its sessions, none of which sees another end. Resume starts it
// again.
func (p *PostgresServer) Kill() error {
	return errors.Join(p.Freeze(), p.signalSessions(syscall.SIGKILL), p.halt(syscall.SIGKILL))
}

// signalSessions sends a signal to the children of the server.
func (p *PostgresServer) signalSessions(signal syscall.Signal) error {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.process.Pid))
	for _, child := range strings.Fields(string(children)) {
		pid, convErr := strconv.Atoi(child)
		if convErr != nil {
			return convErr
		}
		if sent := syscall.Kill(pid, signal); !errors.Is(sent, syscall.ESRCH) { // it may have ended
			err = errors.Join(err, sent)
		}
	}
	return err
}

// URL returns the postgres:// URL of a database.
func (p *PostgresServer) URL(database string) string {
	if p.options.TCP {
		return "postgres://postgres@" + p.Address() + "/" + database
	}
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(p.dir)
}

// Address returns the host and port of a server that listens on TCP.
func (p *PostgresServer) Address() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// PID returns the id of the server's process.
func (p *PostgresServer) PID() int { return p.process.Pid }

// Exec runs a statement outside of any database that tests use.
func (p *PostgresServer) Exec(ctx context.Context, statement string) error {
	_, err := p.admin.ExecContext(ctx, statement)
	return err
}

// postgresBinaries finds the folder that holds initdb and postgres. Debian keeps one
// per major version outside PATH; the highest is used.
func postgresBinaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		major := func(path string) int {
			n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // a folder that is no number comes last
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("PostgreSQL is not installed: apt-get install postgresql, or put initdb and postgres on PATH")
	}
	return filepath.Dir(path), nil
}

// Unprivileged returns the user that the server runs as when we are root.
func Unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}
