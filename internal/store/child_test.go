package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Some tests need other processes: killed ones, ones of another user, many at once. They
// run their own binary again as one of these children.
var children = map[string]func(){
	"open":    openChild,
	"publish": publishChild,
}

// childCommand returns a command that runs this binary as a child.
func childCommand(child, dsn string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PALMARES_STORE_CHILD="+child, "PALMARES_STORE_DSN="+dsn)
	return cmd
}

// asNobody makes a command run as nobody, because root may write anywhere.
func asNobody(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

// readableBinary copies this binary to a folder that every user may enter.
func readableBinary(t *testing.T, dir string) string {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, "store.test"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

func openChild() {
	s, err := Open(context.Background(), os.Getenv("PALMARES_STORE_DSN"))
	if err == nil {
		err = s.Close()
	}
	if errors.Is(err, ErrReadOnly) {
		fmt.Print("read-only: ")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// publishChild publishes one version of killed after another and prints a line for every
// step, until it is killed.
func publishChild() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	s, err := Open(ctx, os.Getenv("PALMARES_STORE_DSN"))
	fail(err)
	for {
		version, _, err := s.State(ctx)
		fail(err)
		v := int(version) + 1
		_, err = s.Catalogue.Publish(ctx, killed(v), PublishOptions{Now: at(day(v)), Progress: func(p Progress) {
			_, err := fmt.Println(v, p.Stage, p.Done)
			fail(err)
		}})
		fail(err)
	}
}
