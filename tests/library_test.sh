#!/usr/bin/env bash
# Flotsam as a library: installed into a folder of its own, found by the example's CMake, linked and run.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_dir=$(dirname "${FLOTSAM_BINARY:-$source_dir/build/flotsam}")
folder=$build_dir/library_test
rm -rf "$folder"
mkdir -p "$folder"

fail() { printf '%s\n' "$@"; exit 1; }

cmake --install "$build_dir" --prefix "$folder/installed" >"$folder/install.log" 2>&1 || fail "$(cat "$folder/install.log")"
# The header stands alone, and nothing of ours but it is visible to users.
headers=$(cd "$folder/installed/include" && find . -type f)
[[ $headers == ./flotsam/flotsam.h ]] || fail "installed headers:" "$headers"
echo '#include <flotsam/flotsam.h>' |
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$folder/installed/include" -x c++ -

# A sanitizer's runtime comes with the options that the library was built with.
sanitize=$(sed -n 's/^FLOTSAM_SANITIZE:[A-Z]*=//p' "$build_dir/CMakeCache.txt")
cmake -S "$source_dir/examples" -B "$folder/examples" -G Ninja -DCMAKE_PREFIX_PATH="$folder/installed" \
    ${sanitize:+-DCMAKE_CXX_FLAGS=-fsanitize=$sanitize} >"$folder/configure.log" 2>&1 || fail "$(cat "$folder/configure.log")"
ninja -C "$folder/examples" >"$folder/build.log" 2>&1 || fail "$(cat "$folder/build.log")"

# The example says what it saw; the library says nothing, not to standard error either.
"$folder/examples/floating_duck" >"$folder/output.txt" 2>"$folder/errors.txt" ||
    fail "the example failed:" "$(cat "$folder/output.txt" "$folder/errors.txt")"
cat "$folder/output.txt"
[[ ! -s $folder/errors.txt ]] || fail "printed to standard error:" "$(cat "$folder/errors.txt")"
[[ $(grep -c 'duck at' "$folder/output.txt") == 9 ]] || fail "nine frames to 0.3 s were expected"
grep -q 'the same bits' "$folder/output.txt" || fail "a restored simulation went another way"

# Where it comes from: the archive has neither the program's words nor its signal handlers.
if nm -C "$folder"/installed/lib*/libflotsam.a "$folder"/installed/lib*/*/libflotsam.a 2>/dev/null | grep -E 'SignalGuard|Progress|run_scene'; then
    fail "parts of the program are in the library"
fi
