#!/usr/bin/env bash
# Tests of the ./flotsam script itself, in a sandbox: a copy of the script in a folder with a space in its name, and
# stand-ins for dpkg-query, apt-get, id, sudo and cmake that record how they were called.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
repo="$sandbox/a repo"
fakes=$sandbox/fakes
calls=$sandbox/calls
failures=0
unset FLOTSAM_BUILD_DIR FLOTSAM_NO_INSTALL

fake() {  # NAME: a stand-in program; its body comes from standard input
    { printf '#!/bin/bash\n'; cat; } >"$fakes/$1"
    chmod +x "$fakes/$1"
}

fresh_sandbox() {
    rm -rf "$repo" "$fakes"
    mkdir -p "$repo/src" "$repo/apps" "$repo/tests" "$fakes"
    : >"$calls"
    cp "$source_dir/flotsam" "$repo/"
    touch "$repo/CMakeLists.txt" "$repo/CMakePresets.json" "$repo/src/one.cpp" "$repo/tests/CMakeLists.txt"
    printf '[base] # all\nalpha   # why\n\nbeta\n[test]\ngamma\n[lint]\ndelta\n' >"$repo/packages.txt"
    # Only the stand-ins and the plain tools the script needs: nothing of this machine's apt or sudo leaks in.
    local tool
    for tool in bash awk cat chmod cut dirname env find flock grep mkdir mv nproc readlink sleep sort stty tail tee touch; do
        ln -s "$(command -v "$tool")" "$fakes/$tool"
    done
    fake id <<<"echo \"\${FAKE_UID:-0}\""
    fake dpkg-query <<'FAKE'
for name in $FAKE_INSTALLED; do printf 'installed %s\n' "$name"; done
[[ -z ${FAKE_REMOVED:-} ]] || printf 'config-files %s\n' "$FAKE_REMOVED"
exit 1
FAKE
    fake apt-get <<FAKE
printf 'apt-get %s\n' "\$*" >>"$calls"
[[ \$* == *install* ]] && exit "\${FAKE_APT_STATUS:-0}"
exit 100  # an update that fails must not matter
FAKE
    # CMake: configuring writes the files that the script looks for, building makes a program that shows its arguments.
    fake cmake <<FAKE
printf 'cmake %s\n' "\$*" >>"$calls"
while [[ \$# -gt 0 ]]; do
    case \$1 in
        -B) touch "\$2/build.ninja"; printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\n' "\$PWD" >"\$2/CMakeCache.txt" ;;
        --build)
            printf '[1/1] Building\n'
            [[ -z \${FAKE_COMPILE_ERROR:-} ]] || { echo "\$FAKE_COMPILE_ERROR"; exit 1; }
            sleep "\${FAKE_BUILD_SECONDS:-0}"
            printf '#!/bin/bash\nprintf "ran in %%s:" "\$PWD"; printf " <%%s>" "\$@"; echo\n' >"\$2/flotsam"
            chmod +x "\$2/flotsam" ;;
    esac
    shift
done
FAKE
}

flotsam() {  # the script under test; leaves its output in $output and its exit status in $status
    set +e
    output=$(PATH=$fakes FAKE_INSTALLED=${FAKE_INSTALLED-alpha beta gamma delta} "$repo/flotsam" "$@" 2>&1 </dev/null)
    status=$?
    set -e
}

check() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        printf 'ok    %s\n' "$what"
    else
        printf 'FAIL  %s\n      status %s, output:\n%s\n      calls:\n%s\n' "$what" "$status" "$output" "$(cat "$calls")"
        failures=$((failures + 1))
    fi
}
says() { [[ $output == *"$1"* ]]; }
says_nothing_of() { [[ $output != *"$1"* ]]; }
called() { grep -qF -- "$1" "$calls"; }
never_called() { ! called "$1"; }
succeeds() { [[ $status == 0 ]]; }
fails() { [[ $status != 0 ]]; }
builds() { [[ $(grep -c -- --build "$calls") == "$1" ]]; }

fresh_sandbox
flotsam run "my scene.toml" --set a=1
check "builds, then passes every argument on as it is" says "ran in $PWD: <run> <my scene.toml> <--set> <a=1>"
check "installs nothing when nothing is missing" never_called apt-get
flotsam list
check "a second call does not build" builds 1
touch "$repo/src/one.cpp"
flotsam list
check "a changed source is built" builds 2
rm "$repo/src/one.cpp"
flotsam list
check "a removed source is built" builds 3
touch "$repo/tests/a_test.cpp"
flotsam list
check "a changed test is no reason to build the program" builds 3
ln -s "$repo/flotsam" "$sandbox/linked flotsam"
output=$(cd / && PATH=$fakes "$sandbox/linked flotsam" list 2>&1) || true
check "works through a symlink and keeps the current folder" says "ran in /: <list>"
rm "$sandbox/linked flotsam"
sed -i 's|=.*|=/elsewhere|' "$repo/build/CMakeCache.txt"
touch "$repo/CMakeLists.txt"
: >"$calls"
flotsam list
check "a build folder that came from elsewhere is configured anew" called "--fresh"

fresh_sandbox
FAKE_INSTALLED="alpha" FAKE_REMOVED=beta flotsam list
check "a missing package is installed" called "install beta"
check "without recommended packages" called "--no-install-recommends"
check "after an update" called "update"
check "an update that fails does not stop the install" succeeds

fresh_sandbox
FAKE_INSTALLED="" FAKE_APT_STATUS=100 flotsam demo
check "a failed install ends the call" fails
check "and says which line to run" says "apt-get install -y --no-install-recommends alpha beta"
check "and builds nothing" never_called cmake
check "packages of other sections are not asked for" says_nothing_of gamma

fresh_sandbox
FAKE_INSTALLED="alpha" FAKE_UID=1000 flotsam demo
check "without root and sudo the line is printed" says "apt-get install -y --no-install-recommends beta"
check "and apt-get is not tried" never_called apt-get
check "and the call fails" fails
fake sudo <<<"printf 'sudo %s\n' \"\$*\" >>'$calls'; exit 0"
FAKE_INSTALLED="alpha" FAKE_UID=1000 flotsam demo
check "with sudo it installs, and asks no password where nobody can type one" called "sudo -n env"

fresh_sandbox
rm "$fakes/apt-get"
flotsam demo
check "on another system it says so" says "not Debian"
check "with the whole list" says "apt-get install -y --no-install-recommends alpha beta"
FLOTSAM_NO_INSTALL=1 flotsam demo
check "and goes on when told that the libraries are there" says "<demo>"

fresh_sandbox
FAKE_COMPILE_ERROR="one.cpp:3: error: no" flotsam list
check "a failed build shows the compiler's words" says "one.cpp:3: error: no"
check "without the progress lines" says_nothing_of "[1/1]"
check "and fails" fails
flotsam list
check "and is tried again by the next call" succeeds

fresh_sandbox
for _ in 1 2 3; do
    PATH=$fakes FAKE_INSTALLED="alpha beta" FAKE_BUILD_SECONDS=0.3 "$repo/flotsam" list >/dev/null 2>&1 &
done
wait
check "calls at the same time build once" builds 1

if ((failures)); then
    printf '%s checks failed\n' "$failures"
    exit 1
fi
