#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may sample the kernel but not see where its functions are is told so, once when recording and once when
# reading, with the share of the samples and what to do. Users without rights stand for kptr_restrict here: the
# machine's own setting is not touched.
#
# run: once
. "${0%/*}/../lib.sh"

[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setpriv >/dev/null || skip "needs setpriv"
[ "$(</proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "needs kptr_restrict below 2"
# as CAPABILITIES COMMAND...: another user, with these capabilities only
as()
{
	local caps=-all$1

	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
		--bounding-set="$caps" -- "$@"
}
as "" head -1 /proc/kallsyms | grep -q '^0* ' || skip "needs a user who does not see the kernel's addresses"
as ,+perfmon true 2>/dev/null || skip "needs a setpriv that knows CAP_PERFMON"
as ,+perfmon "$PSTAT" record -q -e cpu-clock:k -o /dev/null -- true >/dev/null 2>&1 || skip "needs CAP_PERFMON"
chmod 755 "$tmp"

# reading and writing, which happens in the kernel
work() { dd if=/dev/zero of=/dev/null bs=1M count=2000 2>/dev/null; }
export -f work

test_a_recorder_that_does_not_see_it()
{
	mkdir -m 777 theirs # by a relative path: the folders around it are nobody else's
	run as ,+perfmon "$PSTAT" record -e cpu-clock -o theirs/data -- bash -c work
	same "status" 0 "$status"
	same "once" 1 "$(grep -c 'kernel addresses' <<<"$err")"
	has "said when recording" '^pstat: kernel addresses are hidden \(kptr_restrict [01]\): samples in the kernel will have no names' "$err"
	has "and what to do" '^  sudo sysctl kernel\.(kptr_restrict=0|perf_event_paranoid=1)' "$err"
	run as ,+perfmon "$PSTAT" record -e cpu-clock:u -o theirs/user -- true
	has_not "not where the kernel is not sampled" 'kernel addresses' "$err"
	# Who made it is the reason, also for root.
	run "$PSTAT" report -i theirs/data
	same "once" 1 "$(grep -c 'kernel addresses' <<<"$err")"
	has "said when reading, with the share" \
		'^pstat: kernel addresses were hidden while recording: [1-9][0-9]*\.[0-9] % of the samples are in the kernel, without names' "$err"
	has "and what to do then" '^  record as root or with CAP_SYSLOG, or with sysctl kernel.kptr_restrict=0' "$err"
	has "perf says so too" 'Kernel address maps .* (are|were) restricted' \
		"$(as ,+perfmon perf record -e cpu-clock -o theirs/perf -- true 2>&1 | paste -sd ' ')"
}

test_a_reader_who_does_not_see_it()
{
	run "$PSTAT" record -e cpu-clock -o data -- bash -c work
	has_not "root is not told" 'kernel addresses' "$err"
	chmod 644 data
	run as "" "$PSTAT" report -i data -g none
	same "once" 1 "$(grep -c 'kernel addresses' <<<"$err")"
	has "said, with the share" \
		'^pstat: kernel addresses are hidden: [1-9][0-9]*\.[0-9] % of the samples are in the kernel, without names' "$err"
	has "and what to do" '^  sudo, or sysctl kernel\.' "$err"
	has_not "not again among the files" 'no symbols: .*\[kernel' "$err"
	run as "" "$PSTAT" script -i data
	has "script says it too" '^pstat: kernel addresses are hidden: functions of the kernel have no names' "$err"
	run "$PSTAT" report -i data
	has_not "root sees them" 'kernel addresses' "$err"
}

run_tests
