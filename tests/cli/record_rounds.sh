#!/bin/bash
# SPDX-License-Identifier: MIT
# The marks between the rounds of a recording are true: whoever replays it hands out what is older than the mark before
# the last one, so nothing behind that may be older. Snapshots of overwrite rings are older than what was taken
# meanwhile of others.
#
# run: once
. "${0%/*}/../lib.sh"

need_paranoid 2
need_cmd "$PYTHON"
exact=$WORK/exact

cat >"$tmp/rounds.py" <<'E2'
import re, sys
LINE = re.compile(r"^-?\d+ (\d+) (0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_(\w+)")
marks, newest, limit, last, wrong, timed = 0, 0, [0, 0], -1, 0, 0
for line in sys.stdin:
    found = LINE.match(line)
    if not found:
        continue
    time, offset, name = int(found.group(1)), int(found.group(2), 16), found.group(3)
    assert offset > last, "not in the order of the file"
    last = offset
    if name == "FINISHED_ROUND":
        marks, limit = marks + 1, [limit[1], newest]
    elif time:
        timed += 1
        wrong += time < limit[0]
        newest = max(newest, time)
print(marks >= int(sys.argv[1]), timed > 500, "%d of %d older" % (wrong, timed))
E2

# The page faults of what is recorded, until now.
faults() { ps -o min_flt= --ppid "$(pgrep -x -P "$pid" exact)" | awk '{ n += $1 } END { print n + 0 }'; }

# snapshots N OPTIONS...: told N times by SIGUSR2; then it ends. Each one is waited for: it is larger than what other
# events write meanwhile.
snapshots()
{
	local n=$1 i pid size until_faults

	shift
	"$PSTAT" record -o x "$@" -- "$exact" mortal forks:2 marks:60000 >/dev/null 2>"$tmp/.err" &
	pid=$!
	until [ -s x ] && ps -o comm= --ppid $pid | grep -qx exact; do sleep 0.02; done
	for ((i = 0; i < n; i++)); do
		size=$(stat -c %s x)
		until_faults=$(($(faults) + 300))
		until [ "$(faults)" -ge $until_faults ] || ! kill -0 $pid; do sleep 0.02; done
		kill -USR2 $pid
		until [ "$(stat -c %s x)" -gt $((size + 8000)) ]; do sleep 0.02; done
	done
	kill -INT $pid
	wait $pid
	"$PSTAT" script -D -i x 2>err | "$PYTHON" "$tmp/rounds.py" $n
}

truth() { same "$1" "True True 0" "$(printf '%s\n' "$2" | sed 's/ of .* older$//')"; }

test_snapshots()
{
	truth "one reader" "$(snapshots 4 --overwrite -m 64K -c 1 -e page-faults:u)"
	truth "large rings" "$(snapshots 4 --overwrite -m 512K -c 1 -e page-faults:u)"
	truth "a reader for each CPU" "$(snapshots 4 --overwrite --threads -m 64K -c 1 -e page-faults:u)"
}

test_snapshots_beside_other_events()
{
	truth "one reader" "$(snapshots 4 -m 64K -e page-faults/overwrite,period=1/u,cpu-clock/freq=4000/u)"
	truth "a reader for each CPU" \
		"$(snapshots 4 --threads -m 64K -e page-faults/overwrite,period=1/u,cpu-clock/freq=4000/u)"
}

test_without_snapshots()
{
	run "$PSTAT" record -o x -m 16K --threads -c 1 -e page-faults:u -- "$exact" forks:2 pages:10000
	truth "a reader for each CPU" "$("$PSTAT" script -D -i x 2>err | "$PYTHON" "$tmp/rounds.py" 1)"
}

run_tests
