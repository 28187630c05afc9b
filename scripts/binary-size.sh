#!/usr/bin/env bash
# binary-size.sh builds four programs without symbols, prints their sizes and how much
# memory they have resident at the start. It warns if a program is larger than its limit, and
# fails if it is larger by a tenth.
# Resident memory depends on how the machine maps pages, so its aim is only printed.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
failed=0

# check PROGRAM WHAT MEGABYTES AIM
check() {
  go build -ldflags='-s -w' -o "$built/$1" "./internal/testing/binarysize/$1"
  local size resident
  size=$(wc -c <"$built/$1" | awk '{printf "%.1f", $1 / 1e6}')
  resident=$("$built/$1" | awk '{printf "%.1f", $1 / 1024}')
  printf '| %s | %s | %s | %s | %s |\n' "$2" "$size" "$3" "${resident:--}" "$4"
  if awk "BEGIN { exit !($size > $3) }"; then
    echo "binary-size: WARNING: $1 is above its limit; go tool nm -size -sort size shows what grew" >&2
    if awk "BEGIN { exit !($size > 1.1 * $3) }"; then failed=1; fi
  fi
}

echo '| program | MB | at most | resident at start, MiB | aim |'
echo '|---|---|---|---|---|'
# The aim is 7.5: the JSON package that arrays of arrow-go import takes 1.3, go-humanize
# 0.2, SHA-256 for the cache of kernels 0.15, functions of strings and dates 0.55, formulas of
# numbers (angles, hyperbolic functions, gcd and others) 0.2.
# The aim for memory is 10: 9.4 to 10.8 were seen, as the machine maps the program's pages.
check expression 'a record, an expression' 10.3 12.5
# The aim is 13: PTX takes 0.97. arrow-go's builders take
# 0.6, so records without rows are made by hostarray.EmptyRecord; the resolver of host names
# takes 0.3; regular expressions and the text of floats take 0.15.
check everything 'every package' 14.9 16.5
# The aim is 15. go-json, which arrays of arrow-go import, takes 1.5. docs/measurements/2026-11-30-size.md has the rest.
check dataframe 'a query on Go values' 18.1 28
# The aim was 25.
check files 'a query of files' 21.1 28
exit $failed
