package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"palmares/internal/testkit"
)

// printed runs a command in this process and returns what it printed and its exit code.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return fmt.Sprintf("exit %d\n-- stdout\n%s-- stderr\n%s", code, &stdout, progressLine.ReplaceAll(stderr.Bytes(), nil))
}

// progressLine matches progress, which only a slow machine prints.
var progressLine = regexp.MustCompile(`(?m)^[a-z]+: [0-9.]+ (?:records|of .* %\))\n`)

const essai = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"

func essaiTool(tagline string) string {
	return "---\nname: Scie\ndomain: scie.example\ncategory: code\npricing: payant\nprice: 1 €/mois\nscore: 8\ntested_at: 2026-10-01\ntagline: " + tagline + "\nupdated_at: 2026-11-01\n---\n"
}

func TestPublishingFromElsewherePrintsWhatTheCommandPrints(t *testing.T) {
	dsn, local := databases.Postgres(t), databases.SQLite(t)
	server := serveProcess(t, "--database", dsn)
	token := strings.TrimSpace(must(t, "token", "create", "--name", "ci", "--database", dsn))
	logo := magazinePictures(t)["titre.png"]
	work := t.TempDir()
	t.Chdir(work)
	t.Setenv("PALMARES_TOKEN", token)
	write := func(name, text string) { writeFile(t, filepath.Join(work, "cat", name), []byte(text)) }
	same := func(args ...string) string {
		t.Helper()
		args = append([]string{"publish", "cat"}, args...)
		here := printed(t, append(args, "--database", local)...)
		there := strings.ReplaceAll(printed(t, append(args, "--server", server.url)...), ", by ci", "") // the token
		if here != there {
			t.Errorf("palmares %s\nhere: %s\nthere: %s", strings.Join(args, " "), here, there)
		}
		return there
	}
	write("catalogue.yaml", essai)
	write("outils/scie.md", essaiTool("Coupe."))
	write("pages/scies.md", "---\ntitle: Scies\n---\n![Une scie](/images/logo.png)\n")
	write("images/logo.png", string(logo))
	write("README.md", "# Un dépôt\n")
	same("--dry-run")
	if out := same(); !strings.Contains(out, "published version 1") {
		t.Error(out)
	}
	same()
	same("--strict")
	same("--expect", "7")
	write("outils/scie.md", essaiTool("Scie."))
	for _, format := range []string{"text", "json", "github"} {
		same("--dry-run", "--format", format, "--max-age", "1")
	}
	same("--strict", "--allow-removals")
	write("outils.json", "{}")
	write("outils/autre.txt", "x")
	write("outils/Faux nom.md", "---\n---\n# Titre\n")
	if out := same(); !strings.Contains(out, "exit 1") {
		t.Error(out)
	}
	same("--format", "github")
	if err := os.Symlink("logo.png", filepath.Join(work, "cat/images/lien.png")); err != nil {
		t.Fatal(err)
	}
	same()
	for _, name := range []string{"images/lien.png", "outils.json", "outils/autre.txt", "outils/Faux nom.md"} {
		if err := os.Remove(filepath.Join(work, "cat", name)); err != nil {
			t.Fatal(err)
		}
	}
	same()
	if err := os.Remove(filepath.Join(work, "cat/outils/scie.md")); err != nil {
		t.Fatal(err)
	}
	same()
	if out := same("--allow-removals"); !strings.Contains(out, "published version 3") {
		t.Error(out)
	}
	write("outils/scie.md", essaiTool("Coupe."))
	if out := same("--revision", "0123abc", "--author", "Ada"); !strings.Contains(out, "from a folder without a revision of git") {
		t.Error(out)
	}
	same("--revision", "0123abc", "--author", "Ada", "--expect", "3")
	write("outils/scie.md", essaiTool("Scie."))
	if out := same(); !strings.Contains(out, "exit 1") || !strings.Contains(out, "as revision 0123abc by Ada, and this folder has no revision of git") {
		t.Error(out)
	}
	same("--expect", "3")
	if out := same("--expect", "4"); !strings.Contains(out, "published version 5") {
		t.Error(out)
	}
	write("outils/scie.md", essaiTool("Taille."))
	if out := same(); !strings.Contains(out, "publish with --expect 5") {
		t.Error(out)
	}
	write("pages/salon.md", "---\ntitle: Salon\npublish_at: 2099-01-04T09:00\n---\nVenez.\n")
	same("--force")
	if out := must(t, "log", "--planned", "--server", server.url); !strings.Contains(out, "pages/salon") || out != must(t, "log", "--planned", "--database", dsn) {
		t.Error(out)
	}
	if out := must(t, "log", "--database", dsn); !strings.Contains(out, "  ci  ") {
		t.Error(out)
	}
	server.stop()
	if server.log.Contains(token) {
		t.Error("the token is in the log")
	}
}

func TestAnOlderCloneIsRefusedElsewhereToo(t *testing.T) {
	dsn := databases.SQLite(t)
	server := serveProcess(t, "--database", dsn)
	t.Setenv("PALMARES_TOKEN", strings.TrimSpace(must(t, "token", "create", "--name", "ci", "--database", dsn)))
	work := t.TempDir()
	t.Chdir(work)
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	writeFile(t, filepath.Join(work, "ada/catalogue.yaml"), []byte(essai))
	git(work, "init", "-q", "ada")
	git(filepath.Join(work, "ada"), "add", ".")
	git(filepath.Join(work, "ada"), "commit", "-qm", "One")
	git(work, "clone", "-q", "ada", "bob")
	writeFile(t, filepath.Join(work, "ada/outils/scie.md"), []byte(essaiTool("Coupe.")))
	git(filepath.Join(work, "ada"), "add", ".")
	git(filepath.Join(work, "ada"), "commit", "-qm", "Two")
	if out := printed(t, "publish", "ada", "--server", server.url); !strings.Contains(out, "published version 1") {
		t.Fatal(out)
	}
	out := printed(t, "publish", "bob", "--server", server.url)
	if !strings.Contains(out, "exit 1") || !strings.Contains(out, "does not contain the published revision") || !strings.Contains(out, "by Ada") {
		t.Error(out)
	}
	git(filepath.Join(work, "bob"), "pull", "-q")
	if out := printed(t, "publish", "bob", "--server", server.url); !strings.Contains(out, "nothing changed: version 1 stands") {
		t.Error(out)
	}

	// What was published before it was committed is on record once it is published again.
	writeFile(t, filepath.Join(work, "ada/outils/scie.md"), []byte(essaiTool("Scie.")))
	for _, want := range []string{"published version 2", "nothing changed: version 2 stands"} {
		if out := printed(t, "publish", "ada", "--server", server.url); !strings.Contains(out, want) {
			t.Error(out)
		}
		out := printed(t, "publish", "bob", "--server", server.url)
		if !strings.Contains(out, "exit 1") || !strings.Contains(out, "uncommitted changes") && !strings.Contains(out, "does not contain the published revision") {
			t.Error(out)
		}
		git(filepath.Join(work, "ada"), "commit", "-q", "--allow-empty", "-am", "Three")
	}

	// A merge into one commit changes nothing and replaces the revision.
	git(filepath.Join(work, "bob"), "pull", "-q", "--squash")
	git(filepath.Join(work, "bob"), "commit", "-qm", "Squashed")
	if out := printed(t, "publish", "bob", "--server", server.url); !strings.Contains(out, "exit 0") || !strings.Contains(out, "nothing changed: version 2 stands") {
		t.Error(out)
	}
	writeFile(t, filepath.Join(work, "bob/outils/scie.md"), []byte(essaiTool("Coupe encore.")))
	if out := printed(t, "publish", "bob", "--server", server.url); !strings.Contains(out, "published version 3") {
		t.Error(out)
	}
}

// Whatever is killed and when, the old version is published or the new one, and no folder
// is left behind.
func TestKilledRemotePublicationsTearNothing(t *testing.T) {
	const tools = 500
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	folders := []string{marked(t, "A", tools), marked(t, "B", tools)}
	databases.EachDSN(t, func(t *testing.T, dsn string) {
		server := serveProcess(t, "--database", dsn, "--quota", "off")
		token := "PALMARES_TOKEN=" + strings.TrimSpace(must(t, "token", "create", "--name", "ci", "--database", dsn))
		publish := func(folder string) *exec.Cmd {
			cmd := palmares(context.WithoutCancel(t.Context()), "publish", folder, "--server", server.url)
			cmd.Env = append(cmd.Env, token)
			return cmd
		}
		begin := time.Now()
		if out, err := publish(folders[0]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		took, killed := time.Since(begin), 0
		kills := max(2, *publicationKills) // of publishers and of servers, in turn
		for i := range kills {
			cmd := publish(folders[(i+1)%2])
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			serving, after := server.cmd.Process.Pid, took*time.Duration((i/2*3+3)%11)/8
			if i%2 == 0 {
				kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
				if cmd.Wait() != nil {
					killed++
				}
				kill.Stop()
			} else {
				ended, victim := make(chan struct{}), server
				time.AfterFunc(after, func() { // also when the publication is done
					defer close(ended)
					victim.kill()
				})
				if cmd.Wait() != nil {
					killed++
				}
				<-ended
				server = serveProcess(t, "--database", dsn, "--quota", "off")
			}
			testkit.Until(t, "the removal of the upload", func() bool {
				left, err := filepath.Glob(filepath.Join(temp, fmt.Sprintf("palmares-draft-%d-*", serving)))
				return err == nil && len(left) == 0
			})
			checkEvents(t, dsn)
		}
		t.Logf("%d of %d publications were killed, half of them by killing the server", killed, kills)
		checkStored(t, dsn)
		for _, folder := range folders {
			if out, err := publish(folder).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkEvents(t, dsn)
		}
	})
}
