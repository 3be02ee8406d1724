#!/usr/bin/env bash
# tests/sanitize_cases.sh: every verdict, and that a second call runs only the cases without one.
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { printf 'FAIL  %s\n' "$*"; exit 1; }

# Stands in for the test program: lists five cases, and behaves as their names say.
cat >"$folder/tests" <<'TEXT'
#!/usr/bin/env bash
cases=("passes" "fails, with a comma" "is undefined" "leaks" "hangs")
number=0
for option in "$@"; do
    case $option in
        --list-test-cases) printf '[doctest] listing\n====\n'; printf '%s\n' "${cases[@]}"; exit 0 ;;
        --first=*) number=${option#*=} ;;
    esac
done
echo "$number" >>"$(dirname "$0")/ran"
case ${cases[number - 1]} in
    passes) exit 0 ;;
    fails*) exit 1 ;;
    "is undefined") echo "a.cpp:1: runtime error: shift exponent is negative" ;;
    leaks) echo "ERROR: LeakSanitizer: detected memory leaks"; exit 23 ;;
    hangs) sleep 60 ;;
esac
TEXT
chmod +x "$folder/tests"

sanitize() {  # OPTIONS...
    status=0
    output=$("$root/tests/sanitize_cases.sh" /bin/true "$folder/tests" "$folder/cases" asan --files a,b --limit 1 "$@") || status=$?
}
expect() { [[ $output == *"$1"* ]] || fail "expected '$1' in: $output"; }

sanitize
((status != 0)) || fail "a report must make the call fail"
expect "asan: 5 cases: 1 clean, 2 reported, 1 failed, 1 unfinished after 1 s, 0 not run"
[[ $(sort "$folder/ran" | tr '\n' ' ') == "1 2 3 4 5 " ]] || fail "every case runs once"

: >"$folder/ran"
sanitize
[[ $(<"$folder/ran") == 5 ]] || fail "a second call runs only the case that did not end"
expect "1 clean, 2 reported, 1 failed, 1 unfinished"

: >"$folder/ran"
sanitize --again passes
[[ $(<"$folder/ran") == 1 ]] || fail "--again forgets verdicts, and a word chooses cases"
expect "1 clean, 0 reported, 0 failed, 0 unfinished after 1 s, 4 not run"
((status == 0)) || fail "clean cases alone are a success"
echo "ok"
