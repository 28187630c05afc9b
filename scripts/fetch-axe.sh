#!/usr/bin/env bash
# Puts axe.min.js into build/axe: axe-core checks the accessibility of the page of package
# observe in TestPageInABrowser. The script does nothing if the file exists.
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.10.3
sum=0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292
target=$PWD/build/axe

if [ -s "$target/axe.min.js" ]; then exit 0; fi
command -v npm >/dev/null || { echo "fetch-axe: there is no npm here" >&2; exit 3; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm pack --silent "axe-core@$version" >/dev/null
echo "$sum  axe-core-$version.tgz" | sha256sum --check --quiet
tar -xzf "axe-core-$version.tgz" package/axe.min.js
mkdir -p "$target"
mv package/axe.min.js "$target/axe.min.js"
