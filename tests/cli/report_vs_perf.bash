#!/bin/bash
# For report_vs_perf*.sh: recordings of programs at their work, and both reports of them beside each other
# (report_vs_perf.py).
. "${BASH_SOURCE[0]%/*}/vs_perf.bash"

CALLERS=$WORK/callers
tool=$ROOT/tests/cli/report_vs_perf.py
export PSTAT PYTHONDONTWRITEBYTECODE=1

# perf names the vdso's functions where its cache has a copy. This one is not the user's.
home=${HOME:-}
export HOME=$tmp/home
mkdir "$HOME"
perf record -q --buildid-all -e cpu-clock:u -o "$HOME/data" true >/dev/null 2>&1
rm -f "$HOME/data"

# reports same|close FILE OPTIONS...
reports()
{
	local how=$1 file=$2 verdict options

	shift 2
	while IFS=$'\t' read -r verdict options <&3; do
		if [ "$verdict" = ok ]; then
			pass "$file: ${options:-no options}"
		else
			fail "$file: ${options:-no options}" "$(cat "$verdict" 2>&1)"
		fi
	done 3< <("$PYTHON" "$tool" "$how" "$file" "$@" || echo "status"$'\t'"of $tool")
}
alike() { reports same "$@"; }
close() { reports close "$@"; }

# Until a process has used the CPU for 30 ms.
await_busy()
{
	local tries=0 ticks=0

	while [ "$ticks" -lt 3 ] && [ $((tries += 1)) -le 1000 ]; do
		sleep 0.01
		ticks=$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null) || break
	done
	[ "${ticks:-0}" -ge 3 ] || fail "the program is at its work" "$(cat said 2>/dev/null)"
}

# recorded FILE RECORDER OPTION... -- PROGRAM...: for 0.25 s, in the middle of its work.
recorded()
{
	local file=$1 recorder=$2 options=() pid

	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$@" >said 2>&1 &
	pid=$!
	await_busy $pid
	"$recorder" record -q -o "$file" "${options[@]}" -p $pid -- sleep 0.25 >/dev/null 2>record_err ||
		fail "$file is recorded" "$(<record_err)"
	kill $pid
	wait $pid 2>/dev/null
}
