#!/usr/bin/env bash
# The ledger of step 10 that docs/one_step.md works through is that of today's program.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${FLOTSAM_BINARY:-$source_dir/build/flotsam}
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

"$program" run "$source_dir/scenes/start/slab.toml" --frames 3 --quiet --out "$sandbox/run"
sed 's/−/-/g' "$source_dir/docs/one_step.md" | awk -F'[,|]' '
    function compare(what, typed, now) {  # within a unit of the last digit: processors round differently
        ++compared
        gsub(/[ +]/, "", typed)
        if ((typed - now) ^ 2 > 1e-12) { printf "%s %s: the page says %s, the program %.7f\n", axis, what, typed, now; wrong = 1 }
    }
    FILENAME ~ /audit/ {
        if (FNR == 1) for (i = 1; i <= NF; ++i) column[$i] = i
        else for (name in column) now[$column["step"], name] = $column[name]
        next
    }
    /^\| [xy] \|/ && NF == 8 {
        axis = $2
        gsub(/ /, "", axis)
        compare("gravity", $3, now[10, "impulse.gravity." axis])
        compare("walls", $4, now[10, "impulse.walls." axis])
        compare("unaccounted", $5, now[10, "liquid.unaccounted." axis])
        change = now[10, "liquid.momentum." axis] - now[9, "liquid.momentum." axis]
        compare("sum", $6, change)
        gsub(/[ +]/, "", $7)
        sub(/.*=/, "", $7)
        compare("change of momentum", $7, change)
    }
    END {
        if (compared != 10) print "docs/one_step.md: the table was not found"
        exit wrong || compared != 10
    }' "$sandbox/run/audit.csv" -
