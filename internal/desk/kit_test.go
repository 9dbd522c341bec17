package desk_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"palmares/internal/deskdb"
	"palmares/internal/readerdb"
	"palmares/internal/vault"

	"palmares/internal/account"
	"palmares/internal/api"
	"palmares/internal/desk"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/site"
	"palmares/internal/snapshot"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
	"palmares/internal/worktree"
)

func TestMain(m *testing.M) {
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull) // nobody's own settings of git
	os.Exit(testkit.Run(m))
}

var monday = time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC)

const (
	base     = "https://palmares.example"
	settings = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"
	plume    = "---\n# La fiche de référence\nname: Plume\ntagline: Écrit vite\ndomain: plume.example\ncategory: code\npricing: payant\nprice: 19 €/mois\nscore: 7.5\ntested_at: 2025-11-01\nprice_checked_at: 2026-01-01\ntier: 1\nsummary: Net.\naccess: paid\nauthor: Ada\n---\n\nUn avis.\n\nUn autre.\n"
	encre    = "---\nname: Encre\ndomain: encre.example\ntagline: Coule de source\ncategory: code\npricing: gratuit\nprice: 0 €/mois\nscore: 6\ntested_at: 2026-11-01\n---\nUn avis.\n"
	duel     = "---\ntitle: Un duel\ntool_a: plume\ntool_b: encre\nwinner: plume\nwinner_note: Plus net.\n---\n"
)

// later returns a file as it replaces one on the first of December.
func later(file string) string {
	return strings.Replace(file, "\n---\n", "\npublish_at: 2026-12-01T09:00\n---\n", 1)
}

// A newsroom is the desk over a real database and a real folder.
type newsroom struct {
	t       testing.TB
	dir     string
	db      *testdb.DB
	handler http.Handler
	site    *site.Site
	now     time.Time
	people  map[string]desk.Visitor // by name
	visitor func(http.ResponseWriter, *http.Request) (desk.Visitor, error)
	log     testkit.Log
}

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

// each runs a test on both databases, with a folder of two tools that are published.
func each(t *testing.T, test func(t *testing.T, n *newsroom)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *testdb.DB) {
		n := newNewsroom(t, db, t.TempDir())
		test(t, n)
	})
}

var sealer = func() vault.Sealer {
	s, err := vault.ParseKeys(base64.StdEncoding.EncodeToString(make([]byte, vault.KeySize)))
	if err != nil {
		panic(err)
	}
	return s
}()

// reader reads pages on this machine only.
var reader = evidence.ReaderConfig{Agent: "Palmares/essai", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

// reported returns the id of something that a reader has just reported.
func (n *newsroom) reported() string {
	n.t.Helper()
	n.now = n.now.Add(25 * time.Hour) // not too many a day
	report := readerdb.Report{Page: "/outils/plume", Text: "Le prix est <faux>.", Address: "lea@example.org"}
	stored, err := n.db.Reports.Sealed(sealer).Add(n.t.Context(), report, netip.MustParsePrefix("203.0.113.9/32"), n.now)
	if err != nil || !stored {
		n.t.Fatal(stored, err)
	}
	list, err := n.db.Reports.Sealed(sealer).List(n.t.Context(), 0)
	if err != nil {
		n.t.Fatal(err)
	}
	return list[0].ID
}

func newNewsroom(t testing.TB, db *testdb.DB, dir string) *newsroom {
	t.Helper()
	n := &newsroom{t: t, db: db, dir: dir, now: monday, people: map[string]desk.Visitor{
		"Ada":      {Email: "ada@example.org", Name: "Ada", Role: account.Editor, Token: "jeton-ada"},
		"Bob":      {Email: "bob@example.org", Name: "Bob", Role: account.Author, Token: "jeton-bob"},
		"Cleo":     {Email: "cleo@example.org", Name: "Cleo", Role: account.Author, Token: "jeton-cleo"},
		"visiteur": {Email: "x@example.org", Token: "jeton-x"},
	}}
	n.write("catalogue.yaml", settings)
	n.write("outils/plume.md", plume)
	n.write("outils/encre.md", encre)
	clock := func() time.Time { return n.now }
	folder, err := worktree.Open(t.Context(), worktree.Config{Dir: dir, Store: db.CatalogDB, Now: clock, Log: slog.New(slog.NewTextHandler(&n.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	n.serve(folder, desk.Config{
		Folder: folder, Copies: db.Copies, Editors: db.Editors, Shares: db.Shares, Readership: db.Readership, Reports: db.Reports.Sealed(sealer), Catalogue: db.Catalogue,
		Visitor: func(w http.ResponseWriter, r *http.Request) (desk.Visitor, error) { return n.visitor(w, r) },
	})
	n.visitor = func(_ http.ResponseWriter, r *http.Request) (desk.Visitor, error) {
		who, ok := n.people[r.Header.Get("X-Who")]
		if !ok {
			return desk.Visitor{}, desk.ErrStranger
		}
		return who, nil
	}
	return n
}

// serve opens the desk of a folder, which it closes in the end.
func (n *newsroom) serve(folder io.Closer, cfg desk.Config) {
	cfg.BaseURL, cfg.Reader, cfg.Now, cfg.Log = base, reader, func() time.Time { return n.now }, slog.New(slog.NewTextHandler(&n.log, nil))
	cfg.Editions = edition.New(edition.Config{Folder: func() fs.FS { return cfg.Folder.With(nil) }, Document: api.Document(), BaseURL: base, Now: cfg.Now})
	cfg.Site = site.New(site.Config{Demo: func(*snapshot.Snapshot) bool { return false }, BaseURL: base, Document: api.Document()})
	cfg.Site.Show(indexed(n.t))
	n.site = cfg.Site
	n.t.Cleanup(func() {
		cfg.Editions.Close()
		if err := folder.Close(); err != nil {
			n.t.Error(err)
		}
	})
	n.handler = desk.New(cfg)
}

// newRepository is newNewsroom in a git repository with more files, and returns what runs git there.
func newRepository(t testing.TB, db *testdb.DB, files map[string]string) (*newsroom, func(args ...string) string) {
	t.Helper()
	n := &newsroom{t: t, dir: t.TempDir()}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=Léa", "-c", "user.email=lea@essai.example"}, args...)...)
		cmd.Dir = n.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	n.write("catalogue.yaml", settings)
	for name, text := range files {
		n.write(name, text)
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "Commence")
	return newNewsroom(t, db, n.dir), git
}

func (n *newsroom) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newsroom) read(name string) string {
	n.t.Helper()
	file, err := os.ReadFile(filepath.Join(n.dir, name))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(file)
}

// files returns the paths of the files of the folder.
func (n *newsroom) files() string {
	n.t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(n.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// A person is somebody at the desk.
type person struct {
	*newsroom
	name string
}

func (n *newsroom) as(name string) person { return person{n, name} }

func (p person) do(method, path, kind string, body io.Reader, headers ...string) *testkit.Reply {
	p.t.Helper()
	r := httptest.NewRequestWithContext(p.t.Context(), method, base+path, body)
	r.Header.Set("X-Who", p.name)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Origin", base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return testkit.Serve(p.t, p.handler, r)
}

func (p person) get(path string, headers ...string) *testkit.Reply {
	p.t.Helper()
	return p.do("GET", path, "", nil, headers...)
}

const formType = "application/x-www-form-urlencoded"

// post sends a form with the token of the session; fields are alternating names and values.
func (p person) post(path string, fields ...string) *testkit.Reply {
	p.t.Helper()
	return p.send(path, fields)
}

// publishes publishes a record with some fields changed.
func (p person) publishes(record string, changes ...string) {
	p.t.Helper()
	p.now = p.now.Add(time.Minute)
	copied := p.edit(record, changes...)
	p.publish("copie", p.seen(copied)).Is(http.StatusSeeOther)
}

// schedules has a record replaced by one with another tagline at an hour.
func (p person) schedules(record, tagline, hour string) {
	p.t.Helper()
	copied := p.edit(record, "f.tagline", tagline)
	p.post(copied+"/programmation", "copie", p.seen(copied), "quand", hour).Is(http.StatusSeeOther)
}

// publish sends the form that asks whether working copies are to be published.
func (p person) publish(fields ...string) *testkit.Reply {
	p.t.Helper()
	return p.post("/redaction/publication", append(fields, "message", "")...)
}

func (p person) send(path string, fields []string, headers ...string) *testkit.Reply {
	p.t.Helper()
	form := url.Values{"jeton": {p.people[p.name].Token}}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return p.do("POST", path, formType, strings.NewReader(form.Encode()), headers...)
}

// upload sends a picture.
func (p person) upload(path, file string, data []byte, alt string, headers ...string) *testkit.Reply {
	p.t.Helper()
	return p.uploadWith(url.Values{}, path, file, data, alt, headers...)
}

// uploadWith sends a picture with the rest of a form.
func (p person) uploadWith(form url.Values, path, file string, data []byte, alt string, headers ...string) *testkit.Reply {
	p.t.Helper()
	form.Set("jeton", p.people[p.name].Token)
	form.Set("alt", alt)
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, values := range form {
		for _, value := range values {
			if err := w.WriteField(name, value); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	part, err := w.CreateFormFile("image", file)
	if err == nil {
		_, err = part.Write(data)
	}
	if err != nil || w.Close() != nil {
		p.t.Fatal(err)
	}
	return p.do("POST", path, w.FormDataContentType(), &b, headers...)
}

// follow returns the path that a redirect leads to.
func (p person) follow(r *testkit.Reply) string {
	p.t.Helper()
	r.Is(http.StatusSeeOther)
	to, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		p.t.Fatal(err)
	}
	return to.Path
}

// open opens a working copy of a record, and returns its path.
func (p person) open(record string) string {
	p.t.Helper()
	return p.follow(p.post("/redaction/fiches/" + record + "/copie"))
}

var (
	control  = regexp.MustCompile(`(?s)<input [^>]*>|<textarea [^>]*>\n(.*?)</textarea>|<select [^>]*>.*?</select>`)
	attr     = regexp.MustCompile(` ([a-z]+)(?:="([^"]*)")?`)
	selected = regexp.MustCompile(`<option value="([^"]*)" selected>`)
	firstOne = regexp.MustCompile(`<option value="([^"]*)">`)
	entities = strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+", "&amp;", "&")
)

// fields returns the fields of the form of a working copy as a browser sends them without a change.
func (p person) fields(path string) url.Values {
	p.t.Helper()
	page := p.get(path).OK().Body
	start := strings.Index(page, `id="page.fiche"`)
	page = page[start : start+strings.Index(page[start:], "</form>")]
	form := url.Values{}
	for _, found := range control.FindAllStringSubmatch(page, -1) {
		tag, _, _ := strings.Cut(found[0], ">")
		has := map[string]string{}
		for _, a := range attr.FindAllStringSubmatch(tag, -1) {
			has[a[1]] = entities.Replace(a[2])
		}
		value := has["value"]
		_, isTicked := has["checked"]
		switch {
		case has["name"] == "" || has["type"] == "checkbox" && !isTicked:
			continue
		case strings.HasPrefix(tag, "<textarea"):
			value = entities.Replace(found[1])
		case strings.HasPrefix(tag, "<select"):
			m := selected.FindStringSubmatch(found[0])
			if m == nil {
				m = firstOne.FindStringSubmatch(found[0])
			}
			value = entities.Replace(m[1])
		}
		form.Add(has["name"], strings.ReplaceAll(value, "\n", "\r\n"))
	}
	return form
}

// save sends the form of a working copy with some fields changed.
func (p person) save(path string, changes ...string) *testkit.Reply {
	p.t.Helper()
	form := p.fields(path)
	for i := 0; i < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return p.do("POST", path, formType, strings.NewReader(form.Encode()))
}

// edit opens a working copy of a record with some fields changed, and returns its path.
func (p person) edit(record string, changes ...string) string {
	p.t.Helper()
	copied := p.open(record)
	p.save(copied, changes...).Is(http.StatusSeeOther)
	return copied
}

// join adds somebody to the people at the desk.
func (n *newsroom) join(names ...string) {
	n.t.Helper()
	for _, name := range names {
		who := n.people[name]
		if _, err := n.db.Editors.Add(n.t.Context(), deskdb.Editor{Email: who.Email, Name: who.Name, Role: who.Role}, n.now); err != nil {
			n.t.Fatal(err)
		}
	}
}

// A text is a file of the folder, or what a working copy has.
type text struct {
	t         testing.TB
	name, got string
}

func (n *newsroom) file(name string) text   { n.t.Helper(); return text{n.t, name, n.read(name)} }
func (n *newsroom) text(copied string) text { n.t.Helper(); return text{n.t, copied, n.copyOf(copied)} }

func (x text) is(want string) {
	x.t.Helper()
	if x.got != want {
		x.t.Errorf("%s is\n%s\nwant\n%s", x.name, x.got, want)
	}
}

func (x text) has(parts ...string) text {
	x.t.Helper()
	for _, part := range parts {
		if !strings.Contains(x.got, part) {
			x.t.Errorf("%s lacks %q:\n%s", x.name, part, x.got)
		}
	}
	return x
}

func (x text) lacks(parts ...string) {
	x.t.Helper()
	for _, part := range parts {
		if strings.Contains(x.got, part) {
			x.t.Errorf("%s has %q:\n%s", x.name, part, x.got)
		}
	}
}

// isGone checks that the folder has no such file.
func (n *newsroom) isGone(name string) {
	n.t.Helper()
	if _, err := os.Stat(filepath.Join(n.dir, name)); err == nil {
		n.t.Errorf("%s is still there", name)
	}
}

// indexed returns an empty catalogue, in whose layout the desk is shown.
func indexed(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	empty := snapshot.Empty("Palmarès", base)
	if err := empty.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	return empty
}
