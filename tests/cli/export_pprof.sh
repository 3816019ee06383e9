#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat report --pprof`: its sums and stacks are those of `report`, whatever was recorded; and go's pprof, where it is
# (golang-go, not in `make deps`), says the same.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
cd "$tmp" || exit 1

pprof() { "$PYTHON" "$ROOT/tests/cli/export_pprof.py" "$@"; }
odd() { "$PYTHON" "$ROOT/tests/cli/odd_recording.py" "$@"; }
report() { "$PSTAT" report -i "$@" 2>said; }
record() { "$PSTAT" record -q "$@" >said 2>&1 || fail "recording $*" "status $?: $(<said)"; }
# What the table says of the samples that are shown: samples and period of each event.
totals() { report "$1" -j "${@:2}" -g none | "$PYTHON" "$ROOT/tests/cli/report_sums.py" totals; }
# rows FILE KEY COLUMN: samples of each row
rows() { report "$1" -j --no-children -g none -s "$2" | "$PYTHON" "$ROOT/tests/cli/report_sums.py" rows "$3" | sort; }

# Lines of numbers and functions: those without a name, which the table has as None and pprof by file and place, in one.
one_nameless()
{
	awk '{ n = $1; $1 = ""; sums[$0 ~ /^ (None|\[.*\])$/ ? " nameless" : $0] += n }
		END { for (name in sums) print sums[name] name }' | sort
}

# equal FILE [OPTION...]
equal()
{
	local file=$1

	shift
	report "$file" --pprof=p.gz "$@"
	same "${file##*/} $*: whole, and the sums of the table" "$(totals "$file" "$@")" "$(pprof check p.gz)"
	report "$file" --folded "$@" | LC_ALL=C sort >folded
	same "${file##*/} $*: the stacks of --folded" "$(<folded)" "$(pprof folded p.gz | LC_ALL=C sort)"
}

test_samples()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	equal deep
	has "something is there" 'level8;level7' "$(<folded)"
	equal deep --no-inline
	equal deep --comms callers --time 20%-60%
	equal deep -S burn,leaf
	report deep --pprof=p.gz --no-inline # a row of the table is of the function that others were inlined into
	same "all samples are of the process" 1 "$(pprof sums p.gz pid samples | wc -l)"
	for key in tid cpu comm; do
		same "samples of each $key" \
			"$(rows deep $key $key)" \
			"$(pprof sums p.gz $key samples | sort)"
	done
	same "samples of each function" \
		"$(rows deep sym symbol | one_nameless)" \
		"$(pprof sums p.gz function samples | one_nameless)"
}

test_tables()
{
	record -F 2000 -e cpu-clock:u,page-faults:u -g -o two -- "$WORK/callers" deep 200
	report two --pprof=p.gz
	same "two events" "$(totals two)" "$(pprof check p.gz)"
	pprof tables p.gz >seen
	has "each has its types" '^type page-faults:u_samples count$' "$(<seen)"
	has "cpu-clock counts time" '^type cpu-clock:u nanoseconds$' "$(<seen)"
	has "period, and time of day" '^time [1-9][0-9]{17,} duration [1-9][0-9]* period 500000 cpu-clock:u nanoseconds default cpu-clock:u$' \
		"$(<seen)"
	has "the program comes first, with its build-id" \
		"^mapping 0x[0-9a-f]+ 0x[0-9a-f]+ .*/callers [0-9a-f]{40} 1 1\$" "$(grep -m 1 ^mapping seen)"
	same "the event that comes first has the type that go build -pgo looks for" "type samples count" "$(grep -m 1 ^type seen)"
	line=$(grep -n 'burn(' "$ROOT/tests/work/callers.c" | head -n 1 | cut -d : -f 1)
	has "a function's start is the line of its declaration, or of its brace" "^starts burn ($line|$((line + 1)))\$" "$(<seen)"
	has "functions have their source" '^function burn burn .*callers\.c$' "$(<seen)"
	has "the command" '^comment pstat [0-9.]*: profile of .*record.*callers deep 200$' "$(<seen)"
	has "what was lost" '^comment Lost: ' "$(<seen)"
	cat >inlined.cc <<-'TEXT'
		static volatile unsigned long sink;
		struct thing {
			inline __attribute__((always_inline)) void within(long n) { while (n--) sink += n; }
			__attribute__((noinline)) void outer(long n) { within(n); }
		};
		int main() { thing t; for (int i = 0; i < 300; i++) t.outer(1000000); }
	TEXT
	need_cmd g++
	g++ -g -O1 -o inlined inlined.cc
	record -F 2000 -e cpu-clock:u -g -o inline -- ./inlined
	equal inline
	pprof tables p.gz >seen
	has "inlined functions, innermost first" '^inlined thing::within thing::outer$' "$(<seen)"
	same "starts of an inlined function and of its caller" "starts thing::outer 4 starts thing::within 3" \
		"$(grep '^starts thing' seen | sort | paste -sd ' ')"
	has "names of people and of the file" '^function thing::outer _ZN5thing5outerEl .*inlined\.cc$' "$(<seen)"
	equal inline --no-inline
	has_not "without inlined ones" '^inlined' "$(pprof tables p.gz)"
}

test_recordings()
{
	local file n=0

	set -- --symfs "$ROOT/tests/golden/symfs" --kallsyms "$ROOT/tests/golden/kallsyms" --no-branch-stack
	for file in "$ROOT"/tests/golden/*.data; do
		report "$file" "$@" --pprof=p.gz || continue
		check "${file##*/}: whole" pprof check p.gz
		same "${file##*/}: the sums of the table" "$(totals "$file" "$@")" "$(pprof check p.gz)"
		n=$((n + 1))
	done
	if [ $n -ge 20 ]; then pass "recordings were looked at"; else fail "recordings were looked at" "$n"; fi
}

test_odd()
{
	local shape

	for shape in threads names zero empty times; do
		odd $shape.data $shape
		report $shape.data --pprof=p.gz
		totals=$(totals $shape.data)
		same "$shape: whole, and the sums of the table" "${totals:-0 0}" "$(pprof check p.gz)"
	done
	report zero.data --pprof=p.gz
	has "zero periods: samples are what is shown" ' default samples$' "$(pprof tables p.gz)"
	report empty.data --pprof=p.gz
	has "no samples: said" '^comment The recording has no samples' "$(pprof tables p.gz)"
	report threads.data --pprof=p.gz
	same "10,000 threads" 10000 "$(pprof sums p.gz thread samples | wc -l)"
	record -F 2000 -e cpu-clock:u -o flat -- "$WORK/callers" deep 50
	equal flat
}

# The same bytes are in it, whether zlib can be loaded or not.
test_without_zlib()
{
	odd data names
	report data --pprof=with.gz --no-inline
	mkdir -p without && : >without/libz.so.1
	LD_LIBRARY_PATH=$PWD/without report data --pprof=stored.gz --no-inline
	has "it is told" '^pstat: the file is not compressed: libz\.so\.1: ' "$(<said)"
	check "stored: whole" pprof check stored.gz
	same "the same sums" "$(pprof check with.gz)" "$(pprof check stored.gz)"
	check "it is a gzip file" gzip -t stored.gz
	has "version says so" 'zlib .*not usable here: libz\.so\.1' "$(LD_LIBRARY_PATH=$PWD/without "$PSTAT" version --build-options)"
	check "with zlib it is smaller" test "$(stat -c %s with.gz)" -lt "$(stat -c %s stored.gz)"
}

test_places()
{
	odd data zero
	report data --pprof=p.gz
	report data --pprof >piped
	check "without a name: standard output" cmp p.gz piped
	run "$PSTAT" report -i data --pprof --json
	same "two formats" 129 "$status"
	[ ! -e /dev/full ] || run "$PSTAT" report -i data --pprof=/dev/full
	same "a full disk" 125 "$status"
}

# pprof prints samples of functions as "   902  90%  90%   902  90%  burn".
go_top() { go tool pprof -top -nodefraction=0 -nodecount=1000000 -sample_index="$2" "$1" 2>go_said | awk '$1 ~ /^[0-9]+$/ && $2 ~ /%$/ && $1 > 0 { n = $1; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ */, ""); print n, $0 }' | sed 's/ (inline)$//' | sort; }

test_go()
{
	command -v go >/dev/null || skip "needs go tool pprof (golang-go), which is not installed"
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	report deep --pprof=p.gz --no-inline
	same "go tool pprof -top: samples of each function" \
		"$(rows deep sym symbol | one_nameless)" \
		"$(go_top p.gz samples | one_nameless)"
	run go tool pprof -raw p.gz
	same "go tool pprof -raw: as many samples" "$(pprof sums p.gz comm samples | awk '{ n += $1 } END { print n }')" \
		"$(awk '/^Locations/ { exit } /^ +[0-9]+ +[0-9]+: / { n += $1 } END { print n }' <<<"$out")"
	odd data names
	report data --pprof=p.gz
	run go tool pprof -raw p.gz
	same "hostile names: go reads them" 0 "$status"
}

run_tests
