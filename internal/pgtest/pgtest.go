// Package pgtest gives tests a real PostgreSQL: one server per test binary, one
// fresh database per test.
//
// The server is started when the first test asks for a database and dies with
// the test binary, however that ends: Run stops it, and should the binary be
// killed, the kernel stops it. It listens on a Unix socket in a folder of its own,
// so that any number of test binaries run at once without agreeing on a port, and
// it does not sync, since nothing in it outlives the tests. A machine without
// PostgreSQL fails the tests: skipping them would let the two databases drift apart.
//
// A package that uses it says so once:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
package pgtest

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes the databases
)

// kit is the server of this test binary. It is a variable of the package because
// the tests of a binary share nothing else.
var kit struct {
	running   atomic.Bool // Run is there to stop the server
	mu        sync.Mutex
	server    *server
	err       error // why there is no server; the other tests need not try again
	databases atomic.Int64
}

// Run runs the tests of a package, stops the server if one was started, and gives
// the exit code.
func Run(m *testing.M) int {
	kit.running.Store(true)
	code := m.Run()
	kit.mu.Lock()
	defer kit.mu.Unlock()
	if kit.server != nil {
		if err := kit.server.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			return max(code, 1)
		}
	}
	return code
}

// Database makes an empty database and gives its postgres:// URL. The database is
// dropped when the test ends, whoever is still connected.
func Database(t testing.TB) string {
	t.Helper()
	if !kit.running.Load() {
		t.Fatal("pgtest: this package needs func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }")
	}
	kit.mu.Lock()
	if kit.server == nil && kit.err == nil {
		kit.server, kit.err = start()
	}
	srv, err := kit.server, kit.err
	kit.mu.Unlock()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}

	name := fmt.Sprintf("test%d", kit.databases.Add(1))
	if err := srv.exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := srv.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return srv.url(name)
}

// server is a running PostgreSQL.
type server struct {
	dir     string
	process *os.Process
	ended   chan error // receives the outcome once
}

// start makes a data folder and a server on it, and returns when it takes
// connections.
func start() (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	// Not under t.TempDir(): its folders are closed to the user that the server runs as.
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, ended: make(chan error, 1)}
	if err := s.launch(bin); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *server) launch(bin string) error {
	var cred *syscall.Credential
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		var err error
		if cred, err = unprivileged(); err != nil {
			return err
		}
		if err := os.Chown(s.dir, int(cred.Uid), int(cred.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: cred}
		cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC") // the ready message is looked for in English
		return cmd
	}

	initdb := command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	postgres := command("postgres", "-D", data, "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=200")
	postgres.SysProcAttr.Pdeathsig = syscall.SIGQUIT // stop at once, losing data
	log, err := postgres.StderrPipe()
	if err != nil {
		return err
	}

	started := make(chan error)
	go func() {
		// The death signal comes when the thread that started the child ends, not the
		// process: this one stays until the child is gone. stop waits for it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := postgres.Start(); err != nil {
			started <- err
			return
		}
		s.process = postgres.Process
		var said bytes.Buffer
		ready := false
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if ready {
				continue // what it logs from here on are the errors that tests provoke
			}
			if ready = bytes.Contains(lines.Bytes(), []byte("ready to accept connections")); ready {
				started <- nil
			}
			said.Write(append(lines.Bytes(), '\n'))
		}
		err := postgres.Wait()
		if !ready {
			started <- fmt.Errorf("postgres ended before it was ready: %v\n%s", err, said.Bytes())
			return
		}
		s.ended <- err
	}()
	return <-started
}

func (s *server) stop() error {
	if err := s.process.Signal(syscall.SIGQUIT); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	<-s.ended // how it ended says nothing: it was told to drop everything
	return os.RemoveAll(s.dir)
}

func (s *server) url(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

func (s *server) exec(statement string) error {
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

// binaries finds the folder that holds initdb and postgres: Debian keeps one per
// major version outside PATH, and the highest is taken.
func binaries() (string, error) {
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
		return "", errors.New("the tests run on a real PostgreSQL and there is none here: apt-get install postgresql (or put initdb and postgres on PATH)")
	}
	return filepath.Dir(path), nil
}

// unprivileged is the user that the server runs as when the tests run as root.
func unprivileged() (*syscall.Credential, error) {
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
