#!/usr/bin/env bash
# The list of deliberate faults fits the sources, and a list that does not is refused in words. Nothing is built.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
"$here/mutate.sh" --check

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# refused WORDS: the changed copy of the list is refused with these words.
refused() {
    if FLOTSAM_MUTATIONS=$scratch/list "$here/mutate.sh" --check >"$scratch/said" 2>&1; then
        echo "not refused: $1" >&2
        exit 1
    fi
    grep -qF -- "$1" "$scratch/said" || { echo "refused, but not with '$1':" >&2; cat "$scratch/said" >&2; exit 1; }
}
# with ADDITION: the list and one more entry.
with() { { cat "$here/mutations.txt"; printf '\n%s\n' "$1"; } >"$scratch/list"; }

with $'[added]\nfile: src/core/tiles.cpp\nfind: no such text\nmake: x\ntest: tiles_test'
refused "does not hold 'no such text'"
with $'[added]\nfile: src/core/tiles.cpp\nfind: table_size_\nmake: x\ntest: tiles_test'
refused 'more than once'
with $'[added]\nfile: src/core/none.cpp\nfind: x\nmake: y\ntest: tiles_test'
refused "there is no file 'src/core/none.cpp'"
with $'[added]\nfile: src/core/tiles.cpp\nfind: #include <tuple>\nmake:\ntest: no_such_test'
refused "there is no test 'no_such_test'"
with $'[added]\nfile: src/core/tiles.cpp\nfind: #include <tuple>\nmake:\ntest: tiles_test: no such case'
refused "no case of tiles_test has 'no such case' in its name"
with $'[added]\nfile: src/core/tiles.cpp\nfind: #include <tuple>\nmake:'
refused 'no test should notice'
with $'[added]\nfile: src/core/tiles.cpp\nfnd: #include <tuple>'
refused "unknown key 'fnd'"
with "[$(sed -n 's/^\[\(.*\)\]$/\1/p' "$here/mutations.txt" | head -n 1)]"
refused 'a second fault named'
head -n 40 "$here/mutations.txt" >"$scratch/list"
refused 'at least 40 are wanted'
refused 'no fault in src/render'
