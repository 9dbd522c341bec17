package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"palmares/internal/testkit"
)

func deployed(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// kubectl apply is repeated at every upgrade.
func TestApplyingTheKubernetesFileReplacesNoSecretAndPublishesNothing(t *testing.T) {
	var kinds []string
	for decoder := yaml.NewDecoder(strings.NewReader(string(deployed(t, "kubernetes.yaml")))); ; {
		var object struct{ Kind string }
		if err := decoder.Decode(&object); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind)
	}
	if want := []string{"Deployment", "Service", "PodDisruptionBudget"}; !slices.Equal(kinds, want) {
		t.Errorf("kubernetes.yaml has %q; want %q", kinds, want)
	}
	var job struct {
		Kind     string
		Metadata struct {
			Name         string
			GenerateName string `yaml:"generateName"`
		}
	}
	if err := yaml.Unmarshal(deployed(t, "kubernetes-publish.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	if job.Kind != "Job" || job.Metadata.Name != "" || job.Metadata.GenerateName == "" {
		t.Errorf("kubernetes-publish.yaml: %+v; want a Job that kubectl apply refuses, because it has no name", job)
	}
}

type alertRules struct {
	Groups []struct {
		Rules []struct{ Alert, Expr string }
	}
}

type dashboard struct {
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

// queries returns what Prometheus is asked by the files in deploy/, by alert or panel.
func queries(t *testing.T) map[string]string {
	t.Helper()
	var rules alertRules
	if err := yaml.Unmarshal(deployed(t, "alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			found[rule.Alert] = rule.Expr
		}
	}
	var board dashboard
	if err := json.Unmarshal(deployed(t, "grafana.json"), &board); err != nil {
		t.Fatal(err)
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			found[panel.Title+"\x00"+target.Expr] = target.Expr
		}
	}
	return found
}

var (
	metricName    = regexp.MustCompile(`\b(palmares|process|go|up)(_[a-z_]+)?\b`)
	exposedSeries = regexp.MustCompile(`(?m)^([a-z_]+)(\{.*\})? `)
	labelName     = regexp.MustCompile(`[{,]\s*([a-z]+)[=!]`)
	groupedBy     = regexp.MustCompile(`\bby \(([a-z, ]+)\)`)
)

// A query for a metric or a label that no server has is silent forever.
func TestAlertsAndPanelsAskForWhatAServerExposes(t *testing.T) {
	t.Parallel()
	ops, secureOps := freeAddress(t), freeAddress(t)
	s := serveProcess(t, "--database", databases.SQLite(t), "--ops-listen", ops, "--desk", t.TempDir())
	s.get("/api/v1/stats")
	if resp, err := client.Post(s.url+"/compte", "application/x-www-form-urlencoded", strings.NewReader("email=ada@example.org")); err != nil || resp.Body.Close() != nil || resp.StatusCode >= 400 {
		t.Fatalf("a mail that is counted: %v, %v", resp, err)
	}
	call, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "code"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	call.Header.Set("Content-Type", "application/json")
	call.Header.Set("Accept", "application/json, text/event-stream")
	if resp, err := client.Do(call); err != nil || resp.Body.Close() != nil || resp.StatusCode >= 400 {
		t.Fatalf("a call of an assistant: %v, %v", resp, err)
	}
	var scraped string
	(&process{t: t, url: "http://" + ops, log: s.log}).until("/metrics", func(_ *http.Response, body string) bool {
		scraped = body
		return strings.Contains(body, "\npalmares_mails_total{")
	})
	// A server with HTTPS has its metric before its first certificate.
	secure := startProcess(t, "patient", "--database", databases.Postgres(t), "--ops-listen", secureOps,
		"--domain", "catalogue.example", "--listen-http", "localhost:0", "--acme-directory", "https://"+freeAddress(t)+"/dir")
	testkit.Until(t, "the server with HTTPS", func() bool { return secure.log.Contains("Palmarès serves") })
	_, ofSecure := (&process{t: t, url: "http://" + secureOps, log: secure.log}).get("/metrics")
	scraped += ofSecure
	names := map[string]bool{"up": true}
	labels := map[string]bool{"job": true, "instance": true} // from the scrape configuration
	for _, series := range exposedSeries.FindAllStringSubmatch(scraped, -1) {
		names[series[1]] = true
		for _, label := range labelName.FindAllStringSubmatch(series[2], -1) {
			labels[label[1]] = true
		}
	}
	shown := map[string]bool{}
	for of, query := range queries(t) {
		of, _, isPanel := strings.Cut(of, "\x00")
		outside := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(query, `""`)
		asked := metricName.FindAllString(outside, -1)
		if len(asked) == 0 {
			t.Errorf("%s asks for no metric: %s", of, query)
		}
		for _, name := range asked {
			shown[name] = shown[name] || isPanel
			if !names[name] {
				t.Errorf("%s asks for %s, which no server exposes", of, name)
			}
		}
		used := labelName.FindAllStringSubmatch(outside, -1)
		for _, by := range groupedBy.FindAllStringSubmatch(outside, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				used = append(used, []string{"", label})
			}
		}
		for _, label := range used {
			if !labels[label[1]] {
				t.Errorf("%s uses the label %s, which no metric has", of, label[1])
			}
		}
	}
	for name := range names {
		isPart := strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_count") // of a histogram
		if strings.HasPrefix(name, "palmares_") && !isPart && !shown[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func TestTheAlertsFireWhenTheyShould(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", "../../deploy/alerts_test.yaml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The rules ask for one job: that is how it must be scraped.
func TestTheScrapeConfigurationsGiveTheJobThatAlertsAskFor(t *testing.T) {
	job := regexp.MustCompile(`job="([^"]*)"`)
	for of, query := range queries(t) {
		for _, found := range job.FindAllStringSubmatch(query, -1) {
			if found[1] != "palmares" {
				t.Errorf("%s asks for the job %q", of, found[1])
			}
		}
	}
	for _, name := range []string{"prometheus.yml", "prometheus-kubernetes.yml"} {
		var config struct {
			Rules []string `yaml:"rule_files"`
			Jobs  []struct {
				Name string `yaml:"job_name"`
			} `yaml:"scrape_configs"`
		}
		if err := yaml.Unmarshal(deployed(t, name), &config); err != nil {
			t.Fatal(err)
		}
		if len(config.Jobs) != 1 || config.Jobs[0].Name != "palmares" || !slices.Equal(config.Rules, []string{"alerts.yaml"}) {
			t.Errorf("%s: %+v; want the job palmares and alerts.yaml", name, config)
		}
	}
}

func TestEveryAlertHasATest(t *testing.T) {
	tests := string(deployed(t, "alerts_test.yaml"))
	for of := range queries(t) {
		if strings.HasPrefix(of, "Palmares") && !strings.Contains(tests, `alertname="`+of+`"`) {
			t.Errorf("no test in alerts_test.yaml expects %s to fire", of)
		}
	}
}

func TestWhatReadsThePagesOfStrangersIsAsConfinedAsTheServerAndSeesNoSecret(t *testing.T) {
	server, sources := string(deployed(t, "palmares.service")), strings.Split(string(deployed(t, "palmares-sources.service")), "\n")
	protection := regexp.MustCompile(`(?m)^(MemoryMax|NoNew|Protect|Private|Remove|Restrict|Lock|MemoryDeny|SystemCall).*`)
	wanted := append(protection.FindAllString(server, -1), "CapabilityBoundingSet=", "ProtectHome=read-only",
		"InaccessiblePaths=-/var/lib/palmares -/var/backups/palmares -/etc/palmares")
	for _, line := range wanted {
		if line != "ProtectHome=yes" && !slices.Contains(sources, line) { // folders are there
			t.Errorf("palmares-sources.service has no %s", line)
		}
	}
}

func TestOperatorsAreToldOfEveryFile(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join("..", "..", "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		hidden := strings.HasPrefix(file.Name(), ".") || strings.HasPrefix(file.Name(), "Dockerfile.")
		if !hidden && !strings.Contains(string(page), "](../deploy/"+file.Name()+")") {
			t.Errorf("docs/operating.md has no link to deploy/%s", file.Name())
		}
	}
}
