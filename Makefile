# Palmarès: `make help` lists what can be made.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

LINT := go tool -modfile=tools/lint/go.mod
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help build run check test bench chaos packages

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/palmares
	@go build -trimpath -buildvcs=auto -ldflags "-X main.version=$(VERSION)" -o bin/palmares ./cmd/palmares

run: build ## build, then serve the demo on http://localhost:8080
	@bin/palmares serve

check: packages ## format, vet, lint, API document: everything that runs nothing
	@unformatted=$$($(LINT) gofumpt -l cmd internal demo bench tools); \
	if [ -n "$$unformatted" ]; then echo "not gofumpt-formatted: $$unformatted" >&2; exit 1; fi
	@go mod verify >/dev/null
	@go mod tidy -diff
	@go vet ./...
	@$(LINT) staticcheck ./...
	@[ -d tools/openapi/node_modules ] || npm ci --prefix tools/openapi --no-audit --no-fund --loglevel=error
	@tools/openapi/lint.sh

test: check ## everything: check, then all tests on both databases with -race
	@[ -d tools/webhooks/node_modules ] || npm ci --prefix tools/webhooks --no-audit --no-fund --loglevel=error
	@[ -d tools/browser/node_modules ] || npm ci --prefix tools/browser --no-audit --no-fund --loglevel=error
	@# The longest first, so that none of them runs alone at the end.
	@go test -race -count=1 -timeout 9m ./internal/browser ./internal/store ./cmd/... ./internal/accountsite ./internal/site ./...

bench: build ## the speed and size figures, against a bare handler in the same run
	@bench/run

chaos: build ## kill and cut what can be killed and cut, for minutes, and see what callers notice
	@go run ./bench/chaos
	@go test -race -count=1 -timeout 15m -v -run '^TestKilledProcessesLoseNoWebhook$$' ./cmd/palmares -events 200 -kills 100
	@go test -race -count=1 -timeout 15m -v -run '^TestKilledProcessesLoseNoWebhook$$' ./cmd/palmares -events 200 -kills 3 -webhook-timeout 15s

packages:
	@tools/packages
