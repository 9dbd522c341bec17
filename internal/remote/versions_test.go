package remote

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/testkit"
	"palmares/internal/testkit/testdb"
)

func TestVersionsAreListedAndUndoneFromElsewhere(t *testing.T) {
	databases.Each(t, func(t *testing.T, st *testdb.DB) {
		n := serve(t, st)
		for _, tagline := range []string{"Coupe.", "Coupé."} {
			if _, err := n.publish(folder(t, "outils/scie.md", tool(tagline), "pages/salon.md", "---\ntitle: Salon\npublish_at: 2099-01-04T09:00\n---\nVenez.\n"), nil, func(j *publication.Job) {
				j.Source = catalogdb.Source{Revision: "0123abc", Author: "Ada", Clean: true}
			}); err != nil {
				t.Fatal(err)
			}
		}
		client, err := NewClient(n.url, n.token)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		revert := func(undo publication.Undo) (string, error) {
			shown := &sink{}
			undo.Sink = shown
			err := client.Revert(t.Context(), &undo)
			return shown.report, err
		}
		if text, err := revert(publication.Undo{Version: 2, DryRun: true}); err != nil || !strings.Contains(text, "would publish version 3, which undoes version 2") {
			t.Errorf("%v:\n%s", err, text)
		}
		n.publishes(2)
		text, err := revert(publication.Undo{Version: 2})
		if err != nil || !strings.Contains(text, "changed   outils/scie: tagline Coupé. → Coupe.\npublished version 3, which undoes version 2: 1 changed") ||
			!strings.Contains(text, "revert the commit 0123abc as well") {
			t.Errorf("%v:\n%s", err, text)
		}
		n.publishes(3)
		if text, err := revert(publication.Undo{Version: 2, Force: true}); err != nil || !strings.Contains(text, "nothing changed: version 3 stands") {
			t.Errorf("%v:\n%s", err, text)
		}
		if _, err := revert(publication.Undo{Version: 9}); err == nil || err.Error() != "there is no version 9: see `palmares log`" {
			t.Error(err)
		}
		here, err := st.Catalogue.Versions(t.Context(), 2)
		if err != nil || here[0].Undoes != 2 || here[0].Token != "ci" {
			t.Fatalf("%+v, %v", here, err)
		}
		there, err := client.Versions(t.Context(), 2)
		if diff := cmp.Diff(here, there); err != nil || diff != "" {
			t.Errorf("versions (-here +there): %v\n%s", err, diff)
		}
		planned, err := client.Planned(t.Context())
		if want := (catalog.Planned{Due: "2099-01-04T08:00:00Z", Name: "pages/salon", What: "published"}); err != nil || len(planned) != 1 || planned[0] != want {
			t.Errorf("planned: %+v, %v", planned, err)
		}
		for _, log := range []publication.Log{{}, {Language: problem.French}, {JSON: true}} {
			log.Version = 3
			var here, there bytes.Buffer
			if err := log.Write(t.Context(), st.Catalogue, &here); err != nil {
				t.Fatal(err)
			}
			if err := client.WriteChanges(t.Context(), &there, log); err != nil || here.Len() == 0 || there.String() != here.String() {
				t.Errorf("%v: %s; want %s", err, &there, &here)
			}
		}
		err = client.WriteChanges(t.Context(), &bytes.Buffer{}, publication.Log{Version: 9})
		if err == nil || !strings.HasSuffix(err.Error(), "there is no version 9") {
			t.Error(err)
		}
		for path, code := range map[string]string{
			"GET " + versionsPath + "?limit=0": "limit", "GET " + versionsPath + "?limit=x": "limit", "GET " + versionsPath + "/x": "version",
			"GET " + versionsPath + "/1?format=xml": "format", "GET " + versionsPath + "/1?lang=de": "lang",
			"POST " + revertPath: "version", "POST " + revertPath + "?version=2&force=1": "force",
		} {
			method, path, _ := strings.Cut(path, " ")
			testkit.Send(t, testkit.NewRequest(t, method, n.url+path, "", "Authorization: Bearer "+n.token)).Fails(400, "invalid_parameter", "the parameter "+code)
		}
		testkit.Send(t, testkit.NewRequest(t, http.MethodPost, n.url+revertPath+"?version=2", "")).Fails(401, "missing_token", "")
		n.publishes(3)
	})
}
