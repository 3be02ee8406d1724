#!/usr/bin/env bash
# Every #include in src, of headers too, goes where the table in docs/architecture.md allows: to the folders in its
# row, and to what those may include. Static linking would not notice: a header that only defines types needs no
# link. Large libraries are in no header. Scenes know no method: of coupling they see scheme.h alone.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

check() {  # FOLDER with src/ and docs/: prints what is wrong
    local root=$1 from to row
    local -A allowed=()
    while IFS='|' read -r _ from _ row _; do
        from=${from//[\` ]/}
        from=${from#src/} from=${from%/}
        row=" ${row//,/ } "
        for to in $row; do row+=${allowed[$to]:-}; done  # rows come after those that they name
        allowed[$from]=" $from $row "
    done < <(grep -E '^[|] .src/[a-z]+/. [|]' "$root/docs/architecture.md")
    (( ${#allowed[@]} >= 5 )) || echo "docs/architecture.md: the table of folders was not found"

    while IFS=: read -r path line; do
        from=${path%%/*} to=${line#*\"}
        to=${to%%/*}
        [[ ${allowed[$from]:-} == *" $to "* ]] || echo "src/$path: $line: ${from} may not include ${to}"
    done < <(cd "$root/src" && grep -rE '^ *#include "[a-z_]+/' --include='*.h' --include='*.cpp' .  | sed 's|^\./||')
    (cd "$root" && grep -rEn '^ *#include "coupling/' --include='*.h' --include='*.cpp' src/scene |
        grep -v '"coupling/scheme.h"' | sed 's/$/: scenes know no method: add a fact to Capabilities/') || true
    (cd "$root" && grep -rEn '^ *#include <(tbb|oneapi|openvdb|bullet|bt|hdf5|H5|embree|toml|CLI)' --include='*.h' src apps) |
        sed 's/$/: large libraries stay out of headers/' || true
}

# Does it see anything at all?
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
mkdir -p "$sandbox/docs" "$sandbox/apps"
cp "$source_dir/docs/architecture.md" "$sandbox/docs"
for folder in core geometry fluid solid scene; do mkdir -p "$sandbox/src/$folder"; done
echo '#include "core/vec.h"' >"$sandbox/src/fluid/through_another.h"
echo '#include "fluid/liquid.h"' >"$sandbox/src/solid/sideways.h"
echo '#include "solid/solid.h"' >"$sandbox/src/core/upwards.cpp"
echo '#include <openvdb/openvdb.h>' >"$sandbox/src/geometry/heavy.h"
printf '#include "coupling/%s.h"\n' scheme marker_springs >"$sandbox/src/scene/knows_a_method.cpp"
found=$(check "$sandbox")
[[ $(grep -c . <<<"$found") == 4 && $found == *sideways.h* && $found == *upwards.cpp* && $found == *heavy.h* &&
    $found == *marker_springs.h* ]] ||
    { printf 'this test does not see what it should:\n%s\n' "$found"; exit 1; }

wrong=$(check "$source_dir")
printf '%s\n' "${wrong:-every include goes where docs/architecture.md allows}"
[[ -z $wrong ]]
