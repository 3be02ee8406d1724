#!/usr/bin/env bash
# ./flotsam test --scenes [PATTERN] [--seed N]: judges the claims of every scene whose path contains PATTERN, each at
# the scale of its own [check] table, one scene per core, the cheapest first.
#   check_scenes.sh PROGRAM FOLDER [PATTERN] [--seed N]      FOLDER: for runs and what they said
set -euo pipefail

program=$1 folder=$2
shift 2
pattern="" seed=""
while (($#)); do
    case $1 in
        --seed) seed=$2; shift ;;
        -*) printf 'check_scenes: there is no option %s\n' "$1" >&2; exit 2 ;;
        *) pattern=$1 ;;
    esac
    shift
done

check_one() {  # PROGRAM FOLDER SEED TOTAL SCALE SCENE
    local program=$1 folder=$2 seed=$3 total=$4 scale=$5 scene=$6 name said began=$SECONDS status=0 finished more=()
    name=$(basename "$(dirname "$scene")")/$(basename "$scene" .toml)
    said=$folder/${name//\//_}.txt
    # A scene without liquid has no particles to seed.
    if [[ -n $seed ]] && grep -q '^\[\[liquid' "$scene"; then more=(--set "liquid.seed=$seed"); fi
    "$program" check "$scene" --coarse --threads 1 --quiet --set output.volume=false --set output.surface=false \
        --set output.solids=false "${more[@]}" --out "$folder/runs/$name" --overwrite >"$said" 2>&1 || status=$?
    rm -rf "$folder/runs/$name"
    {
        flock 9
        printf '%s %s\n' "$status" "$name" >>"$folder/done"
        finished=$(wc -l <"$folder/done")
        printf '[%s/%s] %-38s at %-5s %4s s  %s\n' "$finished" "$total" "$name" "$scale" "$((SECONDS - began))" \
            "$(grep -E 'claims? hold|makes no claims' "$said" || echo "exit $status")"
        if ((status != 0)); then sed 's/^/    /' "$said"; fi
    } 9>"$folder/lock"
}
export -f check_one

rm -rf "$folder"
mkdir -p "$folder/runs"
: >"$folder/done"
"$program" list checks | { grep -F -- "$pattern" || true; } >"$folder/list"
total=$(wc -l <"$folder/list")
((total > 0)) || { printf 'no scene with a [check] table matches "%s"\n' "$pattern" >&2; exit 2; }
awk '{ print $2; print $3 }' "$folder/list" |
    xargs -n 2 -P "$(nproc)" bash -c 'check_one "$@"' - "$program" "$folder" "$seed" "$total"
failed=$(grep -vc '^0 ' "$folder/done" || true)
printf '%s passed, %s failed\n' "$((total - failed))" "$failed"
((failed == 0 && $(wc -l <"$folder/done") == total))
