#!/usr/bin/env bash
# Every ./flotsam command in a code block of the documentation works. Simulations are made coarse, not skipped.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${FLOTSAM_BINARY:-$source_dir/build/flotsam}
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
ln -s "$source_dir/scenes" "$sandbox/scenes"
mkdir "$sandbox/docs"
cd "$sandbox"

commands_in() {  # PAGE...: the commands in ```sh blocks, without what follows #
    awk '/^```/ { inside = $0 == "```sh"; next } inside && /^\.\/flotsam / { sub(/ +#.*/, ""); print }' "$@"
}

commands=0 failures=0
while read -r -a words; do
    commands=$((commands + 1))
    arguments=("${words[@]:1}")
    case ${words[1]} in
        test | build | lint | format | sanitize)  # the script's own; script_test.sh runs them
            grep -qE "^    ${words[1]}\) " "$source_dir/flotsam" && continue
            printf 'the script has no command: %s\n' "${words[*]}"
            failures=$((failures + 1))
            continue
            ;;
        run | check)
            if [[ ${words[*]} != *--dry* ]]; then
                arguments+=(--set domain.resolution=16 --overwrite --quiet)
            fi
            ;;
        compare)
            arguments+=(--set domain.resolution=12 --set scene.duration=0.9 --size 48x32 --overwrite --quiet)
            ;;
        demo) arguments+=(--scale 0.3 --quiet) ;;
        render)
            arguments+=(--quiet)
            if [[ ${words[*]} != *--frame* ]]; then arguments+=(--frame 1); fi
            ;;
        validate | bench) arguments+=(--quick) ;;
    esac
    status=0
    "$program" "${arguments[@]}" >output 2>&1 || status=$?
    # Claims and cases need not hold on a grid this coarse; other tests judge them.
    [[ $status == 0 || ($status == 1 && ${words[1]} == @(check|validate)) ]] && continue
    printf 'exit %s: %s\n' "$status" "${words[*]}"
    cat output
    failures=$((failures + 1))
done < <(commands_in "$source_dir"/*.md "$source_dir"/docs/*.md "$source_dir"/scenes/*.md)
printf '%s commands, %s failures\n' "$commands" "$failures"
((commands > 0 && failures == 0))
