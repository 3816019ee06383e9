#!/bin/bash
# SPDX-License-Identifier: MIT
# A CPU that goes offline while it is recorded, and comes back.
# run: alone
# run: once
. "${0%/*}/../lib.sh"

need_root
need_paranoid 0
cpu=$(ls -d /sys/devices/system/cpu/cpu[0-9]*/online 2>/dev/null | tail -1)
[ -n "$cpu" ] || skip "needs a CPU that can be taken offline"
bring_back() { echo 1 >"$cpu"; }
{ echo 0 >"$cpu" && bring_back; } 2>/dev/null || skip "needs the right to take a CPU offline"
trap 'bring_back; tests_end' EXIT

cd "$tmp" || exit 1
run "$PSTAT" record -a -o x -e cpu-clock -- bash -c 'sleep 0.1; echo 0 >"$1"; sleep 0.2; echo 1 >"$1"' - "$cpu"
same "status" 0 "$status"
check "pstat evlist" "$PSTAT" evlist -i x
check "pstat script -D" "$PSTAT" script -D -i x
! command -v perf >/dev/null || check "perf script" perf script -i x
check "there are samples" test "$("$PSTAT" report --stats -i x | awk '/SAMPLE events/ { print $3; exit }')" -gt 0
number=${cpu%/online}
has "what is missing is a number" \
	"^pstat: CPU ${number##*cpu} was recorded for [0-9.]+ s of [0-9.]+ s: it went offline\$" "$err"

# A CPU whose events are switched on late, as on a busy machine, was there all the time.
if command -v strace >/dev/null && [ "$(nproc)" -gt 1 ]; then
	enable=$(strace -e trace=ioctl "$PSTAT" record -a -o x -e cpu-clock -- true 2>&1 >/dev/null | grep ioctl |
		grep -n ENABLE | sed -n 2p)
	run strace -o /dev/null -e trace=ioctl -e "inject=ioctl:delay_enter=200000:when=${enable%%:*}" \
		"$PSTAT" record -a -o x -e cpu-clock -- true
	same "status" 0 "$status"
	has_not "late is not offline" 'went offline' "$err"
fi
done_testing
