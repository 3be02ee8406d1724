#!/usr/bin/env bash
# Makes every picture of the gallery, and the page that shows them with their commands. A scene that was simulated
# before is not simulated again: delete runs/gallery/ for that.
#   docs/gallery/make.sh [NAME...]     all of them, or only those named
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
page=$root/docs/gallery/README.md
only=" $* "
program=${FLOTSAM:-./flotsam}

cat >"$page" <<'TEXT'
# Gallery

Every picture here is made by [make.sh](make.sh) from a scene in this repository. The commands under a picture make it
anew; [docs/rendering.md](../rendering.md) says what else can be shown.
TEXT

# NAME "TITLE" "RUN ARGUMENTS" "RENDER ARGUMENTS": one picture. Scenes that several pictures share are run once.
picture() {
    local name=$1 title=$2 run=$3 render=$4 folder made
    folder=runs/gallery/$(basename "${run%% *}" .toml)
    local run_command="./flotsam run $run --out $folder" render_command="./flotsam render $folder $render --size 640x360"
    # shellcheck disable=SC2016 # the backquotes are Markdown's
    printf '\n## %s\n\n![%s](%s.png)\n\n```sh\n%s\n%s\n```\n' "$title" "$title" "$name" "$run_command" "$render_command" >>"$page"
    if [[ $only != "  " && $only != *" $name "* ]]; then return; fi
    # shellcheck disable=SC2086 # the arguments are words
    if [[ ! -e $folder/run.toml ]]; then "$program" run $run --out "$folder" --quiet; fi
    # shellcheck disable=SC2086
    made=$("$program" render "$folder" $render --size 640x360 --quiet)
    cp "$made" "docs/gallery/$name.png"
    printf '%s\n' "docs/gallery/$name.png"
}

picture duck "A rubber duck, a wooden crate and an iron ball meet a dam break" \
    "scenes/start/duck.toml" "--frame 24 --quality good"
picture catapult "A block catapults others into a wall of water (Carlson 2004, Fig. 1)" \
    "scenes/carlson-2004/catapult.toml" "--frame 18 --quality good"
picture two_balls "A ball of lead and one of wood, thrown into a tank (Carlson 2004, Fig. 2)" \
    "scenes/carlson-2004/two_balls.toml" "--frame 8 --quality good"
picture boat "A light sphere lies in a boat, a heavy one will sink it (Robinson-Mosher 2008, Fig. 2)" \
    "scenes/robinson-mosher-2008/boat.toml --scale 0.25" "--frame 60 --quality good"
picture post "Water breaks past a post" \
    "scenes/start/post.toml --set domain.resolution=80 --set scene.duration=0.8" "--frame 9 --quality good"
picture dam_break "A column of water collapses" \
    "scenes/start/dam_break.toml --set domain.resolution=64 --set output.particles=true" "--frame 20 --quality good"
picture collapse "The same column, a third of a second after it was let go" \
    "scenes/start/dam_break.toml --set domain.resolution=64 --set output.particles=true" "--frame 9 --quality good"
picture fountain "A fountain" \
    "scenes/start/fountain.toml --set domain.resolution=54" "--frame 34 --quality good"
picture stirrer "A paddle stirs a tank" \
    "scenes/start/stirrer.toml --set domain.resolution=60" "--frame 40 --quality good"
picture cut_away "The same paddle, cut open" \
    "scenes/start/stirrer.toml --set domain.resolution=60" "--frame 40 --quality good --cut z=0.55"
picture particles "Particles, coloured by speed" \
    "scenes/start/dam_break.toml --set domain.resolution=64 --set output.particles=true" "--frame 14 --quality good --particles"
picture pressure "Pressure on a plane through the dam break" \
    "scenes/start/dam_break.toml --set domain.resolution=64 --set output.particles=true" "--frame 14 --slice pressure"
picture vorticity "Vorticity on a plane through the stirred tank" \
    "scenes/start/stirrer.toml --set domain.resolution=60" "--frame 40 --slice vorticity --plane y=0.12"
picture slab "Two dimensions: a slab" "scenes/start/slab.toml" "--frame 20"
picture slab_speed "The slab, coloured by speed" "scenes/start/slab.toml" "--frame 20 --slice speed"
