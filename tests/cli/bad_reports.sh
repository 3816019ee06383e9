#!/bin/bash
# SPDX-License-Identifier: MIT
# Hostile input over the whole path of report and script: recordings, ELF files, perf-PID.map, kallsyms, and
# names. Spoilt files are made by bad_reports.py from the golden recordings (tests/golden).
#
# rights: test_unreadable test_hidden_kernel_addresses
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1
golden=$ROOT/tests/golden
names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

spoilt() { check "$* spoilt" env -C "$golden" "$PYTHON" "$ROOT/tests/cli/bad_reports.py" "$PSTAT" "$@"; }

test_spoilt_files()
{
	for kind in recordings elf kallsyms jit_dump formats; do
		spoilt $kind
	done
}

# What a recording says of how its tracepoints are to be printed may be any text.
test_hostile_formats()
{
	check "formats of tracepoints" "$PYTHON" "$ROOT/tests/cli/hostile_formats.py" "$PSTAT" "$golden/tracepoints.data"
}

# Every cut of one recording through one command: the header's own, the events', in the middle of a record.
test_cut_everywhere()
{
	local bytes wrong=''

	bytes=$(stat -c %s "$golden/plain.data")
	for ((n = 0; n < bytes; n += 61)); do
		head -c "$n" "$golden/plain.data" >cut.data
		run "$PSTAT" report -i cut.data "${names[@]}"
		[[ $status -eq 0 || ($status -eq 125 && $err == *cut.data*) ]] || wrong+=" $n ($status)"
	done
	same "lengths that are not refused in words" "" "$wrong"
	head -c $((bytes - 200)) "$golden/plain.data" >cut.data
	run "$PSTAT" report -i cut.data "${names[@]}"
	same "what is there is shown: status" 0 "$status"
	has "what is there is shown" 'sort<int>' "$out"
}

test_no_recording()
{
	fails_with 125 'missing.data' "$PSTAT" report -i missing.data
	: >empty.data
	fails_with 125 'empty.data' "$PSTAT" report -i empty.data
	mkdir folder
	fails_with 125 'folder' "$PSTAT" script -i folder
	fails_with 125 'stat' "$PSTAT" script -i "$PSTAT"
	head -c 4096 /dev/urandom >noise.data
	fails_with 125 'noise.data' "$PSTAT" report --folded -i noise.data
}

test_unreadable()
{
	need_unprivileged
	cp "$golden/plain.data" closed.data
	chmod 0 closed.data
	fails_with 125 'closed.data.*[Pp]ermission denied' "$PSTAT" report -i closed.data
	cp -r "$golden/symfs" symfs
	chmod -R u+w symfs
	chmod 0 symfs/opt/golden/app
	run "$PSTAT" report -i "$golden/plain.data" --symfs symfs --kallsyms "$golden/kallsyms"
	same "a file that cannot be read: status" 0 "$status"
	has "a file that cannot be read: said" 'no symbols: /opt/golden/app .*permission denied' "$err"
}

# ---- files that are not what they were ----

compile() # FILE TEXT
{
	printf 'volatile long sink;\nint main(void) { for (long i = 0; i < 80000000; i++) sink += %s; }\n' "$2" >"$1.c"
	"${CC:-cc}" -g -O1 -Wl,--build-id -o "$1" "$1.c" 2>/dev/null || skip "needs a C compiler"
}

record() { "$PSTAT" record -N -q -e cpu-clock:u -F 2000 -o "$1" "./$2" >/dev/null 2>&1 || fail "record $2"; }
build_id() { "$PSTAT" buildid-list -i "$1" | awk -v name="/$2\$" '$2 ~ name { print $1 }'; }

test_replaced_binary()
{
	local id

	need_paranoid 2
	compile program i
	record perf.data program
	compile other '2 * i'
	"$PSTAT" report -i perf.data >before 2>&1
	has "before it is replaced" '\[\.\] main' "$(<before)"
	mv other program
	run "$PSTAT" report -i perf.data
	same "status" 0 "$status"
	has "no name out of another file" '0x0000' "$out"
	has_not "no name out of another file: main" '\[\.\] main' "$out"
	id=$(build_id perf.data program)
	has "said, with both build-ids" \
		"program .*replaced since the recording: its build-id is now [0-9a-f]{12}.*, the recording has ${id:0:12}" "$err"
}

test_debug_file_of_another_build()
{
	local id

	need_paranoid 2
	need_cmd objcopy
	compile program i
	record perf.data program
	id=$(build_id perf.data program)
	compile other '2 * i'
	mkdir -p "debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug other "debug/.build-id/${id:0:2}/${id:2}.debug"
	cp program whole
	strip program
	run "$PSTAT" report -i perf.data --debug-dir debug
	same "status" 0 "$status"
	has_not "its names are not taken" '\[\.\] main' "$out"
	has "said" "program .*${id:2}.debug.*build-id" "$err"
	objcopy --only-keep-debug whole "debug/.build-id/${id:0:2}/${id:2}.debug"
	run "$PSTAT" report -i perf.data --debug-dir debug
	has "the right one is taken" '\[\.\] main' "$out"
}

# ---- perf-PID.map; the golden recording's process is 4200001 ----

jit_report() # MAP
{
	rm -rf symfs
	cp -r "$golden/symfs" symfs
	chmod -R u+w symfs
	mkdir -p symfs/tmp
	cp "$1" symfs/tmp/perf-4200001.map
	[ $# -lt 2 ] || chown "$2" symfs/tmp/perf-4200001.map
	run "$PSTAT" report --no-children -g none -s symbol -i "$golden/jit_code.data" --symfs symfs --kallsyms /dev/null
}

test_perf_map_with_garbage()
{
	printf 'garbage\n\n10000100 100 first\n10000zzz 10 not a number\n-1 10 negative\nffffffffffffff00 1000 wraps\n' >map
	printf '10000200 100 \033[2Jsecond\r\n10000300 0 empty\n10000400 fffffffffffffff9 endless\n%5000s\n\0\0\n' x >>map
	printf '10000300 100 no line end' >>map
	jit_report map
	same "status" 0 "$status"
	has "first" '\[\.\] first' "$out"
	has "the last, without a line's end" '\[\.\] no line end' "$out"
	jit_report <(head -c 100000 /dev/urandom)
	same "noise: status" 0 "$status"
	has "noise: no names" '0x0000000010000108' "$out"
	jit_report /dev/null
	has "nothing in it: said" 'perf-4200001.map' "$err"
}

test_jit_dump_of_another_user()
{
	need_root
	rm -rf symfs
	cp -r "$golden/symfs" symfs
	mkdir symfs/tmp
	"$PYTHON" "$ROOT/tests/cli/bad_reports.py" "$PSTAT" write_jit_dump >symfs/tmp/jit-4200001.dump
	run "$PSTAT" report -g none -s symbol -i "$golden/jit_code.data" --symfs symfs --kallsyms /dev/null
	has "one's own is read" '\[\.\] jitted' "$out"
	chown 12345 symfs/tmp/jit-4200001.dump
	run "$PSTAT" report -g none -s symbol -i "$golden/jit_code.data" --symfs symfs --kallsyms /dev/null
	same "status" 0 "$status"
	has_not "refused" 'jitted' "$out"
	has "said, with both users" 'jit-4200001.dump: owned by user 12345, not by you \(user 0\)' "$err"
}

test_perf_map_of_another_user()
{
	need_root
	printf '10000100 100 first\n' >map
	jit_report map 12345
	same "status" 0 "$status"
	has_not "refused" 'first' "$out"
	has "said, with both users" 'perf-4200001.map: owned by user 12345, not by you \(user 0\)' "$err"
	has "with what to do" '-f, if it is to be trusted' "$err"
}

# ---- the kernel's names ----

test_hidden_kernel_addresses()
{
	sed 's/^[0-9a-f]*/0000000000000000/' "$golden/kallsyms" >zeroed
	run "$PSTAT" report -i "$golden/kernel_and_module.data" --symfs "$golden/symfs" --kallsyms zeroed
	same "status" 0 "$status"
	has_not "no name" 'vfs_read' "$out"
	has "said" 'no symbols: \[kernel.kallsyms\] .*kernel addresses are hidden' "$err"
	has "the sysctl is named" '^ +(sudo, or )?sysctl kernel\.(kptr_restrict=0|perf_event_paranoid)' "$err"
	printf 'no kallsyms at all\n' >garbage
	run "$PSTAT" report -i "$golden/kernel_and_module.data" --symfs "$golden/symfs" --kallsyms garbage
	same "garbage: status" 0 "$status"
	has "garbage: said" 'garbage' "$err"
}

# ---- names that no text may hold as they are ----

hostile() # WHAT COMMAND...: what its output must be, by hostile_text.py
{
	local what=$1

	shift
	"$PSTAT" "$@" -i "$golden/hostile_names.data" "${names[@]}" >text 2>messages
	same "$*: status" 0 $?
	check "$*: $what" "$PYTHON" "$ROOT/tests/cli/hostile_text.py" "$what" text
	check "$*: messages" "$PYTHON" "$ROOT/tests/cli/hostile_text.py" printable messages
}

test_hostile_names()
{
	for words in "report" "report --hierarchy" "report -s comm,dso,sym,srcline,parent --no-children" \
		"report -g flat" "report --tasks" "report --mmaps" "report -D" "report --header" \
		"script" "script -D" "script -F comm,pid,tid,event,ip,sym,symoff,dso,srcline" "evlist" "buildid-list" \
		"script --show-task-events --show-mmap-events" "report -v --group"; do
		# shellcheck disable=SC2086 # words
		[[ $words == evlist || $words == buildid-list ]] && names=()
		hostile printable $words
		names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")
	done
	hostile json report -j
	hostile json_lines script -j
	hostile separated report -t , -g none --no-children -s comm,dso,symbol
	hostile separated report -t , -g none -s comm,dso,symbol,pid -n
	hostile folded report --folded
	hostile folded report --folded -a --delimiter
}

run_tests
