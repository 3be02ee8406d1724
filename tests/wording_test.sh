#!/usr/bin/env bash
# Nothing that a user or reader sees names the ticket that asked for it: who reads it later cannot look that up.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
files=$(find src apps bench scenes docs tests README.md CONTRIBUTING.md CMakeLists.txt flotsam -type f \
    -not -name '*.svg' -not -name '*.png' -not -name wording_test.sh)
# A # before digits is a colour where the line says so.
named=$(xargs -d '\n' grep -nHIE '\b[Ii]ssues?\b|(^|[[:space:](,;"])#[0-9]{1,5}\b' <<<"$files" |
    grep -vE 'color' || true)
count=$(wc -l <<<"$files")
printf '%s files%s\n' "$count" "${named:+; these lines name a ticket, say it in words instead:}"
printf '%s\n' "$named"
((count > 300)) && [[ -z $named ]]
