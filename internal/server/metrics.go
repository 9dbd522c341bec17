package server

import (
	"io"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"palmares/internal/assistant"
	"palmares/internal/clientip"
	"palmares/internal/snapshot"
)

// Metrics are the Prometheus metrics of a server.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration prometheus.Histogram
	calls    *prometheus.CounterVec
}

// NewMetrics returns the metrics of requests and of the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palmares_http_requests_total",
			Help: "Requests served, by route and status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "palmares_http_request_duration_seconds",
			Help:    "Time from the first byte of a handler to its last, except under /publish/.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}),
		calls: assistant.NewCalls(),
	}
	m.registry.MustRegister(
		m.requests, m.duration, m.calls,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Register adds other collectors.
func (m *Metrics) Register(others ...prometheus.Collector) { m.registry.MustRegister(others...) }

// Gauge adds a gauge that calls value each time it is scraped.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// Flag adds a gauge that is 1 or 0.
func (m *Metrics) Flag(name, help string, isSet func() bool) {
	m.Gauge(name, help, func() float64 {
		if isSet() {
			return 1
		}
		return 0
	})
}

// Build adds what this program is: the version of palmares and that of Go.
func (m *Metrics) Build(version string) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "palmares_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 }))
}

// Log adds the counter of dropped log records.
func (m *Metrics) Log(l *LogBuffer) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "palmares_log_records_dropped_total", Help: "Log records that could not be written in time.",
	}, func() float64 { return float64(l.Dropped()) }))
}

// Connections adds the gauges of the connections to the public listener.
func (m *Metrics) Connections(c *Connections) {
	m.Gauge("palmares_connections", "Open connections to the public listener.",
		func() float64 { return float64(c.Open()) })
	m.Gauge("palmares_connections_limit", "How many connections to the public listener may be open.",
		func() float64 { return float64(c.Limit()) })
}

// Catalogue adds the gauges of the catalogue that is served.
func (m *Metrics) Catalogue(live *snapshot.Live) {
	m.Gauge("palmares_catalogue_version", "Version of the catalogue being served; 0 is the demo, or nothing.",
		func() float64 { return float64(live.Snapshot().Version) })
	m.Gauge("palmares_catalogue_tools", "Active tools in the catalogue being served.",
		func() float64 { return float64(len(live.Snapshot().Catalog.Tools)) })
}

// observe counts one request. It is labelled with the pattern of its route, not its path,
// so that clients cannot create new series.
func (m *Metrics) observe(pattern string, status int, took time.Duration) {
	if pattern == "" || pattern == "/" {
		pattern = "other"
	}
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	if !strings.HasPrefix(pattern, "/publish/") { // a folder may take an hour to arrive
		m.duration.Observe(took.Seconds())
	}
}

// Ops returns the handler of the operator's listener: metrics, profiles, health and, at /, which
// release of the program this is. For ready see Config. It is for requests to an address, to a name
// without a dot or to that name.
func Ops(m *Metrics, ready func() bool, name, release string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "palmares "+release+"\n")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/healthz", serveHealth)
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) { serveReady(w, r, ready()) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !clientip.IsPrivateName(r.Host, name) {
			http.Error(w, "this is for requests to an IP address, to a name without a dot or to the name in --ops-listen",
				http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
