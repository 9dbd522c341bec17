package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The events come from go itself, which must not change them unnoticed.
func TestReports(t *testing.T) {
	t.Parallel()
	const passes = "func TestGood(t *testing.T) { t.Run(\"part\", func(t *testing.T) { t.Log(\"nobody reads this\") }) }"
	for name, c := range map[string]struct {
		code  string
		skips bool
		ok    bool
		says  []string
		not   []string
	}{
		"all passes": {passes, false, true, []string{"ok    example", "1 tests with 1 subtests ran, 0 failed, 0 were skipped.", "The slowest tests:", "example TestGood/part"}, []string{"nobody reads"}},
		"a failure": {
			passes + "\nfunc TestBad(t *testing.T) { t.Log(\"first\"); t.Error(\"second\") }", false, false,
			[]string{"FAIL  example", "=== example TestBad failed", "first", "second", "2 tests with 1 subtests ran, 1 failed"},
			[]string{"nobody reads"},
		},
		"a panic":    {passes + "\nfunc TestPanic(t *testing.T) { panic(\"oh no\") }", false, false, []string{"TestPanic", "panic: oh no", "goroutine"}, nil},
		"a timeout":  {passes + "\nfunc TestHang(t *testing.T) { select {} }", false, false, []string{"TestHang", "panic: test timed out"}, nil},
		"an exit":    {passes + "\nfunc TestMain(m *testing.M) { println(\"gone\"); os.Exit(3) }", false, false, []string{"FAIL  example", "gone", "No test ran."}, nil},
		"no build":   {"func TestBad(t *testing.T) { undefined() }", false, false, []string{"build failed", "undefined: undefined"}, nil},
		"no test":    {"", false, false, []string{"0 tests with 0 subtests ran", "No test ran."}, nil},
		"a skip":     {passes + "\nfunc TestSkip(t *testing.T) { t.Skip(\"too late\") }", false, false, []string{"SKIPPED: example.TestSkip", "too late", "1 were skipped"}, nil},
		"skips good": {passes + "\nfunc TestSkip(t *testing.T) { t.Skip(\"too late\") }", true, true, []string{"SKIPPED: example.TestSkip", "too late"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module example\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "a.go"), "package example\n")
			write(t, filepath.Join(dir, "a_test.go"), "package example\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\nvar _ testing.TB\n\n"+c.code+"\n")
			timeout := "10m"
			if strings.Contains(c.code, "TestHang") {
				timeout = "1s"
			}
			cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-timeout", timeout, "./...")
			cmd.Dir = dir
			events, _ := cmd.Output() // the exit code is that of the tests
			var out strings.Builder
			ok, err := report(strings.NewReader(string(events)), &out, c.skips)
			if err != nil || ok != c.ok {
				t.Errorf("ok is %v (%v)", ok, err)
			}
			for _, s := range c.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("the report does not say %q", s)
				}
			}
			for _, s := range c.not {
				if strings.Contains(out.String(), s) {
					t.Errorf("the report says %q", s)
				}
			}
			if t.Failed() {
				t.Log(out.String())
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
