#!/bin/sh
# Lints the API documents with Spectral and Redocly. Needs the packages that `npm ci`
# installs in this folder, Go, and no network. Fails on any error, warning or hint, after
# both linters have read all documents.
set -u
cd "$(dirname "$0")" || exit 1

if [ ! -d node_modules ]; then
  echo "node_modules is missing: run 'npm ci' in tools/openapi first" >&2
  exit 1
fi

# By default Redocly looks for a newer version and reports usage.
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

documents=$(mktemp -d) || exit 1
trap 'rm -r "$documents"' EXIT
go run . "$documents" || exit 1
set -- "$documents"/*.json
status=0
./node_modules/.bin/redocly lint --config redocly.yaml "$@" &
./node_modules/.bin/spectral lint --ruleset spectral.yaml --fail-severity hint "$@" || status=1
wait $! || status=1
exit "$status"
