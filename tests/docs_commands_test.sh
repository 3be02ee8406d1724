#!/usr/bin/env bash
# Every ./flotsam command on every page of the documentation works: those in code blocks and those in the text. Each
# must exit with 0. Simulations are made coarse, not skipped, and pictures small.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${FLOTSAM_BINARY:-$source_dir/build/flotsam}
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
ln -s "$source_dir/scenes" "$sandbox/scenes"
mkdir "$sandbox/docs"
cd "$sandbox"

commands_in() {  # PAGE...: the commands in order, without what follows #; not those with a NAME to fill in
    awk '/^```/ { inside = !inside; next }
         inside && /^\.\/flotsam / { sub(/ +#.*/, ""); print }
         !inside { for (rest = $0; match(rest, /`\.\/flotsam [^`]*`/); rest = substr(rest, RSTART + RLENGTH))
                       print substr(rest, RSTART + 1, RLENGTH - 2) }' "$@" |
        grep -vE ' [A-Z]+( |$)'
}

commands=0 failures=0
declare -A ran=()
while read -r -a words; do
    commands=$((commands + 1))
    arguments=("${words[@]:1}")
    for i in "${!arguments[@]}"; do
        if [[ ${arguments[i]} == --size ]]; then arguments[i + 1]=64x36; fi
    done
    case ${words[1]} in
        test | build | lint | format | sanitize | mutate)  # the script's own; script_test.sh runs them
            grep -qE "^    ${words[1]}\) " "$source_dir/flotsam" && continue
            printf 'the script has no command: %s\n' "${words[*]}"
            failures=$((failures + 1))
            continue
            ;;
        run) arguments+=(--set domain.resolution=16 --overwrite --quiet) ;;
        check)  # at the scale of a scene's [check] its claims hold
            if [[ ${words[*]} != *--dry* ]]; then arguments+=(--coarse --overwrite --quiet); fi
            ;;
        compare)
            arguments+=(--set domain.resolution=8 --set scene.duration=0.9 --size 48x32 --overwrite --quiet)
            ;;
        demo) arguments+=(--scale 0.3 --frames 3 --quiet) ;;
        render)
            arguments+=(--quiet)
            if [[ ${words[*]} != *--frame* ]]; then arguments+=(--frame 1); fi
            if [[ ${words[*]} != *--size* ]]; then arguments+=(--size 64x36); fi
            ;;
        validate | bench)
            if [[ ${words[*]} != *--quick* ]]; then arguments+=(--quick); fi
            # One case stands for all: validate_test.cpp runs each, and benches are for quiet machines.
            if [[ ${words[1]} == validate && ${words[2]:--} == -* ]]; then arguments+=(zalesak); fi
            if [[ ${words[1]} == bench && ${words[2]:--} == -* ]]; then arguments+=(puddle); fi
            ;;
    esac
    [[ -z ${ran[${arguments[*]}]:-} ]] || continue
    ran[${arguments[*]}]=1
    status=0
    "$program" "${arguments[@]}" >output 2>&1 || status=$?
    if ((status != 0)); then
        printf 'exit %s: %s\n' "$status" "${words[*]}"
        cat output
        failures=$((failures + 1))
    fi
done < <(cd "$source_dir" && commands_in ./*.md docs/*.md docs/*/*.md scenes/*.md tests/*.md)
printf '%s commands, %s failures\n' "$commands" "$failures"
((commands > 0 && failures == 0))
