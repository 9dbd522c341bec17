package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"palmares/internal/testkit"
)

// move copies a database to another and returns what the command printed.
func move(t *testing.T, from, to string) string {
	t.Helper()
	out := must(t, "copy", from, to)
	if !strings.HasPrefix(out, "copied ") || !strings.Contains(out, "version 1 of the catalogue with 3 tools, 1 accounts") {
		t.Fatal(out)
	}
	return out
}

// remaining asks for a page with a key, and returns the answer and what is left of the day.
func remaining(p *process, key string) (*http.Response, string) {
	p.t.Helper()
	resp, body := p.get("/api/v1/tools?limit=3", key)
	if resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%d %s", resp.StatusCode, body)
	}
	return resp, resp.Header.Get("X-RateLimit-Remaining")
}

func TestAMovedCatalogueGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	lite := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 3), "--database", lite)
	key := customer(t, lite, "ada@example.org", "developer", 1)[0]
	must(t, "account", "plan", "ada@example.org", "pro", "--database", lite)
	receiver := newReceiver(t, accept)
	receiver.add("ada@example.org", lite)
	must(t, "account", "plan", "ada@example.org", "developer", "--database", lite)
	first := serveProcess(t, "--database", lite)
	before, _ := remaining(first, key)
	remaining(first, key)

	postgres := testkit.Postgres(t)
	refuses(t, "another palmares serve uses", "copy", lite, postgres)
	first.stop()
	move(t, lite, postgres)

	node := func() *process { return serveProcess(t, "--database", postgres, "--webhook-allow", "127.0.0.0/8") }
	nodes := []*process{node(), node()}
	after, left := remaining(nodes[0], key)
	if left != "997" {
		t.Errorf("after two requests before the move and one after it, %s are left", left)
	}
	if before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Errorf("the ETag was %s and is %s", before.Header.Get("ETag"), after.Header.Get("ETag"))
	}
	if _, left := remaining(nodes[1], key); left != "996" {
		t.Errorf("the other node has %s left", left)
	}
	must(t, "account", "plan", "ada@example.org", "pro", "--database", postgres)
	must(t, "publish", marked(t, "B", 3), "--database", postgres)
	receiver.until(3) // which checks the signatures
	refuses(t, "in use by palmares", "copy", postgres, databases.SQLite(t))
}

func TestTheKeyOfWebhookSecretsGoesAlong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		cmd := palmares(t.Context(), args...)
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "PALMARES_WEBHOOK_ALLOW=127.0.0.0/8", "PALMARES_SECRET_KEY=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"publish", marked(t, "A", 3)},
		{"account", "create", "ada@example.org", "--plan", "pro"},
		{"webhook", "add", "ada@example.org", "http://127.0.0.1:9/"},
		{"copy", "sqlite:data/palmares.db", "sqlite:data/second.db"},
	} {
		if out, err := run(args...); err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
	}
	first, err := os.ReadFile(dir + "/data/palmares.key")
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(dir + "/data/second.key")
	if err != nil || string(first) != string(second) {
		t.Errorf("the key beside the copy is %q and not %q, %v", second, first, err)
	}
	if out, err := run("check", "--database", "sqlite:data/second.db"); err != nil || !strings.Contains(out, "it opens the secrets of all webhooks") {
		t.Errorf("%v %s", err, out)
	}

	other := "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	for _, args := range [][]string{
		{"publish", marked(t, "A", 3), "--database", "sqlite:data/plain.db"},
		{"copy", "sqlite:data/plain.db", "sqlite:data/plain2.db", "--secret-key", other}, // certificates may need it
	} {
		if out, err := run(args...); err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
	}
	if key, err := os.ReadFile(dir + "/data/plain2.key"); strings.TrimSpace(string(key)) != other {
		t.Errorf("the key beside the copy is %q, %v", key, err)
	}

	postgres := testkit.Postgres(t)
	if out, err := run("copy", "sqlite:data/palmares.db", "sqlite:./data/palmares.db"); err == nil || !strings.Contains(out, "FROM and TO are the same database") {
		t.Errorf("a copy of a database onto itself: %v %s", err, out)
	}
	out, err := run("copy", "sqlite:data/palmares.db", postgres)
	if err != nil || !strings.Contains(out, "start the servers with the same PALMARES_SECRET_KEY as before: it is in data/palmares.key") {
		t.Errorf("%v %s", err, out)
	}
	out, err = run("copy", postgres, "sqlite:data/third.db")
	if err == nil || !strings.Contains(out, "--secret-key is missing") {
		t.Errorf("%v %s", err, out)
	}
	if out, err = run("copy", postgres, "sqlite:data/third.db", "--secret-key", other); err == nil || !strings.Contains(out, "which is not in --secret-key") {
		t.Errorf("%v %s", err, out)
	}
	writeFile(t, dir+"/data/third.key", []byte(other+"\n"))
	if out, err = run("copy", postgres, "sqlite:data/third.db", "--secret-key", strings.TrimSpace(string(first))); err == nil || !strings.Contains(out, "has another key") {
		t.Errorf("%v %s", err, out)
	}
	if err := os.Remove(dir + "/data/third.key"); err != nil {
		t.Fatal(err)
	}
	if out, err = run("copy", postgres, "sqlite:data/third.db", "--secret-key", strings.TrimSpace(string(first))); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

func TestPublishWaitsForADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	proxy := testkit.NewProxy(t, databases.Postgres(t))
	proxy.Refuse()
	cmd := palmares(t.Context(), "publish", marked(t, "A", 3), "--database", proxy.DSN, "--wait", "1h")
	log := &testkit.Log{}
	cmd.Stderr, cmd.Stdout = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the first attempt", func() bool { return log.Contains("trying again for up to 1h0m0s") })
	proxy.Restore()
	if err := cmd.Wait(); err != nil || !log.Contains("published version 1") || log.Count("trying again") != 1 || log.Count("outils.jsonl:2") != 1 {
		t.Errorf("%v %s", err, log)
	}
}

func TestPublishWaitsForAServerThatIsAway(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	token := strings.TrimSpace(must(t, "token", "create", "--name", "ci", "--database", database))
	address, err := testkit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	publish := func(wait string) (*testkit.Log, func() error) {
		cmd := palmares(t.Context(), "publish", marked(t, "A", 3), "--server", "http://"+address, "--wait", wait)
		cmd.Env = append(cmd.Env, "PALMARES_TOKEN="+token)
		log := &testkit.Log{}
		cmd.Stderr, cmd.Stdout = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return log, cmd.Wait
	}
	log, wait := publish("0s")
	if err := wait(); err == nil || !log.Contains("cannot be reached") || log.Contains("trying again for") {
		t.Errorf("%v %s", err, log)
	}
	log, wait = publish("1h")
	testkit.Until(t, "the first attempt", func() bool { return log.Contains("trying again for up to 1h0m0s") })
	serveProcess(t, "--database", database, "--listen", address)
	if err := wait(); err != nil || !log.Contains("published version 1") {
		t.Errorf("%v %s", err, log)
	}
}

func TestABackupIsTheDatabaseAsItWasServed(t *testing.T) {
	t.Parallel()
	database := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 3), "--database", database)
	s := serveProcess(t, "--database", database)
	file := t.TempDir() + "/backup.db"
	if err := os.Mkdir(filepath.Dir(file)+"/palmares-draft-999999999-killed", 0o700); err != nil { // as of a backup that was killed
		t.Fatal(err)
	}
	if out := must(t, "backup", file, "--database", database); !strings.Contains(out, "version 1 of the catalogue") {
		t.Error(out)
	}
	piped, err := palmares(t.Context(), "backup", "-", "--database", database).Output()
	if written, _ := os.ReadFile(file); err != nil || len(piped) != len(written) || !strings.HasPrefix(string(piped), "SQLite format 3") {
		t.Errorf("to standard output: %d bytes, %v; want the %d of the file", len(piped), err, len(written))
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the backup: %v %v", info, err)
	}
	before, _ := s.get("/api/v1/tools")
	must(t, "publish", marked(t, "B", 3), "--database", database)
	restored := serveProcess(t, "--database", "sqlite:"+file)
	after, _ := restored.get("/api/v1/tools")
	if before.Header.Get("ETag") != after.Header.Get("ETag") {
		t.Errorf("the ETag was %s and is %s", before.Header.Get("ETag"), after.Header.Get("ETag"))
	}
	refuses(t, "exists: choose another name", "backup", file, "--database", database)
	if left, err := os.ReadDir(strings.TrimSuffix(file, "/backup.db")); err != nil || len(left) > 5 { // backup.db, -wal, -shm, -lock, -export
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	check := func(args ...string) (string, error) {
		out, err := palmares(t.Context(), append([]string{"check"}, args...)...).CombinedOutput()
		return string(out), err
	}
	lines := func(out, mark string) (subjects []string) {
		for line := range strings.Lines(out) {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				subjects = append(subjects, strings.TrimSpace(rest[:13]))
			}
		}
		return subjects
	}
	// Where nobody has looked is not in order.
	published := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 3), "--database", published)
	for _, c := range []struct {
		database, ok, unknown string
	}{
		{published, "settings tables catalogue documents integrity space", "node clock secret key backup files memory"},
		{databases.SQLite(t), "settings tables catalogue integrity space", "node clock secret key backup files memory"},
		{databases.Postgres(t), "settings tables catalogue server connections clock", "node secret key backup files memory"},
		{testkit.Postgres(t), "settings", "node tables files memory"},
		{"sqlite:" + t.TempDir() + "/new.db", "settings", "node database files memory"},
	} {
		out, err := check("--database", c.database)
		if ok, unknown := strings.Join(lines(out, "ok   "), " "), strings.Join(lines(out, "?    "), " "); err != nil || ok != c.ok || unknown != c.unknown {
			t.Errorf("%s: %v, %q, %q\n%s", c.database, err, ok, unknown, out)
		}
	}
	if out, err := check("--database", published, "--ops-listen", freeAddress(t)); err == nil || !strings.Contains(out, "WRONG  node         none answers") {
		t.Errorf("without the server: %v\n%s", err, out)
	}
	t.Run("a misspelt setting", func(t *testing.T) {
		cmd := palmares(t.Context(), "check", "--database", published)
		cmd.Env = append(cmd.Env, "PALMARES_DOMIAN=catalogue.example", "PALMARES_TOKEN=x")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), `WRONG  settings     "PALMARES_DOMIAN" is no setting`) {
			t.Errorf("%v: %s", err, out)
		}
		serve := palmares(context.WithoutCancel(t.Context()), "serve", "--listen", "localhost:0", "--database", published)
		serve.Env = cmd.Env
		launch(t, serve).serves().logs("PALMARES_DOMIAN\\\" is no setting")
	})

	damaged := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 300), "--database", damaged)
	path := strings.TrimPrefix(damaged, "sqlite:")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(raw[len(raw)/2:], strings.Repeat("damage", 2000))
	writeFile(t, path, raw)
	out, err := check("--database", damaged, "--smtp", "smtp://mail.example", "--max-connections", "1000000", "--secret-key", "short")
	if got := strings.Join(lines(out, "WRONG"), " "); err == nil || !strings.Contains(out, "is damaged") || !strings.Contains(got, "settings") || !strings.Contains(got, "database") || !strings.Contains(got, "files") {
		t.Errorf("%v, %q\n%s", err, got, out)
	}
	large := databases.SQLite(t)
	must(t, "publish", marked(t, "A", 2000), "--database", large)
	for memory, want := range map[string]string{"260MiB": "memory", "270MiB": ""} { // 2,000 tools need 112 MB, and 250 % of that beside a large publication
		if out, _ := check("--database", large, "--memory", memory); strings.Join(lines(out, "WRONG"), " ") != want {
			t.Errorf("--memory %s: %s", memory, out)
		}
	}
	flipped := databases.SQLite(t)
	must(t, "publish", "../../demo", "--database", flipped)
	if out, err := check("--database", flipped); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	path = strings.TrimPrefix(flipped, "sqlite:")
	raw, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(raw), `"tagline":"`) + len(`"tagline":"`)
	raw[at] ^= 2
	writeFile(t, path, raw)
	if out, _ := check("--database", flipped); strings.Join(lines(out, "WRONG"), " ") != "documents" {
		t.Errorf("one bit of %q was flipped:\n%s", raw[at:at+9], out)
	}

	// What limits the server is what counts, and not what limits the command.
	ops := freeAddress(t)
	serveProcess(t, "--database", large, "--ops-listen", ops, "--memory", "260MiB", "--max-connections", "77")
	out, _ = check("--database", large, "--ops-listen", ops, "--memory", "2GiB")
	if strings.Join(lines(out, "WRONG"), " ") != "memory" || !strings.Contains(out, "the limit is 260 MiB") || !strings.Contains(out, "of 77 connections") || !strings.Contains(out, "version 1 of the catalogue") {
		t.Errorf("beside a server:\n%s", out)
	}
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	if out, _ := check("--database", large, "--ops-listen", hangs.Addr().String()); strings.Join(lines(out, "WRONG"), " ") != "node" {
		t.Errorf("beside a server that hangs:\n%s", out)
	}
	if out, _ := check("--database", large, "--smtp", "smtp://"+freeAddress(t), "--base-url", "https://"+freeAddress(t), "--mail-from", "a@example.org"); strings.Join(lines(out, "WRONG"), " ") != "certificate mail" {
		t.Errorf("without what is in front and its mail server:\n%s", out)
	}
	for _, database := range []string{"postgres://nobody@127.0.0.1:1/none", "postgres://%zz", "mysql://x", large + "/x/y.db"} {
		if out, err := check("--database", database); err == nil || !strings.Contains(strings.Join(lines(out, "WRONG"), " "), "database") {
			t.Errorf("%s: %v %s", database, err, out)
		}
	}
}
