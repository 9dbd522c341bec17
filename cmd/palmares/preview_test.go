package main

import (
	"bufio"
	"context"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPreviewListensOnAnyAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "catalogue")
	must(t, "init", dir)
	for _, address := range []string{"localhost:0", "127.0.0.1:0", "127.9.9.9:0", "[::1]:0"} {
		if l, err := net.Listen("tcp", address); err != nil {
			if address != "localhost:0" {
				continue // not every machine has the others
			}
		} else if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		t.Run(address, func(t *testing.T) {
			cmd := palmares(context.WithoutCancel(t.Context()), "preview", dir, "--listen", address)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n') // what is missing fails below
			if !strings.HasPrefix(line, "Preview of "+dir+" on http://localhost:") || strings.Count(line, "?jeton=") != 2 {
				t.Errorf("it wrote %q", line)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
