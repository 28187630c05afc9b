#!/usr/bin/env bash
# Puts Vega-Lite and a validator of JSON schemas into build/vega, with which
# TestVegaLiteReadsTheSpecifications reads the specifications of charts. The script does nothing if they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$PWD/build/vega

if [ -d "$target/node_modules/vega-lite" ]; then exit 0; fi
command -v npm >/dev/null || { echo "fetch-vega: there is no npm here" >&2; exit 3; }
mkdir -p "$target"
npm install --prefix "$target" --silent --no-audit --no-fund vega-lite@5.23.0 vega@5.33.1 ajv@8.20.0 ajv-formats@3.0.1
