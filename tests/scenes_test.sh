#!/usr/bin/env bash
# Scenes of the papers, coarse: what they claim holds. Each line is a scene and the scale that it is run at.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${FLOTSAM_BINARY:-$source_dir/build/flotsam}
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

failures=0
while read -r scene scale; do
    if ! "$program" check "$source_dir/scenes/$scene" --scale "$scale" --set output.volume=false --out "$sandbox/run" \
        --overwrite --quiet >"$sandbox/said" 2>&1; then
        printf '%s at %s:\n' "$scene" "$scale"
        cat "$sandbox/said"
        failures=$((failures + 1))
    fi
done <<'LIST'
robinson-mosher-2008/buoyancy.toml 0.25
carlson-2004/two_balls.toml 0.35
genevaux-2003/falling_ball.toml 0.8
becker-2009/asteroid.toml 0.25
LIST
printf '%s scenes failed\n' "$failures"
((failures == 0))
