#!/bin/bash
# SPDX-License-Identifier: MIT
# For record_*.sh: what a recording holds, and what pstat said of it.
. "${BASH_SOURCE[0]%/*}/../lib.sh"

exact=$WORK/exact

# stats FILE TYPE: how many records of that type.
stats() { "$PSTAT" report --stats -i "$1" 2>/dev/null | awk -v t="$2" '$1 == t && $2 == "events:" && !n { n = $3 } END { print n + 0 }'; }

# said WORD: the number before it in the last run's closing lines.
said() { local one=${1%s}; printf "%s\n" "$err" | sed -n "/^\[ pstat record:/ s/.*[ :]\([0-9]*\) ${one}s\{0,1\}[ ,].*/\1/p" | tail -1; }

# in_perf FILE: how many samples perf reads of it; as many as pstat where there is no perf.
in_perf()
{
	command -v perf >/dev/null || { stats "$1" SAMPLE && return; }
	perf script -F event -i "$1" >script 2>err && grep -c . <script
}
