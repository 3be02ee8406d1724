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
         !inside { for (rest = $0; match(rest, /`(\.\/)?flotsam [^`]*`/); rest = substr(rest, RSTART + RLENGTH))
                       print substr(rest, RSTART + 1, RLENGTH - 2) }' "$@" |
        grep -vE '[ /][A-Z]+([ .]|$)'
}

known() { "$program" list "$1" | awk '{ print $1 }' | grep -xF -- "$2" >found; }  # cases|benches NAME

commands=0 failures=0
declare -A ran=()
while read -r -a words; do
    commands=$((commands + 1))
    arguments=("${words[@]:1}")
    for i in "${!arguments[@]}"; do
        if [[ ${arguments[i]} == --size ]]; then arguments[i + 1]=64x36; fi
    done
    # In the text `flotsam check` is the name of a command; with ./ or more words it is one to type.
    command=${words[1]}
    if [[ ${words[*]} == "flotsam $command" ]]; then command=name; fi
    case $command in
        name) arguments+=(--help) ;;
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
            # validate_test.cpp runs every case, and some benches take a minute: names are looked up, quick ones run.
            kind=cases quick=(zalesak)
            if [[ ${words[1]} == bench ]]; then kind=benches quick=(puddle); fi
            arguments=("${words[@]:2}")
            while [[ ${arguments[0]:--} != -* ]] && known "$kind" "${arguments[0]}"; do arguments=("${arguments[@]:1}"); done
            if [[ ${words[*]:1} == "bench "-* ]]; then
                quick=(pressure puddle dam-break elastic genevaux sph elastic-solve clip rigid zarifi)
            fi
            arguments=("${words[1]}" "${arguments[@]}" "${quick[@]}")
            if [[ ${words[*]} != *--quick* ]]; then arguments+=(--quick); fi
            ;;
    esac
    [[ -z ${ran[${arguments[*]}]:-} ]] || continue
    ran[${arguments[*]}]=1
    trouble=''
    "$program" "${arguments[@]}" >output 2>&1 || trouble="exit $?"
    if [[ $command == bench ]] && grep -qwE -- '-?(nan|inf)|not converged' output; then trouble='no numbers'; fi
    if [[ $trouble ]]; then
        printf '%s: %s\n' "$trouble" "${words[*]}"
        cat output
        failures=$((failures + 1))
    fi
done < <(cd "$source_dir" && commands_in ./*.md docs/*.md docs/*/*.md scenes/*.md tests/*.md)
printf '%s commands, %s failures\n' "$commands" "$failures"
((commands > 0 && failures == 0))
