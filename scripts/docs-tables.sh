#!/usr/bin/env bash
# Copies the tables that tests have printed into the documents that show them, between
# lines such as
#
#   <!-- begin dlpack/testdata/support.md -->
#   <!-- end -->
#
#   scripts/docs-tables.sh           write
#   scripts/docs-tables.sh --check   exit 1 if a document is out of date
set -euo pipefail
cd "$(dirname "$0")/.."

splice() {
    awk '
        /^<!-- begin .* -->$/ {
            print
            while ((got = (getline line < $3)) > 0) print line
            if (got < 0) { print FILENAME ": there is no " $3 > "/dev/stderr"; exit 1 }
            skip = 1
        }
        /^<!-- end -->$/ { skip = 0 }
        !skip { print }
    ' "$1"
}

stale=0
for document in docs/*.md docs/measurements/*.md python/README.md; do
    if [ ! -f "$document" ]; then continue; fi
    fresh=$(splice "$document")
    if [ "$fresh" = "$(cat "$document")" ]; then continue; fi
    if [ "${1:-}" = --check ]; then
        echo "$document is out of date: run $0" >&2
        stale=1
    else
        printf '%s\n' "$fresh" >"$document"
    fi
done
exit $stale
