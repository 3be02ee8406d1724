#!/usr/bin/env bash
# Every relative link in the documentation leads to a file that exists.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
broken=0 links=0
while IFS=: read -r page link; do
    target=${link#](}
    target=${target%%[)#]*}
    [[ -n $target && $target != *://* && $target != mailto:* ]] || continue
    links=$((links + 1))
    if [[ ! -e $(dirname "$page")/$target ]]; then
        printf '%s: broken link to %s\n' "$page" "$target"
        broken=$((broken + 1))
    fi
done < <(find . -name '*.md' -not -path './build*' -not -path './runs/*' -not -path './.git/*' -print0 | xargs -0 grep -oHE '\]\([^)]+\)')
printf '%s links, %s broken\n' "$links" "$broken"
((links > 0 && broken == 0))
