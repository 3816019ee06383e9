#!/bin/bash
# What pstat record asks of the kernel is what perf record asks on the same command line, attr by attr and
# place by place. The differences on purpose stand in record_opens.py.
. "${0%/*}/../lib.sh"
need_perf
need_cmd strace
need_cmd "$PYTHON"
need_paranoid 2
# The leak check cannot run under ptrace.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# opens PROGRAM ARGUMENT...
opens()
{
	strace -f -v -s 200 -e trace=perf_event_open,ioctl,close -e signal=none -o trace "$@" >said 2>&1 </dev/null
	"$PYTHON" "$ROOT/tests/cli/record_opens.py" $only_failed <trace
}

# beside_perf ARGUMENT...: of record.
pid=none
only_failed=
beside_perf()
{
	local theirs ours name="record $*"

	name=${name//$pid/PID}
	theirs=$(opens perf record -o x "$@")
	[ "$theirs" ] || { fail "$name: perf opens something" "$(tail -n 5 said)"; return; }
	ours=$(opens "$PSTAT" record -o x "$@")
	ran=
	same "$name" "$theirs" "$ours"
}
