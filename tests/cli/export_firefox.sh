#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat report --firefox`: what is in it is valid as the profiler's processed format has it, and its samples, stacks and
# threads are those of `report`, whatever was recorded.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
cd "$tmp" || exit 1

firefox() { "$PYTHON" "$ROOT/tests/cli/export_firefox.py" "$@"; }
odd() { "$PYTHON" "$ROOT/tests/cli/odd_recording.py" "$@"; }
report() { "$PSTAT" report -i "$@" 2>said; }
record() { "$PSTAT" record -q "$@" >said 2>&1 || fail "recording $*" "status $?: $(<said)"; }
samples() { report "$1" -j "${@:2}" -g none | "$PYTHON" "$ROOT/tests/cli/report_sums.py" totals | awk '{ for (i = 1; i <= NF; i += 2) n += $i; print n + 0 }'; }

# equal FILE [OPTION...]
equal()
{
	local file=$1

	shift
	report "$file" --firefox=p.json "$@"
	same "${file##*/} $*: valid, and the samples of the table" "$(samples "$file" "$@")" "$(firefox check p.json | cut -d ' ' -f 1)"
	report "$file" --folded "$@" | LC_ALL=C sort >folded
	same "${file##*/} $*: the stacks of --folded" "$(<folded)" "$(firefox folded p.json | LC_ALL=C sort)"
}

test_samples()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 300 2
	equal deep
	has "something is there" 'level8;level7' "$(<folded)"
	equal deep --no-inline
	equal deep --time 20%-60%
	equal deep -S burn,leaf
	report deep --firefox=p.json
	same "samples of each thread" \
		"$(report deep -j --no-children -g none -s tid | "$PYTHON" "$ROOT/tests/cli/report_sums.py" rows tid | sort)" \
		"$(firefox threads p.json | awk '{ print $1, $3 }' | sort)"
	same "the user's code" "User" "$(firefox categories p.json | awk '$1 > 100 { print $2 }')"
	first=$("$PSTAT" script -i deep -F time --ns | head -n 1) last=$("$PSTAT" script -i deep -F time --ns | tail -n 1)
	# Rounding may differ by one in the last digit.
	check "times are those of script, from the first sample on" awk -v a="${first%:*}" -v b="${last%:*}" \
		-v m="$(firefox times p.json | awk '$2 > m { m = $2 } END { print m }' OFMT=%.6f)" \
		'BEGIN { off = (b - a) * 1000 - m; exit !(m > 0 && off < 0.001 && off > -0.001) }'
	has "the interval is the recording's: 2000 a second" '^\{"meta":\{"interval":0\.500000,' "$(head -c 100 p.json)"
	same "in the order of time" "in order" "$(firefox times p.json | cut -d ' ' -f 3- | sort -u)"
	report deep --firefox=p.json.gz
	check "packed by its name" gzip -t p.json.gz
	check "the same in it" cmp p.json <(gzip -dc p.json.gz)
}

# More than what waits in memory: most of it goes through the temporary file.
test_long()
{
	record -F 8000 -e cpu-clock:u -g -o long -- "$WORK/callers" deep 600 2
	equal long
	has "there is much" '^[0-9]{4,} ' "$(firefox check p.json)"
}

test_recordings()
{
	local file n=0

	set -- --symfs "$ROOT/tests/golden/symfs" --kallsyms "$ROOT/tests/golden/kallsyms"
	for file in "$ROOT"/tests/golden/*.data; do
		report "$file" "$@" --firefox=p.json || continue
		same "${file##*/}: valid, and the samples of the table" "$(samples "$file" --no-branch-stack "$@")" \
			"$(firefox check p.json | cut -d ' ' -f 1)"
		n=$((n + 1))
	done
	if [ $n -ge 20 ]; then pass "recordings were looked at"; else fail "recordings were looked at" "$n"; fi
	report "$ROOT/tests/golden/kernel_and_module.data" "$@" --firefox=p.json
	has "kernel" ' Kernel$' "$(firefox categories p.json)"
	report "$ROOT/tests/golden/tracepoints.data" "$@" --firefox=p.json
	has "tracepoints are markers, with their fields" '^golden:task 0 schedule comm=first number=1 small=0 ' "$(firefox markers p.json)"
	report "$ROOT/tests/golden/jit_code.data" "$@" --firefox=p.json
	check "code made at run time" firefox check p.json
}

test_odd()
{
	local shape

	for shape in threads names zero empty times; do
		odd $shape.data $shape
		report $shape.data --firefox=p.json
		same "$shape: valid, and the samples of the table" "$(samples $shape.data)" "$(firefox check p.json | cut -d ' ' -f 1)"
	done
	# One function, and the two of waits, which come when all others are known.
	"$PYTHON" "$ROOT/tests/cli/newer_recording.py" waits.data plain
	report waits.data --firefox=p.json
	check "waits: valid" firefox check p.json
	has "are there" ';\[waiting\] ' "$(firefox folded p.json)"
	odd threads.data threads
	report threads.data --firefox=p.json
	same "10,000 threads" 10000 "$(firefox threads p.json | wc -l)"
	record -F 2000 -e cpu-clock:u -o flat -- "$WORK/callers" deep 50
	equal flat
}

test_events()
{
	record -F 2000 -e cpu-clock:u,page-faults:u -g -o two -- "$WORK/callers" deep 100
	equal two
	has "a track for each event" ' callers \(page-faults:u\)$' "$(firefox threads p.json)"
	same "no two are the same" "$(firefox threads p.json | wc -l)" "$(firefox check p.json | cut -d ' ' -f 2)"
}

test_switches()
{
	need_paranoid 1
	# Switches of threads without samples are left out: the shell, which waits, works for some first.
	record --switch-events -e cpu-clock -F 2000 -g -o switched -- sh -c \
		"i=0; until [ \$i = 20000 ]; do i=\$((i + 1)); done; for i in 1 2 3; do '$WORK/callers' known 20; sleep 0.02; done"
	report switched --firefox=p.json
	check "valid" firefox check p.json
	has "context switches last" '^off CPU 1 - (waits|preempted)$' "$(firefox markers p.json)"
}

test_switches_that_are_asked_for()
{
	local filter want

	odd switches.data switches
	while read -r want filter; do
		# shellcheck disable=SC2086 # words
		report switches.data --firefox=p.json $filter
		same "switches with '$filter'" "$want" "$(firefox markers p.json | grep -c '^off CPU 1 - waits$')"
	done <<-END
		2
		1 --time 0.04,0.06
		0 --time 0.04,0.0503
		1 --cpu 0
		0 --cpu 0 --time 0.04,0.06
	END
}

test_places()
{
	odd data zero
	report data --firefox=p.json
	report data --firefox >piped
	check "without a name: standard output" cmp p.json piped
	run "$PSTAT" report -i data --firefox --pprof
	same "two formats" 129 "$status"
	[ ! -e /dev/full ] || run "$PSTAT" report -i data --firefox=/dev/full
	same "a full disk" 125 "$status"
	TMPDIR=/nonexistent run "$PSTAT" report -i data --firefox=p.json
	same "few samples need no temporary file" 0 "$status"
	run "$PSTAT" report -i data --firefox=p.json --pid nobody
	same "a wrong word" 129 "$status"
}

run_tests
