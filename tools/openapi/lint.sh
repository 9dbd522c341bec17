#!/bin/sh
# Lints the two API documents with Spectral and Redocly. Run `npm ci` in this
# folder once; linting itself needs no network. Exits non-zero on any error,
# warning or hint, after both linters have spoken on both.
set -u
cd "$(dirname "$0")" || exit 1

if [ ! -d node_modules ]; then
  echo "node_modules is missing: run 'npm ci' in tools/openapi first" >&2
  exit 1
fi

# Redocly asks its registry for a newer version and reports usage unless told not to.
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

status=0
for document in ../../internal/api/openapi.json ../../internal/webhookapi/openapi.json; do
  ./node_modules/.bin/spectral lint --ruleset spectral.yaml --fail-severity hint "$document" || status=1
  ./node_modules/.bin/redocly lint --config redocly.yaml "$document" || status=1
done
exit "$status"
