#!/usr/bin/env bash
# Puts deliberate faults into a copy of the sources, one at a time, and looks whether the tests notice. The faults
# are in mutations.txt; tests/README.md says how to read and add to them. Called by ./flotsam mutate.
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
list=${FLOTSAM_MUTATIONS:-$root/tests/mutations.txt}
work=$root/build-mutate  # tree/: the copy, built as usual in tree/build/; logs/; results.tsv: one line per verdict
results=$work/results.tsv

least_faults=40  # fewer say little about the tests
least_caught=95  # percent

show_help() {
    cat <<'TEXT'
usage: ./flotsam mutate [--again] [NAME...]
  Puts each fault of tests/mutations.txt into a copy of the sources and runs the tests that should notice.
  Goes on where the last call stopped; faults that are named are tried anew.
  --again   forget all verdicts and begin anew
  --list    names and files of all faults
  --check   only look whether the list fits the sources
Exit code 0: at least 95 % are caught.
TEXT
}

say() { printf 'mutate: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# --- The list -------------------------------------------------------------------------------------------------

declare -a names=()
declare -A file=() find=() make=() tests=()  # by name; tests: one per line

read_list() {
    local line name='' number=0 key value
    while IFS= read -r line || [[ -n $line ]]; do
        number=$((number + 1))
        case $line in
            '' | '#'*) continue ;;
            '['*']')
                name=${line:1:-1}
                [[ -z ${file[$name]+x} ]] || die "$list:$number: a second fault named $name"
                names+=("$name")
                file[$name]='' find[$name]='' make[$name]='' tests[$name]=''
                continue
                ;;
        esac
        [[ -n $name && $line == *:* ]] || die "$list:$number: neither [NAME] nor 'KEY: TEXT': $line"
        key=${line%%:*} value=${line#*:}
        value=${value# }
        case $key in
            file) file[$name]=$value ;;
            find) find[$name]=$value ;;
            make) make[$name]=$value ;;
            test | written) tests[$name]+=$value$'\n' ;;
            why) ;;  # for readers
            *) die "$list:$number: unknown key '$key'" ;;
        esac
    done <"$list"
}

mutated() {  # NAME: its file with the fault
    local text
    text=$(<"$root/${file[$1]}")
    printf '%s\n' "${text%%"${find[$1]}"*}${make[$1]}${text#*"${find[$1]}"}"
}

# A test is the name of a test file, and, after a colon, a piece of the name of some of its cases, without commas.
split_test() {  # TEST: sets group and part
    group=${1%%:*} part=${1#"${1%%:*}"}
    part=${part#:} part=${part# }
}

# How often each fault's text occurs in its file, a line "NAME COUNT" each. Bash itself takes seconds for that.
count_places() {
    local name
    for name in "${names[@]}"; do printf '%s\t%s\t%s\n' "$name" "$root/${file[$name]}" "${find[$name]}"; done |
        awk -F'\t' '{
            if (!($2 in text)) while ((getline line <$2) > 0) text[$2] = text[$2] line "\n"
            rest = text[$2]; wanted = substr($0, length($1) + length($2) + 3)
            for (count = 0; wanted != "" && (at = index(rest, wanted)) > 0; ++count) rest = substr(rest, at + 1)
            print $1, count
        }'
}

check_list() {  # says what is wrong and counts it
    local wrong=0 name count test group part folder covered=' '
    local -A places=() cases=()  # by fault; by test file
    while read -r name count; do places[$name]=$count; done < <(count_places)
    complain() { say "$list: [$1] $2"; wrong=$((wrong + 1)); }
    for name in "${names[@]}"; do
        if [[ ! -f $root/${file[$name]} ]]; then complain "$name" "there is no file '${file[$name]}'"; continue; fi
        folder=${file[$name]#src/}
        covered+="${folder%%/*} "
        if [[ -z ${find[$name]} ]]; then complain "$name" "there is nothing to find"
        elif (( places[$name] == 0 )); then complain "$name" "${file[$name]} does not hold '${find[$name]}'"
        elif (( places[$name] > 1 )); then complain "$name" "${file[$name]} holds '${find[$name]}' more than once"
        elif [[ ${find[$name]} == "${make[$name]}" ]]; then complain "$name" "the fault changes nothing"
        fi
        [[ -n ${tests[$name]} ]] || complain "$name" "no test should notice"
        while IFS= read -r test; do
            [[ -n $test ]] || continue
            split_test "$test"
            if [[ -f $root/tests/$group.cpp ]]; then
                [[ $part != *,* ]] || complain "$name" "doctest takes the comma in '$part' for the end of a name"
                [[ -n ${cases[$group]:-} ]] || cases[$group]=$(grep -A1 "^TEST_CASE" "$root/tests/$group.cpp")
                [[ ${cases[$group]} == *"$part"* ]] || complain "$name" "no case of $group has '$part' in its name"
            elif [[ ! -f $root/tests/$group.sh || -n $part ]]; then
                complain "$name" "there is no test '$test'"
            fi
        done <<<"${tests[$name]}"
    done
    for folder in "$root"/src/*/; do
        folder=$(basename "$folder")
        [[ $covered == *" $folder "* ]] || complain all "no fault in src/$folder"
    done
    (( ${#names[@]} >= least_faults )) || complain all "only ${#names[@]} faults; at least $least_faults are wanted"
    (( wrong == 0 )) || die "$wrong mistakes in the list of faults"
}

# --- The copy -------------------------------------------------------------------------------------------------

# What differs is copied with today's time, so that the build sees a file that is put right again.
restore_tree() {
    local path kept=$work/kept
    mkdir -p "$work/tree"
    git -C "$root" ls-files -co --exclude-standard >"$kept"
    while IFS= read -r path; do
        [[ -e $root/$path ]] || continue
        cmp -s "$root/$path" "$work/tree/$path" && continue
        mkdir -p "$(dirname "$work/tree/$path")"
        cp "$root/$path" "$work/tree/$path"
    done <"$kept"
    (cd "$work/tree" && find . -path ./build -prune -o -type f -printf '%P\n') | sort | comm -23 - <(sort "$kept") |
        while IFS= read -r path; do rm "$work/tree/$path"; done
}

build() {  # LOG
    FLOTSAM_BUILD_DIR=$work/tree/build timeout --foreground -k 10 3600 "$work/tree/flotsam" build >>"$1" 2>&1
}

run_test() {  # TEST SECONDS LOG: exit code of the test; 124 or 137 when it took longer
    local group part command
    split_test "$1"
    if [[ -f $work/tree/tests/$group.cpp ]]; then
        command=("$work/tree/build/tests/flotsam_tests" --no-intro --abort-after=1 "--source-file=*$group.cpp" "--test-case=*$part*")
    else
        command=("$work/tree/tests/$group.sh")
    fi
    printf '\n--- %s\n' "$1" >>"$3"
    (cd "$work/tree/build/tests" && FLOTSAM_BINARY=$work/tree/build/flotsam timeout --foreground -k 10 "$2" "${command[@]}") >>"$3" 2>&1
}

# --- Verdicts -------------------------------------------------------------------------------------------------

# A line of the results: what (a fault with a number that changes with its entry, or a test of the true code),
# verdict, by which test, seconds. The last line counts.
identity() { printf '%s %s' "$1" "$(printf '%s\n' "${file[$1]}" "${find[$1]}" "${make[$1]}" "${tests[$1]}" | cksum | cut -d' ' -f1)"; }
result() {  # WHAT COLUMN
    awk -F'\t' -v what="$1" -v column="$2" '$1 == what { last = $column } END { print last }' "$results"
}
record() { local IFS=$'\t'; printf '%s\n' "$*" >>"$results"; }

# A test that fails on the true code would catch everything: it counts for nothing until it is mended.
try_true_code() {  # TEST...
    local test seconds code log=$work/logs/true.log missing=()
    for test in "$@"; do
        [[ $(result "true: $test" 2) == passed ]] || missing+=("$test")
    done
    (( ${#missing[@]} )) || return 0
    say "building the true code"
    restore_tree
    : >"$log"
    build "$log" || { tail -n 20 "$log" >&2; die "the true code does not build"; }
    for test in "${missing[@]}"; do
        seconds=$SECONDS
        if ! run_test "$test" 1200 "$log"; then
            tail -n 30 "$log" >&2
            say "fails without any fault: $test"
            continue
        fi
        seconds=$((SECONDS - seconds))
        record "true: $test" passed '' "$seconds"
        say "true code: $test passes in $seconds s"
    done
}

try_fault() {  # NAME
    local name=$1 verdict=survived by='' usable='' test limit code seconds=$SECONDS log=$work/logs/$1.log
    restore_tree
    mutated "$name" >"$work/tree/${file[$name]}"
    : >"$log"
    if ! build "$log"; then
        verdict='does not build'
    else
        while IFS= read -r test; do
            [[ -n $test && $(result "true: $test" 2) == passed ]] || continue
            usable=yes
            # Much longer than the true code takes, on a machine that may be busier than it was then.
            limit=$((60 + 5 * $(result "true: $test" 4)))
            code=0
            run_test "$test" "$limit" "$log" || code=$?
            case $code in
                0) continue ;;
                124 | 137) verdict=hangs ;;
                *) verdict=caught ;;
            esac
            by=$test
            break
        done <<<"${tests[$name]}"
        [[ -n $usable ]] || verdict='has no test that passes without it'
    fi
    record "$(identity "$name")" "$verdict" "$by" "$((SECONDS - seconds))"
    say "$name: $verdict${by:+ by $by}, $((SECONDS - seconds)) s"
}

summarize() {  # NAME...
    local name verdict caught=0 hanging=0
    for name in "$@"; do
        verdict=$(result "$(identity "$name")" 2)
        case $verdict in
            caught) caught=$((caught + 1)) ;;
            hangs) caught=$((caught + 1)) hanging=$((hanging + 1)) ;;
            *) printf '%s: %s (%s)\n' "${verdict:-not tried}" "$name" "${file[$name]}" ;;
        esac
    done
    printf 'caught %d of %d%s\n' "$caught" "$#" "$( ((hanging == 0)) || printf ', %d of them because a test hung' "$hanging")"
    (( 100 * caught >= least_caught * $# ))
}

# --- Command --------------------------------------------------------------------------------------------------

again='' wanted=() pending=() needed=()
read_list
for argument in "$@"; do
    case $argument in
        -h | --help) show_help; exit ;;
        --list) for name in "${names[@]}"; do printf '%s\t%s\n' "$name" "${file[$name]}"; done; exit ;;
        --check) check_list; exit ;;
        --again) again=yes ;;
        -*) show_help >&2; exit 2 ;;
        *) [[ -n ${file[$argument]+x} ]] || die "there is no fault '$argument'; --list names them"; wanted+=("$argument") ;;
    esac
done
check_list

mkdir -p "$work/logs"
exec {lock}>"$work/.lock"
flock -n "$lock" || die "another call is at work in $work"
[[ -z $again ]] || rm -f "$results"
touch "$results"

if (( ${#wanted[@]} )); then
    pending=("${wanted[@]}")
else
    wanted=("${names[@]}")
    for name in "${names[@]}"; do
        [[ -n $(result "$(identity "$name")" 2) ]] || pending+=("$name")
    done
fi
for name in "${pending[@]}"; do
    while IFS= read -r test; do
        [[ -z $test ]] || needed+=("$test")
    done <<<"${tests[$name]}"
done
if (( ${#pending[@]} )); then
    mapfile -t needed < <(printf '%s\n' "${needed[@]}" | sort -u)
    try_true_code "${needed[@]}"
    for name in "${pending[@]}"; do try_fault "$name"; done
    restore_tree
fi
summarize "${wanted[@]}"
