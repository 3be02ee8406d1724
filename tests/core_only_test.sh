#!/usr/bin/env bash
# The numerical core builds with the standard library, Eigen and TBB alone, and simulates a ball in a dam break.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(dirname "${FLOTSAM_BINARY:-$source_dir/build/flotsam}")/core_only

# Without optimisation: what counts is that it builds. Kept between calls, so that a second one only builds what changed.
cmake -S "$source_dir" -B "$folder" -G Ninja -DFLOTSAM_CORE_ONLY=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DFLOTSAM_NATIVE=OFF >"$folder.log" 2>&1 ||
    { cat "$folder.log"; exit 1; }
nice -n 5 ninja -C "$folder" -j"$(nproc)" >"$folder.log" 2>&1 || { tail -n 30 "$folder.log"; exit 1; }

# Every header that the compiler opened outside of the sources: of the compiler, of the system, of Eigen or of TBB.
ninja -C "$folder" -t deps | sed -n 's/^    //p' | sort -u >"$folder.headers"
for needed in eigen3 tbb; do  # does it see anything at all?
    grep -q "/$needed/" "$folder.headers" || { echo "no header of $needed among those that were opened"; exit 1; }
done
strangers=$(grep '^/' "$folder.headers" | grep -v "^$source_dir/" |
    grep -vE '^/usr/(lib/gcc|include/(c\+\+|eigen3|tbb|oneapi|linux|asm-generic|[a-z0-9_]+-linux-gnu)|local/lib/gcc)/' |
    grep -vE '^/usr/include/[a-z0-9-]+\.h$' || true)
strangers+=$(grep -E '/(png|zlib|hdf5|H5[A-Za-z]*)[a-z]*\.h$' "$folder.headers" || true)
[[ -z $strangers ]] || { printf 'the numerical core includes\n%s\n' "$strangers"; exit 1; }
if ldd "$folder/core_only" | grep -E 'openvdb|Bullet|fmt|hdf5|png|embree'; then
    echo "the numerical core is linked to these"
    exit 1
fi

"$folder/core_only"
