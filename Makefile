# Palmarès: `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Without the paths of the source files in them, the results of builds and checks in one
# clone serve in any other.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

BEGIN := $(shell date +%s)
# What is built; the version is in the source.
COMMIT := $(shell git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null || echo unknown)

# The race detector watches everything except code that only computes, which it makes
# ten times as slow: SQLite itself, which was translated from C, pictures, compression and
# the Markdown parser.
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc palmares/internal/picture image/... compress/flate \
	github.com/klauspost/compress/... github.com/andybalholm/brotli github.com/yuin/goldmark/...
# make test has it for what every request shares and what needs neither SQLite nor Stripe, whose
# second build would take as long as all of these tests; make race has it for everything.
RACED := $(addprefix internal/,web lane quota keyring cache snapshot)
RACE := -race $(foreach p,$(UNWATCHED),-gcflags='$(p)=-race=false -d=checkptr=0')

TEST := go test -vet=off -json -count=1 -timeout 60m
LONGEST := cmd/palmares internal/browser

# Tests write into memory where it has room and may hold programs: nothing that they write outlives them,
# and databases on a disk would take half of their time. They collect garbage less often.
IN_MEMORY = room=$$(df --output=avail /dev/shm 2>/dev/null | tail -1) || true; \
	if [ "$${room:-0}" -gt 4000000 ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts; then \
		export TMPDIR=$$(mktemp -d /dev/shm/palmares-XXXXXX); chmod 711 "$$TMPDIR"; trap 'rm -rf "$$TMPDIR"' EXIT; \
	fi; export GOGC=400

# A stamp is an empty file that says when something slow was last done with success.
STAMPS := bin/stamps

.PHONY: help build run check test race quick interop bench chaos fuzz release release-check packages parts

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/palmares
	@go build -buildvcs=false -ldflags "-X main.commit=$(COMMIT)" -o bin/palmares ./cmd/palmares

run: build ## build, then serve the demo on http://localhost:8080
	@bin/palmares serve

check: packages $(STAMPS)/modules ## format, vet, lint, API documents: everything except tests
	@# Most of what npm and its linters take is waiting: they run beside the rest.
	@$(MAKE) -s $(STAMPS)/openapi parts & beside=$$!; \
	go build -C tools/lint -o $(CURDIR)/bin/lint .; \
	unformatted=$$(go tool -modfile=tools/lint/go.mod gofumpt -l cmd internal demo bench tools); \
	if [ -n "$$unformatted" ]; then echo "not gofumpt-formatted: $$unformatted" >&2; exit 1; fi; \
	for module in . bench; do \
		(cd $$module && go mod tidy -diff && go vet -vettool=$(CURDIR)/bin/lint ./...); \
	done; \
	wait $$beside

test: check ## everything: check, then all tests on both databases and in a browser, with -race for what requests share
	@# Three runs at once: the two longest packages mostly wait, and the others use what they leave. Vet has
	@# seen the packages before.
	@$(IN_MEMORY); { failed=0; \
		$(TEST) -p 2 -parallel 4 $(LONGEST:%=./%) >bin/longest.json & longest=$$!; \
		$(TEST) $(RACE) $(RACED:%=./%) >bin/race.json & raced=$$!; \
		$(TEST) $$(go list ./... | grep -vx $(foreach p,$(LONGEST) $(RACED),-e palmares/$(p))) || failed=1; \
		wait $$raced || failed=1; wait $$longest || failed=1; \
		cat bin/race.json bin/longest.json; exit $$failed; } | bin/testreport -since $(BEGIN)

race: parts ## all tests with -race
	@$(IN_MEMORY); $(TEST) -p $$(($$(nproc) + 1)) $(RACE) ./internal/browser ./internal/accountdb ./internal/catalogdb ./cmd/... ./... | bin/testreport -since $(BEGIN)

quick: parts ## the tests on SQLite only, without browser and race detector: no substitute for make test
	@export PALMARES_TEST=quick; { go test -json -run '^TestCommandLine$$' ./cmd/palmares; \
		go test -json $$(go list ./... | grep -v -e /internal/browser -e /cmd/palmares); } | bin/testreport -allow-skips -since $(BEGIN)
	@echo "LEFT OUT: PostgreSQL, the browser, servers as processes, the race detector, format and lint. make test has them all."

interop: build ## third parties read the export, the feeds and the calendar, generate clients, and use /mcp: Python, feedparser, DuckDB, ajv, ical.js, html-validate, Go, TypeScript, MCP
	@tools/npm interop
	@tools/interop/run

bench: build ## the speed and size figures, against a bare handler in the same run
	@bench/run

chaos: build ## the trials of docs/reliability.md, or TRIAL=name; SMALL=1 only tries them
	@bench/trials $(if $(SMALL),--small) $(TRIAL)

fuzz: ## every fuzz target, for FUZZTIME (5m) each
	@tools/fuzz

release: ## archives, packages and an image of VERSION in dist/, with checksums; PLATFORMS=linux/amd64,… for fewer systems
	@cd tools/release && go vet ./... && go test ./...
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} go run -C tools/release . -root $(CURDIR) \
		-out $(CURDIR)/dist -commit $(COMMIT) $(VERSION:%=-version %) $(PLATFORMS:%=-platforms %)
	@cd dist && sha256sum palmares_* >SHA256SUMS && cat SHA256SUMS

release-check: ## make release twice, in two clones of HEAD, and compare: the same bytes
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	git clone --quiet . "$$dir/one" && $(MAKE) -s -C "$$dir/one" release; \
	git clone --quiet . "$$dir/another" && (umask 077; TZ=Asia/Tokyo $(MAKE) -s -C "$$dir/another" release >/dev/null); \
	diff "$$dir/one/dist/SHA256SUMS" "$$dir/another/dist/SHA256SUMS" && echo "Both have the same bytes."

packages:
	@tools/packages

# What the tests use beside Go.
parts:
	@tools/npm webhooks
	@tools/npm schema
	@tools/npm browser
	@go build -o bin/testreport ./tools/testreport

$(STAMPS)/modules: go.mod go.sum
	@go mod verify >/dev/null
	@mkdir -p $(@D) && touch $@

$(STAMPS)/openapi: $(wildcard internal/*/openapi.json) internal/openapi/components.json $(wildcard tools/openapi/*.*) | packages
	@tools/npm openapi
	@tools/openapi/lint.sh
	@mkdir -p $(@D) && touch $@
