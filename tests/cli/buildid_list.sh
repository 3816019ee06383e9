#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat buildid-list: what perf lists, from the header and from the mappings' own records.
#
# run: once
. "${0%/*}/../lib.sh"

same_list()
{
	run "$PSTAT" buildid-list -i "$2"
	same "$1: status" 0 "$status"
	same "$1: as perf has it" "$(perf buildid-list -i "$2" | sort)" "$(sort <<<"$out")"
}

test_header()
{
	need_perf
	need_paranoid 2
	perf record -q -e page-faults:u -c 1 -o theirs ls -R "$ROOT/tests" >/dev/null
	same_list "of perf" theirs
	"$PSTAT" record -q -e page-faults:u -c 1 -o own ls -R "$ROOT/tests" >/dev/null 2>&1
	same_list "of pstat" own
	has "a program that ran" '^[0-9a-f]{40} /.*/ls$' "$out"
}

test_mappings()
{
	need_perf
	need_paranoid 2
	perf record -q --buildid-mmap -e cpu-clock:u -o mmap true 2>/dev/null ||
		skip "needs a kernel that gives build-ids with mappings"
	run "$PSTAT" buildid-list -i mmap
	has "from the records" '^[0-9a-f]{40} /.*/true$' "$out"
}

# The kernel's own beside those that pstat reads, and both in the header; perf reads such a file.
test_mappings_of_pstat()
{
	need_perf
	need_paranoid 2
	"$PSTAT" record -q -e page-faults:u -c 1 -o read ls / >/dev/null 2>&1
	run "$PSTAT" record -q --buildid-mmap -e page-faults:u -c 1 -o given ls /
	same "status" 0 "$status"
	case $err in *"build-ids of mapped files: this kernel does not report them"*) skip "needs a kernel that gives build-ids with mappings" ;; esac
	same "nothing is said" "" "$err"
	same_list "of pstat" given
	has "a program that ran" '^[0-9a-f]{40} /.*/ls$' "$out"
	same "the kernel's are the files'" "$("$PSTAT" buildid-list -i read | grep '/ls$')" "$(grep '/ls$' <<<"$out")"
	has "in the mapping's own record" "MMAP2.*<$(awk '/\/ls$/ { print $1 }' <<<"$out")>.*/ls$" \
		"$(perf script --show-mmap-events -i given)"
	"$PSTAT" record -q --buildid-mmap -B -e page-faults:u -c 1 -o bare ls / >/dev/null 2>&1
	run "$PSTAT" buildid-list -i bare
	has "without those of the header: those of the records" '^[0-9a-f]{40} /.*/ls$' "$out"
	# Without the header perf names those that were sampled only.
	perf buildid-list -i bare >theirs
	has "perf has the records', too" '^[0-9a-f]{40} /' "$(cat theirs)"
	same "and no others" "" "$(grep -vxF "$out" theirs)"
	run "$PSTAT" report -i bare -g none -s dso
	has "it is reported" '^ .*%' "$out"
	has_not "by the file that ran" 'build-id' "$err"
}

test_kernel()
{
	[ -r /sys/kernel/notes ] || skip "needs a kernel that shows its notes"
	run "$PSTAT" buildid-list -k
	same "status" 0 "$status"
	has "one line" '^[0-9a-f]{40}$' "$out"
	need_perf
	same "as perf has it" "$(perf buildid-list -k)" "$out"
}

test_kernel_maps()
{
	run "$PSTAT" buildid-list -m
	[ "$status" -eq 0 ] || { has "hidden addresses are said" 'kptr_restrict' "$err"; return; }
	has "the kernel" '^[0-9a-f]{40} +[0-9a-f]+ +[0-9a-f]+ \[kernel.kallsyms\]$' "$out"
	need_perf
	same "as perf has them" "$(perf buildid-list -m)" "$out"
}

test_hits()
{
	need_perf
	need_paranoid 2
	perf record -q -e page-faults:u -c 1 -o theirs "$WORK/callers" known 1 >/dev/null
	run "$PSTAT" buildid-list -H -i theirs
	same "status" 0 "$status"
	same "as perf has them" "$(perf buildid-list -H -i theirs | sort)" "$(sort <<<"$out")"
	"$PSTAT" record -q -B -e page-faults:u -c 1 -o bare "$WORK/callers" known 1 >/dev/null 2>&1
	run "$PSTAT" buildid-list -H -i bare
	has "without a build-id: blanks" '^ {40} /.*/callers$' "$out"
	same "as perf has them, too" "$(perf buildid-list -H -i bare | sort)" "$(sort <<<"$out")"
}

test_a_program()
{
	cp "$(type -P true)" program
	run "$PSTAT" buildid-list -i program
	same "status" 0 "$status"
	same "as readelf has it" "$(readelf -n program | awk '/Build ID:/ { print $3 }')" "$out"
	objcopy --remove-section .note.gnu.build-id program nameless
	fails_with 125 "^pstat: nameless: is not a perf.data file" "$PSTAT" buildid-list -i nameless
}

test_wrong()
{
	fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" buildid-list
	fails_with 129 "^pstat: buildid-list: 'x' is not an option" "$PSTAT" buildid-list x
	fails_with 129 '^pstat: buildid-list: -k is about this machine' "$PSTAT" buildid-list -k -i x
	fails_with 129 '^pstat: buildid-list: -m is about this machine' "$PSTAT" buildid-list -m -i x
}

run_tests
