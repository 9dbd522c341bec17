package publication_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalogdb"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestMain(m *testing.M) { os.Exit(testkit.Run(m)) }

var databases = testkit.Migrated[*testdb.DB]{Open: testdb.Open}

var sunday = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

const catalogueYAML = "name: Essai\nurl: https://essai.example\ncategories:\n  - slug: code\n    label: Code\n"

// tool is a file of outils/.
func tool(name, tagline string) string {
	return fmt.Sprintf("---\nname: %s\ndomain: %s.example\ncategory: code\npricing: payant\nprice: 1 €/mois\ntagline: %s\nupdated_at: 2026-11-01\n---\n", name, strings.ToLower(name), tagline)
}

// A recorder is a Sink that keeps what it is given, except for progress.
type recorder struct {
	findings []publication.Finding
	report   string
	stages   map[string]bool
}

func (r *recorder) Progress(stage string, _, _ int) { r.stages[stage] = true }

func (r *recorder) Findings(all []publication.Finding) error {
	r.findings = append(r.findings, all...)
	return nil
}

func (r *recorder) Report(lines ...problem.Text) error {
	for _, line := range lines {
		r.report += line.English + "\n"
	}
	return nil
}

// run publishes files, given as names and texts in turn.
func run(t *testing.T, st *testdb.DB, change func(*publication.Job), files ...string) (*recorder, int64, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	sink := &recorder{stages: map[string]bool{}}
	job := &publication.Job{Dir: dir, Name: "catalogue", Now: func() time.Time { return sunday }, Sink: sink}
	if change != nil {
		change(job)
	}
	read, err := job.Read(t.Context())
	if err != nil {
		return sink, 0, err
	}
	version, err := job.Publish(t.Context(), st.Catalogue, read)
	return sink, version, errors.Join(err, read.Close())
}

// refused fails the test unless err is a RefusedError with that text.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[*publication.RefusedError](err); !ok || err.Error() != want {
		t.Errorf("error: %v; want %s", err, want)
	}
}

func TestAPublicationReportsWhatItChanged(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		sink, version, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Coupe."))
		want := "added     outils/scie\npublished version 1: 1 added; now 1 tool, 0 comparisons, 0 retired tools, 1 category\n"
		if err != nil || version != 1 || sink.report != want || !sink.stages["reading"] || !sink.stages["events"] {
			t.Errorf("version %d, %v, stages %v, report:\n%s", version, err, sink.stages, sink.report)
		}
		sink, version, err = run(t, st, func(j *publication.Job) { j.DryRun = true }, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Scie."))
		want = "changed   outils/scie: tagline Coupe. → Scie.\nwould publish version 2: 1 changed; now 1 tool, 0 comparisons, 0 retired tools, 1 category\n"
		if err != nil || version != 2 || sink.report != want {
			t.Errorf("version %d, %v, report:\n%s", version, err, sink.report)
		}
		if head, err := st.Catalogue.Head(t.Context()); err != nil || head.Version != 1 {
			t.Errorf("after a dry run version %d is published, %v", head.Version, err)
		}
		long := strings.Repeat("Pour la coupe de précision, ", 4)
		for _, end := range []string{"au laser", "à l’eau"} {
			sink, _, err = run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", long+end))
		}
		if err != nil || !strings.Contains(sink.report, "au laser → ") || !strings.Contains(sink.report, "à l’eau\n") {
			t.Errorf("%v, report:\n%s", err, sink.report)
		}
	})
}

func TestAPriceThatChangedAfterItWasCheckedIsToldAsEditorsWriteIt(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		priced := func(price string) string {
			return strings.Replace(tool("Scie", "Coupe."), "price: 1 €/mois", "price_checked_at: 2026-11-10\nprice: "+price, 1)
		}
		for _, test := range []struct{ price, told string }{
			{"sur devis", "added"},
			{"45 €/mois", "price sur devis → 45 €/mois"},
			{"sur devis", "price 45 €/mois → sur devis"},
			{"0 €/mois\npricing: gratuit", "pricing payant → gratuit, price sur devis → 0 €/mois"},
			{"sur devis", "price 0 €/mois → sur devis"},
		} {
			file := priced(test.price)
			if strings.Contains(test.price, "pricing") {
				file = strings.Replace(file, "pricing: payant\n", "", 1)
			}
			sink, _, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", file)
			if err != nil || !strings.Contains(sink.report, test.told) {
				t.Errorf("%v; the report lacks %q:\n%s", err, test.told, sink.report)
			}
			isWarned := slices.ContainsFunc(sink.findings, func(f publication.Finding) bool {
				return f.Line == 6 && strings.Contains(f.Message.English, "price_checked_at is 2026-11-10, older than the price, which is that of 2026-11-15")
			})
			if isWarned != strings.HasPrefix(test.told, "price sur devis") {
				t.Errorf("%s: %+v", test.told, sink.findings)
			}
		}
	})
}

func TestReportAndLogTellWhatBecameOfEachRecord(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		tested := func(name string) string {
			return strings.Replace(tool(name, "Lisse."), "---\n", "---\nscore: 8\nverifiability: 7\ntested_at: 2026-11-01\n", 1)
		}
		versus := func(a, note string) string {
			return "---\ntitle: Deux outils\ntool_a: " + a + "\ntool_b: rabot\nwinner: rabot\nwinner_note: " + note + "\nupdated_at: 2026-11-01\n---\nLisse.\n"
		}
		if sink, _, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/rabot.md", tested("Rabot"),
			"outils/varlope.md", tested("Varlope"), "comparatifs/duel.md", versus("varlope", "Plus court.")); err != nil {
			t.Fatal(err, sink.findings)
		}
		changes := strings.NewReplacer("score: 8", "aliases: [varlope]\nscore: 7.5", "1 €/mois", "2 €/mois")
		const hidden = "tool_b: grande-varlope\npublished: false"
		sink, _, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/rabot.md", tested("Rabot"),
			"outils/grande-varlope.md", changes.Replace(tested("Varlope")),
			"comparatifs/duel.md", versus("grande-varlope", "Plus léger."),
			"comparatifs/plus-tard.md", strings.Replace(versus("rabot", "Non."), "tool_b: rabot", hidden, 1),
			"pages/aide.md", "---\ntitle: Aide\n---\nVoici.\n")
		records := "changed   outils/grande-varlope: slug varlope → grande-varlope, price 1 €/mois → 2 €/mois, " +
			"score 8 → 7.5, aliases nothing → varlope\nadded     comparatifs/plus-tard (draft)\n" +
			"changed   comparatifs/duel: tool_a varlope → grande-varlope, winner_note Plus court. → Plus léger.\n" +
			"added     pages/aide\n"
		if err != nil || !strings.HasPrefix(sink.report, records+"published version 2: 2 added, 2 changed; now ") {
			t.Errorf("%v; the report is\n%s", err, sink.report)
		}
		for log, want := range map[publication.Log]string{
			{Language: problem.English}: "Varlope: 1 → 2~€/month\nVarlope: score 8 → 7.5\n" +
				"Comparison rewritten: Deux outils\nPage published: Aide\n" + records,
			{Language: problem.French}: "Varlope~: 1 → 2~€/mois\nVarlope~: note 8,0 → 7,5\n" +
				"Comparatif réécrit~: Deux outils\nPage publiée~: Aide\nmodifié   outils/grande-varlope: slug varlope → ",
			{JSON: true, Language: problem.French}: `{"id":"outil/varlope/price/2026-11-15","what":"price","kind":"outil",` +
				`"slug":"grande-varlope","day":"2026-11-15","title":"Varlope~: 1 → 2~€/mois",` +
				`"old":"1 €/mois","new":"2 €/mois"}` + "\n",
		} {
			var got strings.Builder
			log.Version = 2
			err := log.Write(t.Context(), st.Catalogue, &got)
			isBegun := strings.HasPrefix(got.String(), strings.ReplaceAll(want, "~", "\u00a0"))
			isWhole := !log.JSON || strings.HasSuffix(got.String(), `{"record":"pages/aide","change":"added"}`+"\n")
			if err != nil || !isBegun || !isWhole {
				t.Errorf("%v; the log is\n%s", err, &got)
			}
		}
	})
}

func TestWhatKeepsAFolderFromBeingPublishedIsShown(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		sink, _, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Coupe.")+"# Un titre\n")
		refused(t, err, "1 problem in catalogue: fix it and run the command again")
		if len(sink.findings) != 1 || sink.findings[0].Severity != "error" || sink.findings[0].File != "outils/scie.md" || sink.findings[0].Line != 10 {
			t.Errorf("findings: %+v", sink.findings)
		}
		if _, _, err := run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Coupe.")); err != nil {
			t.Fatal(err)
		}

		// The date of a record that changed is known to be old once it is compared.
		changed := []string{"catalogue.yaml", catalogueYAML, "outils/scie.md", tool("Scie", "Scie.")}
		sink, _, err = run(t, st, func(j *publication.Job) { j.Strict = true }, changed...)
		refused(t, err, "1 warning in catalogue: fix it, or run the command without --strict")
		if len(sink.findings) != 1 || sink.findings[0].Severity != "warning" {
			t.Errorf("findings: %+v", sink.findings)
		}

		_, _, err = run(t, st, nil, "catalogue.yaml", catalogueYAML, "outils/plume.md", tool("Plume", "Écrit."))
		refused(t, err, "1 published tool is missing: scie; add an entry in cimetiere/ for each, name it as an alias of the tool it became, or pass --allow-removals")

		stale := errors.New("stale")
		_, _, err = run(t, st, func(j *publication.Job) { j.Guard = func(catalogdb.Head) error { return stale } }, changed...)
		if !errors.Is(err, stale) {
			t.Errorf("error: %v; want that of the guard", err)
		}
		if head, err := st.Catalogue.Head(t.Context()); err != nil || cmp.Diff(catalogdb.Head{Version: 1, Since: 1}, head) != "" {
			t.Errorf("%+v is published, %v", head, err)
		}
	})
}
