#!/usr/bin/env bash
# Fetches flights-3m.parquet into examples/data from the npm package that
# publishes it.
set -euo pipefail
cd "$(dirname "$0")/.."
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
(cd "$temporary" && npm pack --silent vega-datasets@3.2.1 >/dev/null && tar -xzf vega-datasets-3.2.1.tgz package/data/flights-3m.parquet)
mv "$temporary/package/data/flights-3m.parquet" examples/data/
ls -l examples/data/flights-3m.parquet
