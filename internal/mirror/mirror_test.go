package mirror

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/peer"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestTheFirstCopyIsTheExportAndLaterOnesAreTheFeed(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		o := newOrigin(t)
		files := some(20)
		o.publish(files)
		m := follow(t, o, st)
		m.syncs(o)
		if got := o.requests(); got["/export"] != 8 || got[changesPath] != 0 || got["/media"] != 2 || got[manifestPath] != 1 {
			t.Errorf("the first copy: %v", got)
		}
		m.syncs(o)
		if got := o.requests(); got[manifestPath] != 1 || len(got) != 1 {
			t.Errorf("without a change: %v", got)
		}
		setTool(files, "outil-3", "price: 99 €/mois", "")
		o.publish(files)
		m.syncs(o)
		if got := o.requests(); got["/export"] != 0 || got[changesPath] != 1 || got["/media"] != 0 {
			t.Errorf("one change: %v", got)
		}
		m.few = 3
		for i := range 4 {
			setTool(files, fmt.Sprintf("outil-%d", i), "price: 55 €/mois", "")
		}
		o.publish(files)
		m.syncs(o)
		if got := o.requests(); got["/export"] != 8 || got[changesPath] != 0 {
			t.Errorf("many changes: %v", got)
		}
		again := follow(t, o, st) // after a restart, nothing is copied again
		again.syncs(o)
		if got := o.requests(); len(got) != 1 {
			t.Errorf("after a restart: %v", got)
		}
	})
}

// tested are the fields of a test, without its figures.
const tested = "summary: Sûr.\npros: [Net]\ncons: [Lent]\nusages: [relire]\ntested_at: 2026-02-03\ntested_version: \"3.2\"\ntested_plan: Équipe\naccess: paid\ninterests: Aucun.\nprotocol: \"1\"\n"

// seenPrice returns what was last seen of the price of a tool.
func seenPrice(result string) string {
	return `{"slug":"outil-6","result":"` + result + `","checked_at":"2026-11-02T03:00:00Z","confirmed_at":"2026-11-02T03:00:00Z",` +
		`"url":"https://outil-6.example/tarifs","final_url":"https://outil-6.example/tarifs","status":200,"found":[],"text_hash":""}` + "\n"
}

func TestEveryKindOfChangeIsCopied(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		o := newOrigin(t)
		files := some(8)
		m := follow(t, o, st)
		m.fails("has published nothing yet")
		o.publish(files)
		m.syncs(o)
		soon := func(days int) time.Time { return o.clock.Now().AddDate(0, 0, days) }
		for _, change := range []func(){
			func() { // a rename
				delete(files, "outils/outil-2.md")
				setTool(files, "renomme", "price: 3 €/mois", "aliases: [outil-2]\n")
			},
			func() { // a merger
				delete(files, "outils/outil-3.md")
				setTool(files, "outil-4", "price: 5 €/mois", "aliases: [outil-3]\nlogo: images/neuf.png\n")
				files["images/neuf.png"] = &fstest.MapFile{Data: drawing(120, 9)}
			},
			func() { // a retirement, without a note that is a draft's
				delete(files, "outils/outil-5.md")
				write(files, "cimetiere/outil-5.md", "---\nname: Cinq\ncategory: code\nreason: acquis\nretired_at: 2026-11-01\n---\nRacheté.\n")
			},
			func() { // a restoration, with another price
				delete(files, "cimetiere/outil-5.md")
				setTool(files, "outil-5", "price: 50 €/mois", "")
			},
			func() { // other scores, twice
				setTool(files, "outil-6", "price: 6 €/mois", "verifiability: 3\nscore_note: Revu.\n")
			},
			func() { setTool(files, "outil-6", "price: 6 €/mois", "verifiability: 4\nscore_note: Revu encore.\n") },
			func() { // what tests found
				write(files, "catalogue.yaml", "name: Origine\nurl: https://origine.example\nlogo: images/logo.png\ncategories:\n  - slug: code\n    label: Code\n"+
					"    usages: [{slug: relire, label: Relire}]\n    protocol: {version: \"2\", since: 2026-01-01}\n    profiles: [{label: Pressé, weights: {latence: 2}}]\n"+
					"    criteria: [{slug: exactitude, label: Exactitude}, {slug: latence, label: Latence, unit: s, worst: 10, best: 0.5}, {slug: local, label: Local, kind: yesno}]\n")
				setTool(files, "outil-7", "price: 7 €/mois", tested+"criteria: {exactitude: 8.5, latence: 0.00002, local: true}\n")
			},
			func() { // other figures, which have a history
				setTool(files, "outil-7", "price: 8 €/mois", tested+"criteria: {exactitude: 7, local: false}\nverifiability: 2\n")
			},
			func() { // a retirement that remembers them
				delete(files, "outils/outil-7.md")
				write(files, "cimetiere/outil-7.md", "---\nname: Sept\ncategory: code\nreason: mort\nretired_at: 2026-11-02\nleaving: Par l’export.\n---\nFini.\n")
			},
			func() { // a price that was seen at its source, and then no longer
				setTool(files, "outil-6", "price: 6 €/mois", "price_source: https://outil-6.example/tarifs\n")
				write(files, "preuves.jsonl", seenPrice("confirmed"))
			},
			func() { write(files, "preuves.jsonl", seenPrice("gone")) },
			func() { files["images/logo.png"] = &fstest.MapFile{Data: drawing(16, 77)} }, // which changes the catalogue's record only
			func() { // a jpeg by name that is a PNG
				write(files, "pages/autre.md", "---\ntitle: Autre\nimage: images/sous/x.jpeg\n---\nTexte.\n")
				files["images/sous/x.jpeg"] = &fstest.MapFile{Data: drawing(64, 5)}
			},
			func() { write(files, "pages/brouillon.md", "---\ntitle: Brouillon\ndraft: true\n---\nTexte.\n") }, // nothing
			func() { // an unpublished comparison: nothing but a date
				write(files, "comparatifs/secret.md", "---\ntitle: Secret\ntool_a: outil-0\ntool_b: outil-1\nwinner: outil-0\nwinner_note: Net.\npublished: false\n---\n")
			},
			func() { // what is to come, which the clock of the mirror has passed, and nothing of what waits
				setTool(files, "outil-0", "price: 1 €/mois", fmt.Sprintf("announced:\n  - {from: %s, price: 11 €/mois, source: 'https://a.example/prix'}\n  - {from: %s, retire: mort, successor: outil-1}\n",
					soon(2).Format(time.DateOnly), soon(300).Format(time.DateOnly)))
				write(files, "pages/foire.md", "---\ntitle: Foire\nunpublish_at: "+soon(3).Format(time.RFC3339)+"\n---\nVenez.\n")
				write(files, "pages/salon.md", "---\ntitle: Salon\npublish_at: "+soon(4).Format(time.RFC3339)+"\n---\nVenez.\n")
				setTool(files, "outil-1.next", "price: 12 €/mois", "publish_at: "+soon(5).Format(time.RFC3339)+"\n")
			},
			func() {}, func() {}, func() {}, func() {}, func() {}, // days on which it comes
			func() { delete(files, "comparatifs/duel.md"); delete(files, "pages/methode.md") },
			func() {
				write(files, "catalogue.yaml", "name: Origine\nurl: https://autre.example\ncategories:\n  - slug: code\n    label: Code\n  - slug: image\n    label: Image\n")
			},
			func() {
				write(files, "catalogue.yaml", "name: Origine\nurl: https://autre.example\ndataset: head\ncategories:\n  - slug: code\n    label: Code\n")
			},
		} {
			change()
			o.publish(files)
			m.syncs(o)
		}
		if tool := shown(t, st.CatalogDB).Catalog.Tool("outil-0"); tool.Price != "11 €/mois" || len(tool.Announced) != 1 || len(tool.PriceHistory) != 1 {
			t.Errorf("an announced price became %+v", tool)
		}
		if p := shown(t, st.CatalogDB).Catalog.Proof("outil-6"); p == nil || p.Result != "gone" || p.ConfirmedAt == "" {
			t.Errorf("a mirror knows of a price that was seen only %+v", p)
		}
		retired := shown(t, st.CatalogDB).RetiredTool("outil-7")
		if retired.LastPrice != "8 €/mois" || len(retired.PriceHistory) != 2 || len(retired.ScoreHistory) != 1 || retired.Leaving == "" {
			t.Errorf("a mirror knows of a retired tool only %+v", retired)
		}
		if c := shown(t, st.CatalogDB).Catalog; len(c.Comparisons) != 0 || c.Tools[0].Body != "" || c.Settings.Dataset != "head" {
			t.Error("a mirror has more than its origin gives away")
		}
		for version := o.live.Load().Version; version > 1; version -= 4 { // versions that are undone
			u, err := o.store.Catalogue.Undo(t.Context(), version, false)
			if err == nil {
				_, err = o.store.Catalogue.Publish(t.Context(), u.Next, catalogdb.PublishOptions{Now: o.clock.Now, AllowRemovals: true, Undo: u})
			}
			if err != nil {
				t.Fatal(err)
			}
			o.load()
			m.syncs(o)
		}
	})
}

func TestWhatIsWrongWithAnOriginIsSaidAndNothingIsChanged(t *testing.T) {
	st := databases.OpenDSN(t, databases.SQLite(t))
	o := newOrigin(t)
	files := some(10)
	o.publish(files)
	m := follow(t, o, st)
	m.syncs(o)
	setTool(files, "outil-1", "price: 100 €/mois", "logo: images/neuf.png\n")
	files["images/neuf.png"] = &fstest.MapFile{Data: drawing(300, 33)}
	o.publish(files)

	at := func(path string, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.HasPrefix(r.URL.Path, path) {
				answer(w, r)
				return
			}
			next.ServeHTTP(w, r)
		}
	}
	status := func(code int, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"error":"Une phrase."}`))
		}
	}
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><p>Connectez-vous"))
	}
	changed := func(path string, change func([]byte) []byte) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			r.Header.Del("Accept-Encoding")
			if !strings.HasPrefix(r.URL.Path, path) {
				next.ServeHTTP(w, r)
				return
			}
			answer := &kept{header: w.Header()}
			next.ServeHTTP(answer, r)
			w.Header().Del("Content-Length")
			body := change(answer.body.Bytes())
			if body == nil { // cut off
				w.Header().Set("Content-Length", fmt.Sprint(answer.body.Len()))
				body = answer.body.Bytes()[:answer.body.Len()/2]
			}
			_, _ = w.Write(body)
		}
	}
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	cut := func([]byte) []byte { return nil }
	flip := func(b []byte) []byte {
		b[len(b)/2] ^= 1
		return b
	}
	elsewhere := status(302, "Location", "https://ailleurs.example/x?jeton=secret")
	for _, c := range []struct {
		name  string
		fault func(http.ResponseWriter, *http.Request, http.Handler)
		few   int64 // 0: the export is read
		says  string
	}{
		{"HTML instead of the manifest", at(manifestPath, html), 9, `with "text/html" instead of JSON`},
		{"HTML instead of the feed", at(changesPath, html), 9, `with "text/html" instead of JSON`},
		{"HTML instead of a file", at(manifestPath+"/", html), 0, "is damaged"},
		{"another JSON", at(manifestPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"name":"autre"}`))
		}), 9, "as a server of Palmarès does"},
		{"a redirect of the manifest", at(manifestPath, elsewhere), 9, `redirects /data/v1/export to "https://ailleurs.example/x"`},
		{"a redirect of a file", at(manifestPath+"/", elsewhere), 0, "a mirror follows no redirect"},
		{"a redirect of pictures", at("/media/", elsewhere), 9, "a mirror follows no redirect"},
		{"a key that is refused", at(manifestPath, status(401)), 9, "refuses the key in PALMARES_MIRROR_KEY"},
		{"no requests left", at(manifestPath, status(429, "Retry-After", "7200")), 9, "set PALMARES_MIRROR_KEY to a key"},
		{"no dataset", at(manifestPath, status(404)), 9, "has nothing to copy"},
		{"an error", at(manifestPath, status(500)), 9, "answered 500"},
		{"a manifest that is cut off", changed(manifestPath, cut), 9, "was cut off"},
		{"a page that is cut off", changed(changesPath, cut), 9, "was cut off"},
		{"a file that is cut off", changed(manifestPath+"/", cut), 0, "was cut off"},
		{"a picture that is cut off", changed("/media/", cut), 9, "was cut off"},
		{"a flipped bit in a file", changed(manifestPath+"/", flip), 0, "is damaged"},
		{"a flipped bit in a picture", changed("/media/", flip), 9, "the picture images/neuf.png"},
		{"another letter in a record", changed(changesPath, replace("Un outil.", "Un util..")), 9, "the outil outil-1 of " + o.url + " was changed on the way"},
		{"another hash of a record", changed(changesPath, replace(`"hash":"sha256-`, `"hash":"sha256-0`)), 9, "was changed on the way"},
		{"another state of the manifest", changed(manifestPath, replace(`"state":"sha256-`, `"state":"sha256-0`)), 9, "as a server of Palmarès does"},
		{"the state of another version", changed(manifestPath, replace(`"state":"`+o.live.Load().Feed.State, `"state":"sha256-`+strings.Repeat("0", 64))), 0, "is not of the version that it announces"},
		{"a shorter file than announced", changed(manifestPath, replace(`"bytes":`, `"bytes":1`)), 0, "another length"},
		{"a file elsewhere", changed(manifestPath, replace(`"path":"/data/v1/export/`, `"path":"/outils/`)), 0, "has no outils.ndjson.zst"},
		{"more changes than a page has", changed(changesPath, replace(`{"data":[`, `{"data":[`+strings.Repeat("{},", 5<<20))), 9, "more than 1000 changes"},
		{"a picture that is gone", at("/media/", status(404)), 9, "no longer has the picture"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.t, m.few = t, c.few-1
			o.breaks(c.fault)
			m.fails(c.says)
		})
	}
	m.t, m.few = t, 9
	o.breaks(nil)
	m.syncs(o)
	if m.log.Contains("secret") {
		t.Error(m.log)
	}
}

// A kept is an answer that is not sent yet.
type kept struct {
	header http.Header
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(int)             {}
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

func TestAnOriginCannotMakeAMirrorUseMoreMemoryThanItHas(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.SQLite(t))
	o.publish(some(6))
	m := follow(t, o, st)
	m.syncs(o)
	m.cfg.Memory, m.few = 64<<20, -1                                                                        // the export is read
	lines := bytes.Repeat([]byte(`{"slug":"outil-1","name":"`+strings.Repeat("a", 10_000)+`"}`+"\n"), 5000) // 50 MB
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := encoder.EncodeAll(lines, nil)
	manifest := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/outils.ndjson.zst") {
			_, _ = w.Write(bomb)
			return
		}
		answer := &kept{header: w.Header()}
		r.Header.Del("If-None-Match")
		next.ServeHTTP(answer, r)
		body := regexp.MustCompile(`"bytes":\d+`).ReplaceAll(answer.body.Bytes(), fmt.Appendf(nil, `"bytes":%d`, len(bomb)))
		w.Header().Del("Content-Length")
		_, _ = w.Write(body)
	}
	files := some(6)
	setTool(files, "outil-1", "price: 5 €/mois", "")
	o.publish(files)
	o.breaks(manifest)
	m.fails("the records of "+o.url+" need more memory than this server may use", "64 MiB", "nothing was changed")
	o.breaks(nil)
	m.syncs(o)
}

func TestARecordThatIsNotValidIsNamed(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.SQLite(t))
	files := some(6)
	o.publish(files)
	m := follow(t, o, st)
	m.syncs(o)
	broken := o.live.Load().Catalog
	broken.Tools[2].Domain, broken.Tools[2].Name = "pas un domaine", ""
	o.clock.Advance(time.Hour)
	if _, err := o.store.Catalogue.Publish(t.Context(), broken, catalogdb.PublishOptions{Now: o.clock.Now}); err != nil {
		t.Fatal(err) // what the store accepts, content does not
	}
	o.load()
	m.fails("the outil outil-2 of "+o.url+" is not valid here", "(and 1 more)")
	m.few = -1
	m.fails("the outil outil-2 of " + o.url + " is not valid here")
}

func TestAMirrorGoesNeitherBackNorElsewhereNorLosesMostUntilAReset(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		first, second := newOrigin(t), newOrigin(t)
		files := some(20)
		first.publish(files)
		setTool(files, "outil-1", "price: 7 €/mois", "")
		first.publish(files)
		m := follow(t, first, st)
		m.syncs(first)

		second.publish(files)
		other := follow(t, second, st)
		other.fails("has another database than the one that was copied", "palmares mirror reset")
		reset := func() {
			t.Helper()
			if err := st.Mirror.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		reset()
		m.syncs(first) // nothing unusual: the permission stays
		other.syncs(second)
		m.fails("has another database")

		past := second.live.Load()
		setTool(files, "outil-2", "price: 9 €/mois", "")
		second.publish(files)
		other.syncs(second)
		second.live.Store(past)
		other.fails("has gone back in time", "palmares mirror reset")
		reset()
		other.syncs(second)
		second.load()
		other.syncs(second)
		second.live.Store(past)
		other.fails("has gone back in time")
		second.load()

		for i := 5; i < 20; i++ {
			delete(files, fmt.Sprintf("outils/outil-%d.md", i))
		}
		second.publish(files)
		other.fails("has only 9 of the 24 records that are here", "palmares mirror reset")
		other.few = -1
		other.fails("has only 9 of the 24 records")
		reset()
		other.syncs(second)
	})
}

// A database that was restored from a backup, and published since, has the name and the
// positions of the one that was copied.
func TestAnOriginWithAnotherPastIsNotFollowedUntilAReset(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		o, restored := newOrigin(t), newOrigin(t)
		o.publish(some(5))
		m := follow(t, o, st)
		m.syncs(o)
		files := some(5)
		setTool(files, "outil-1", "price: 7 €/mois", "")
		restored.publish(files)
		setTool(files, "outil-2", "price: 9 €/mois", "")
		restored.publish(files)
		snap := restored.live.Load()
		feed := *snap.Feed
		feed.ID = o.live.Load().Feed.ID
		snap.SetFeed(&feed)
		o.live.Store(snap)
		m.fails("has another past than the one that was copied", "palmares mirror reset")
		if err := st.Mirror.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.syncs(o)
		if now, err := st.Mirror.Origin(t.Context()); err != nil || now.Permitted {
			t.Errorf("the permission stays: %+v, %v", now, err)
		}
	})
}

func TestAnOriginThatPublishesWhileItIsReadIsFollowedToItsEnd(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.SQLite(t))
	files := some(12)
	o.publish(files)
	m := follow(t, o, st)
	times := 0
	again := func(path string, n int) {
		times = n
		o.breaks(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.HasPrefix(r.URL.Path, path) && times > 0 {
				times--
				setTool(files, "outil-4", fmt.Sprintf("price: %d €/mois", times+200), "")
				files["images/logo.png"] = &fstest.MapFile{Data: drawing(16, byte(times)+100)}
				o.publish(files)
			}
			next.ServeHTTP(w, r)
		})
	}
	again(manifestPath+"/", 1) // the file is gone by then
	m.syncs(o)
	again(changesPath, 1)
	setTool(files, "outil-5", "price: 300 €/mois", "")
	o.publish(files)
	m.syncs(o)
	again("/media/", 2) // the picture is
	setTool(files, "outil-5", "price: 301 €/mois", "")
	files["images/logo.png"] = &fstest.MapFile{Data: drawing(16, 200)}
	o.publish(files)
	m.syncs(o)
	again("/media/", 9)
	files["images/logo.png"] = &fstest.MapFile{Data: drawing(16, 201)}
	o.publish(files)
	m.fails("no longer has the picture")
	o.breaks(nil)
	m.syncs(o)
}

// A large origin takes a minute for its export.
func TestFewChangesDoNotWaitForTheExport(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.SQLite(t))
	files := some(5)
	o.publish(files)
	m := follow(t, o, st)
	busy := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == manifestPath {
			w.Header().Set("Retry-After", "9")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	}
	o.breaks(busy)
	m.fails("asks to try again later")
	o.breaks(nil)
	m.syncs(o)
	o.breaks(busy)
	setTool(files, "outil-1", "price: 9 €/mois", "")
	o.publish(files)
	m.syncs(o)
	m.few = 0
	setTool(files, "outil-1", "price: 10 €/mois", "")
	o.publish(files)
	m.fails("is still making its export")
}

func TestOneOfSeveralNodesAsksTheOrigin(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.Postgres(t))
	o.publish(some(4))
	one, two := follow(t, o, st), follow(t, o, st)
	two.node = "two"
	clock := testkit.NewClock(monday.AddDate(1, 0, 0))
	one.cfg.Now, two.cfg.Now = clock.Now, clock.Now
	one.syncs(o)
	o.requests()
	two.syncs(o) // by the other one
	if got := o.requests(); len(got) > 0 {
		t.Errorf("the second node asked: %v", got)
	}
	clock.Advance(2 * time.Minute)
	if got := two.Age(); got != 120 {
		t.Errorf("the age is %v", got)
	}
	two.syncs(o) // the first one is gone
	if got := o.requests(); got[manifestPath] != 1 || two.Age() != 0 {
		t.Errorf("the second node took over: %v", got)
	}
	one.syncs(o)
	if got := o.requests(); len(got) > 0 || one.Age() != 0 {
		t.Errorf("the first node asked again: %v", got)
	}
}

func TestWhatIsWrongIsLoggedOnceAndSoIsItsEnd(t *testing.T) {
	o, st := newOrigin(t), databases.OpenDSN(t, databases.SQLite(t))
	o.publish(some(4))
	m := follow(t, o, st)
	key := account.NewKey(rand.Reader)
	m.client.key, m.cfg.Interval = key, time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	copied := func(n int) {
		t.Helper()
		testkit.Until(t, "a copy", func() bool { return m.log.Count("copied what the origin has published") == n })
	}
	copied(1)
	for round := range 2 {
		o.breaks(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
		o.requests()
		asked := 0
		testkit.Until(t, "some attempts", func() bool { asked += o.requests()[manifestPath]; return asked > 5 })
		o.breaks(nil)
		files := some(5 + round)
		o.publish(files)
		copied(2 + round)
		testkit.Until(t, "the end of the failure", func() bool { return m.log.Count("follows its origin again") == round+1 })
		if n := m.log.Count("cannot follow its origin"); n != round+1 {
			t.Errorf("%d sentences: %s", n, m.log)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	m.equals(o)
	if o.lastKey() != "Bearer "+key || m.log.Contains(key) {
		t.Errorf("the key was not sent, or logged: %s", m.log)
	}
}

func TestAnOriginIsAskedLessOftenWhileItFails(t *testing.T) {
	f := &Follower{cfg: Config{Interval: time.Minute}}
	last := time.Duration(0)
	for i, about := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300, 300} {
		got := f.delay(i, http.ErrAbortHandler)
		if about *= time.Second; got < about*3/4 || got > about*5/4 {
			t.Errorf("after %d failures: %s", i, got)
		}
		last = got
	}
	if got := f.delay(0, &peer.Error{Retry: time.Hour}); got != time.Hour {
		t.Errorf("an hour was asked for: %s after %s", got, last)
	}
}

func TestOnlySafeOriginsAndKeysAreAccepted(t *testing.T) {
	for origin, says := range map[string]string{
		"http://origine.example": "use https://", "https://origine.example": "", "http://localhost:8080": "", "http://127.0.0.1:1": "", "http://[::1]:1": "", "ftp://origine.example": "use https://",
	} {
		if _, err := NewClient(origin, ""); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", origin, err)
		}
	}
	if _, err := NewClient("https://origine.example", "plm_secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestAMirrorWithoutAKeyRationsItsRequests(t *testing.T) {
	now := monday.Truncate(time.Second)
	reset := now.Add(10 * time.Hour)
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "51"}, 0},
		{map[string]string{"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "50"}, 12 * time.Minute},
		{map[string]string{"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "0"}, 10 * time.Hour},
		{map[string]string{"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "viele"}, 0},
	} {
		h := http.Header{}
		for name, value := range c.header {
			h.Set(name, value)
		}
		h.Set("X-RateLimit-Reset", reset.Format(time.RFC3339))
		if got := allowanceOf(h).pause(now); got != c.want {
			t.Errorf("%v: %s, not %s", c.header, got, c.want)
		}
	}
}
