package webhook_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/webhook"
)

// examples are the receivers of docs/webhooks.md: the language of the block, the
// file, and how it is run.
var examples = []struct {
	language, file string
	command        func(t *testing.T, file string) []string
}{
	{"go", "receiver.go", func(t *testing.T, file string) []string {
		program := filepath.Join(t.TempDir(), "receiver")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, file)
		build.Stderr = t.Output()
		if err := build.Run(); err != nil {
			t.Fatal(err)
		}
		return []string{program}
	}},
	{"js", "receiver.mjs", func(t *testing.T, file string) []string {
		needNode(t)
		return []string{"node", file}
	}},
	{"python", "receiver.py", func(_ *testing.T, file string) []string { return []string{"python3", file} }},
}

func TestTheDocumentedReceiversAcceptWhatWeSendAndNothingElse(t *testing.T) {
	for _, example := range examples {
		t.Run(example.language, func(t *testing.T) {
			command := example.command(t, filepath.Join(foreign, "examples", example.file))
			receiver := exec.CommandContext(t.Context(), command[0], command[1:]...)
			receiver.Env = append(os.Environ(), "WEBHOOK_SECRET="+testSecret)
			receiver.Stderr = t.Output()
			output, err := receiver.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(output)
			if !lines.Scan() {
				t.Fatalf("the receiver does not listen: %v", receiver.Wait())
			}
			port, ok := strings.CutPrefix(lines.Text(), "listening on ")
			if !ok {
				t.Fatalf("the receiver says %q", lines.Text())
			}

			d := sending(t)
			genuine := claim("http://127.0.0.1:" + port + "/")
			for what, c := range map[string]func(*webhook.Claim){
				"another secret": func(c *webhook.Claim) { c.Secret = sealer.Seal(testEndpoint, webhook.NewSecret()) },
				"two others": func(c *webhook.Claim) {
					c.Secret = sealer.Seal(testEndpoint, webhook.NewSecret())
					c.OldSecret = c.Secret
				},
				"no event in JSON": func(c *webhook.Claim) { c.Secret = sealer.Seal(testEndpoint, webhook.NewSecret()); c.Body = nil },
			} {
				forged := genuine
				c(&forged)
				if result := d.Send(t.Context(), forged); result.Outcome != webhook.HTTPStatus || result.Status != 400 || result.Response != "bad signature\n" {
					t.Errorf("%s: %+v", what, result)
				}
			}
			// What does not fit is neither acted on nor taken for delivered.
			long := genuine
			long.EventID = testEvent[:len(testEvent)-1] + "y"
			long.Body = []byte(`{"type":"webhook.ping","data":"` + strings.Repeat("x", 1<<20) + `"}`)
			if result := d.Send(t.Context(), long); result.Outcome == webhook.OK {
				t.Errorf("more than a megabyte: %+v", result)
			}
			rotated := genuine
			rotated.Secret, rotated.OldSecret = sealer.Seal(testEndpoint, webhook.NewSecret()), genuine.Secret
			other := genuine
			other.EventID = testEvent[:len(testEvent)-1] + "z"
			for what, c := range map[string]webhook.Claim{"the first time": genuine, "the second time": genuine, "during a rotation": rotated} {
				if result := d.Send(t.Context(), c); result.Outcome != webhook.OK || result.Status != 204 {
					t.Errorf("%s: %+v", what, result)
				}
			}
			if result := d.Send(t.Context(), other); result.Outcome != webhook.OK {
				t.Errorf("another event: %+v", result)
			}
			receiver.Process.Kill()
			var received []string
			for lines.Scan() {
				received = append(received, lines.Text())
			}
			receiver.Wait()
			want := []string{"received webhook.ping " + testEvent, "received webhook.ping " + other.EventID}
			if strings.Join(received, "\n") != strings.Join(want, "\n") {
				t.Errorf("the receiver acted on %q, want each event once: %q", received, want)
			}
		})
	}
}

func TestTheDocumentsCodeIsTheCodeThatRuns(t *testing.T) {
	document, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range examples {
		code, err := os.ReadFile(filepath.Join(foreign, "examples", example.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(document), "\n```"+example.language+"\n"+string(code)+"```\n") {
			t.Errorf("docs/webhooks.md does not show %s as it is", example.file)
		}
	}
}
