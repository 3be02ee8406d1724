#!/usr/bin/env bash
# ./flotsam sanitize: runs every test case as a process of its own under a sanitizer, one per core. Goes on where the
# last call stopped, so that the whole suite can be run in pieces.
#   sanitize_cases.sh PROGRAM TESTS FOLDER KIND [--again] [--limit SECONDS] [--files WORD,...] [--record] [WORD]
set -euo pipefail

program=$1 tests=$2 folder=$3 kind=$4
shift 4
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
again=0 limit=1200 files="" record=0 word=""
while (($#)); do
    case $1 in
        --again) again=1 ;;
        --limit) limit=$2; shift ;;
        --files) files=$2; shift ;;
        --record) record=1 ;;
        -*) printf 'sanitize: there is no option %s\n' "$1" >&2; exit 2 ;;
        *) word=$1 ;;
    esac
    shift
done

# One line a case: VERDICT SECONDS NAME. A case that ran into the limit is tried again by the next call.
run_case() {  # PROGRAM TESTS FOLDER LIMIT FILES NUMBER
    local program=$1 tests=$2 folder=$3 limit=$4 files=$5 number=$6 name said began=$SECONDS status=0 verdict=clean
    name=$(sed -n "${number}p" "$folder/cases")
    said=$folder/$number.txt
    if [[ $name == */*_test.sh ]]; then
        FLOTSAM_BINARY=$program timeout "$limit" "$name" >"$said" 2>&1 || status=$?
    else
        FLOTSAM_BINARY=$program timeout "$limit" "$tests" --no-intro "$files" "--first=$number" "--last=$number" \
            >"$said" 2>&1 || status=$?
    fi
    if grep -qE 'Sanitizer: |runtime error: ' "$said"; then
        verdict=reported
    elif ((status == 124)); then
        verdict=unfinished
    elif ((status != 0)); then
        verdict=failed
    fi
    {
        flock 9
        printf '%s\t%s\t%s\n' "$verdict" "$((SECONDS - began))" "$name" >>"$folder/verdicts"
        printf '%-10s %5s s  %s\n' "$verdict" "$((SECONDS - began))" "$name"
        if [[ $verdict == reported || $verdict == failed ]]; then tail -n 40 "$said" | sed 's/^/    /'; fi
    } 9>"$folder/lock"
}
export -f run_case

mkdir -p "$folder"
((again == 0)) || rm -f "$folder/verdicts"
touch "$folder/verdicts"
# doctest's --first and --last count in the order of this list. Scripts that use the program follow.
source_files="--source-file=*${files//,/*,*}*"
"$tests" --list-test-cases --no-intro "$source_files" | grep -v '^\[doctest\]\|^====' >"$folder/cases"
[[ -n $files ]] || printf '%s\n' "$root"/tests/{docs_commands,one_step}_test.sh >>"$folder/cases"
awk -F '\t' -v word="$word" '
    FILENAME == ARGV[1] { if ($1 != "unfinished") done[$3] = 1; next }
    !($0 in done) && index($0, word) { print FNR }' "$folder/verdicts" "$folder/cases" |
    xargs -r -n 1 -P "$(nproc)" bash -c 'run_case "$@"' - "$program" "$tests" "$folder" "$limit" "$source_files"

# The last verdict of every case counts.
summary=$(awk -F '\t' '
    FILENAME == ARGV[1] { last[$3] = $1; next }
    { count[$0 in last ? last[$0] : "never run"]++ }
    END { printf "%d,%d,%d,%d,%d,%d", FNR, count["clean"], count["reported"], count["failed"], count["unfinished"], count["never run"] }
    ' "$folder/verdicts" "$folder/cases")
IFS=, read -r total clean reported failed unfinished never <<<"$summary"
printf '%s: %s cases: %s clean, %s reported, %s failed, %s unfinished after %s s, %s not run\n' \
    "$kind" "$total" "$clean" "$reported" "$failed" "$unfinished" "$limit" "$never"
if ((record)); then
    file=$root/results/sanitizers.csv
    [[ -e $file ]] || printf 'date,version,sanitizer,cases,clean,reported,failed,unfinished,never_run\n' >"$file"
    printf '%s,%s,%s,%s\n' "$(date -u +%FT%TZ)" "$(git -C "$root" describe --always --dirty --exclude '*')" "$kind" "$summary" >>"$file"
fi
((reported == 0 && failed == 0))
