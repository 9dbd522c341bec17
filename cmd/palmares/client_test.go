package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A generated client is in a module of its own, tools/client, which pins the generator.
func TestAGeneratedGoClientCallsARunningServer(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "palmares.db")
	content := filepath.Join(t.TempDir(), "catalogue")
	must(t, "generate", content, "--tools", "60")
	must(t, "publish", content, "--database", database)
	must(t, "account", "create", "ada@example.org", "--plan", "pro", "--database", database)
	key := strings.TrimSpace(must(t, "key", "create", "ada@example.org", "--name", "client", "--database", database))
	p := serveProcess(t, "--database", database)

	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		file, err := os.ReadFile(filepath.Join("../../tools/client", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tool := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for name, path := range map[string]string{"api": "/api", "dataapi": "/data", "webhookapi": "/webhooks"} {
		_, document := p.get(path + "/v1/openapi.json")
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		tool("tool", "oapi-codegen", "-generate", "types,client", "-package", name, "-o", filepath.Join(name, "client.go"), name+".json")
	}
	tool("vet", "./...")
	if got, want := tool("run", ".", p.url, key), "60 tools\n60 changes\n"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " events, 60 new tools\n") {
		t.Errorf("the client prints %q", got)
	}
}
