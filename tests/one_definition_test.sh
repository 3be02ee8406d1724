#!/usr/bin/env bash
# No two files define types of the same name for all to see. The linker takes one definition's functions for both,
# and says nothing: vectors of the larger one then write beyond their end.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC2016  # awk's own variables
twice=$(find src apps bench -name '*.h' -o -name '*.cpp' | sort | xargs awk '
    FNR == 1 { hidden = 0 }
    /^namespace \{/ { hidden = 1 }
    /^\}  \/\/ namespace$/ { hidden = 0 }
    !hidden && /^(struct|class|enum class|union) [A-Za-z0-9_]+( final)?( :[^;]*)? \{/ {
        name = $1 == "enum" ? $3 : $2
        if (name in seen) print name ": " seen[name] " and " FILENAME
        seen[name] = FILENAME
        types++
    }
    END { if (types < 100) print "only " types " types found: does this test still know how they are written?" }')
printf '%s\n' "${twice:-every type is defined once}"
[[ -z $twice ]]
