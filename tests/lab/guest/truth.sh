# SPDX-License-Identifier: MIT
# For the checks in the guest: what a workload does by its construction, what pstat and Debian's perf say,
# side by side. With the checks and requirements of tests/lib.sh; run by bash, the rest is busybox.
. /lab/lib.sh

loop=$WORK/loop
# Sets the truth of `$loop $loops`: see work/loop.S. The machine of mode exact takes two cycles for each
# instruction, and 4 ms, one turn of events that share counters, for two million.
loops_are()
{
	loops=$1
	instructions=$((2 * loops + 5 * ${#loops} + 10))
	cycles=$((2 * instructions))
}
loops_are 4000000
cell=0x$(awk '$3 == "cell" { print $1 }' "$WORK/hits.symbols")
called=0x$(awk '$3 == "called" { print $1 }' "$WORK/hits.symbols")

# times N EVENT: EVENT,EVENT,...
times() { seq "$1" | sed "s|.*|$2|" | paste -sd, -; }

# Each runs `stat -x,` with these arguments: rows in $err.
by_pstat() { run "$PSTAT" stat -x, "$@"; }
by_perf() { run perf stat -x, "$@"; }

# field N EVENT [ROW]: field N of the ROWth line of $err that has this event, the first by default.
# Fields: 1 value, 4 running time, 5 percentage, after what -I and -A put before them.
field()
{
	printf '%s\n' "$err" | awk -F, -v n="$1" -v event="$2" -v row="${3:-1}" '
		{ for (i = 1; i <= NF; i++) if ($i == event && ++seen == row) print $(i - 3 + n) }'
}
value() { field 1 "$@"; }

# For the table that the lab keeps (lab/table): what is measured, its truth, pstat's and perf's number.
row() { printf 'LAB ROW %s|%s|%s|%s\n' "$@"; }

# exactly NAME TRUTH EVENT ARGUMENTS...: pstat and perf, given the same arguments, count the truth.
exactly()
{
	local name=$1 truth=$2 event=$3 ours

	shift 3
	by_perf "$@"
	perf_said=$(value "$event")
	by_pstat "$@"
	ours=$(value "$event")
	row "$name" "$truth" "$ours" "$perf_said"
	same "$name: pstat counts the truth" "$truth" "$ours"
	same "$name: perf agrees" "$truth" "$perf_said"
}

# near PERCENT TRUTH ACTUAL
near() { awk -v most="$1" -v t="$2" -v a="$3" 'BEGIN { d = a - t; exit (d < 0 ? -d : d) * 100 > most * t }'; }

# within NAME PERCENT TRUTH ACTUAL
within()
{
	local off

	[[ $4 =~ ^[0-9]+$ ]] || { fail "$1" "not a count: '$4'
${ran:+last run: $ran
$err}"; return; }
	near "$2" "$3" "$4" && { pass "$1"; return; }
	off=$(awk -v t="$3" -v a="$4" 'BEGIN { d = a - t; print (d < 0 ? -d : d) * 100 / t }')
	fail "$1" "$4 is $off % off the truth, $3
${ran:+last run: $ran
$err}"
}

# Commands for a counting that is told when: start ARGUMENTS... (counting has not begun), then say.
start_controlled()
{
	mkfifo ctl ack
	exec 8<>ctl 9<>ack
	"$PSTAT" stat -x, -o out -D -1 --control fifo:ctl,ack "$@" &
	pstat_pid=$!
}
say()
{
	echo "$1" >&8
	IFS= read -r -t 20 answer <&9
	[ "$answer" = ack ] || fail "$1 is answered" "answer: '$answer'"
}
