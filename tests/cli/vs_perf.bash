#!/bin/bash
# SPDX-License-Identifier: MIT
# For vs_perf_*.sh: perf and pstat on the same work, which knows what it does (tests/work/exact.c).
#
# Everything runs under setarch -R: addresses, and with them page faults, are the same in each run.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
need_perf
need_cmd setarch
EXACT=$WORK/exact
read -r cell called called_offset < <(setarch -R "$EXACT" where)
[ "${called_offset:-}" ] || fail "$EXACT tells where its parts are"
# Stores to a variable, exact for root and anybody else.
stores=mem:$cell:w:u
# So many events that count them.
stores_times() { seq "$1" | sed "s|.*|$stores|" | paste -sd, -; }

# Writes of nothing to this descriptor: no other program does these, nor another test.
own_fd=$((300 + $$ % 700)) # bash reads its script by 255
own_writes="fd == $own_fd && count == 0"
eval "exec $own_fd>/dev/null"

# rows PROGRAM ARGUMENT...: of stat; its rows, separated by |, without the comment line.
rows()
{
	local program=$1

	shift
	: >"$tmp/rows"
	setarch -R "$program" stat -x '|' -o "$tmp/rows" "$@" >"$tmp/said" 2>&1 </dev/null ||
		echo "status $?: $(<"$tmp/said")"
	grep -v -e '^#' -e '^$' "$tmp/rows"
}

# counted PROGRAM ARGUMENT...: only the values, one line each.
counted() { rows "$@" | cut -d '|' -f 1; }

# exactly NAME VALUES ARGUMENT...: pstat counts these values, and perf does.
exactly()
{
	local name=$1 want=${2// /$'\n'}

	shift 2
	ran=
	same "$name, perf" "$want" "$(counted perf "$@")"
	same "$name, pstat" "$want" "$(counted "$PSTAT" "$@")"
}

# Waits until N tasks of process PID are in their `wait`: they catch SIGUSR1, and don't block it.
await_waiting()
{
	local tries=0 ready

	while [ $((tries += 1)) -le 6000 ]; do
		ready=$(cat /proc/"$1"/task/*/status 2>/dev/null | awk '
			$1 == "SigBlk:" { free = substr($2, length($2) - 2, 1) !~ /[2367abef]/ }
			$1 == "SigCgt:" && free && substr($2, length($2) - 2, 1) ~ /[2367abef]/ { n++ }
			END { print n + 0 }')
		[ "$ready" -ge "$2" ] && return
		sleep 0.01
	done
	echo "# process $1 does not come to its wait"
	return 1
}

# waiting N ARGUMENT...: $EXACT ARGUMENT... in the background, $pid, with N tasks at their wait. Its parent, $holder, does not
# wait for it: its CPU time, which pstat compares, can be read when it has ended.
waiting()
{
	local n=$1

	shift
	rm -f "$tmp/held"
	bash -c 'setarch -R "$@" & echo $! >"$0.new"; mv "$0.new" "$0"; exec sleep 60' "$tmp/held" "$EXACT" "$@" \
		>/dev/null 2>&1 &
	holder=$!
	until [ -e "$tmp/held" ]; do sleep 0.01; done
	pid=$(<"$tmp/held")
	await_waiting $pid "$n" || fail "the work is ready"
}

# The command that lets process PID go on, and returns when it has ended.
cat >"$tmp/release" <<'END'
#!/bin/bash
while [ -e "/proc/$1" ] && [ "$(awk '$1 == "State:" { print $2 }' "/proc/$1/status" 2>/dev/null)" != Z ]; do
	kill -USR1 "$1" 2>/dev/null
	read -r -t 0.002 <> <(:)
done
exit 0
END
chmod +x "$tmp/release"
release=$tmp/release

# ---- formats ----

# show FORMAT PROGRAM ARGUMENT...: what goes to stderr, or into the file named file, into PROGRAM.FORMAT.
show()
{
	local format=$1 program=$2 words=(--no-big-num) to=${2##*/}.$1

	shift 2
	case $format in
	csv) words=(-x '|') ;;
	json) words=(-j) ;;
	esac
	setarch -R "$program" stat "${words[@]}" "$@" >said 2>"$to" </dev/null || echo "status $?" >>"$to"
	[ ! -e file ] || mv file "$to"
}

# same_shape NAME FORMAT...: of what show() has left. JSON that is none makes a difference. With order=sort
# the order of lines does not.
same_shape()
{
	local name=$1 format files=()

	shift
	for format in "$@"; do
		files+=("perf.$format" "${PSTAT##*/}.$format")
	done
	"$PYTHON" "$ROOT/tests/cli/shape.py" "${files[@]}" -- "${exact_events[@]}" ~task-clock:u ~cycles:u
	ran=
	for format in "$@"; do
		same "$name: $format" "$(${order:-cat} "perf.$format.shape")" \
			"$(${order:-cat} "${PSTAT##*/}.$format.shape")"
	done
}

# alike NAME ARGUMENT...: in all formats, or those in $formats.
alike()
{
	local name=$1 format

	shift
	for format in ${formats:-text csv json}; do
		show "$format" perf "$@"
		show "$format" "$PSTAT" "$@"
	done
	same_shape "$name" ${formats:-text csv json}
}

# What measures whole CPUs: events that only this test causes, work on CPU 0.
whole_cpus()
{
	need_tracefs
	need_paranoid -1
	events=(-e dummy -e syscalls:sys_enter_write --filter "$own_writes" -e task-clock)
	exact_events=(dummy syscalls:sys_enter_write "~task-clock" "~cycles")
	work=(taskset -c 0 "$EXACT" writes:20:$own_fd)
	need_cmd taskset
	taskset -c 0 true || skip "needs CPU 0"
}
