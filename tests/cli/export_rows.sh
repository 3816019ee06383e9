#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat export`: its lines and its database have the samples, sums and stacks of `report`, whatever was recorded; and
# the database answers what its views ask.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
cd "$tmp" || exit 1

rows() { "$PYTHON" "$ROOT/tests/cli/export_rows.py" "$@"; }
odd() { "$PYTHON" "$ROOT/tests/cli/odd_recording.py" "$@"; }
report() { "$PSTAT" report -i "$@" 2>said; }
export_to() { "$PSTAT" export -i "$@" 2>said; }
record() { "$PSTAT" record -q "$@" >said 2>&1 || fail "recording $*" "status $?: $(<said)"; }
totals() { report "$1" -j "${@:2}" -g none | "$PYTHON" "$ROOT/tests/cli/report_sums.py" totals; }
# table FILE KEY COLUMN: samples of each row of the table
table() { report "$1" -j --no-children -g none -s "$2" | "$PYTHON" "$ROOT/tests/cli/report_sums.py" rows "$3" | sort; }
sqlite=$("$PSTAT" version --build-options | grep '^ *libsqlite3 *\[ on *\] *[^;]*$')
databases() { [ -n "$sqlite" ]; }

# equal FILE [OPTION...]
equal()
{
	local file=$1 name sums

	shift
	sums=$(totals "$file" "$@" --no-group)
	report "$file" --folded "$@" | LC_ALL=C sort >folded
	for name in out.jsonl out.db; do
		case $name in
		*.db) databases || continue; export_to "$file" --sqlite $name "$@" ;;
		*) export_to "$file" --jsonl $name "$@" ;;
		esac
		same "${file##*/} $* $name: as it is described, and the sums of the table" "$sums" "$(rows check $name)"
		same "${file##*/} $* $name: the stacks of --folded" "$(<folded)" "$(rows folded $name | LC_ALL=C sort)"
	done
}

test_samples()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	equal deep
	has "something is there" 'level8;level7' "$(<folded)"
	equal deep --no-inline
	for key in tid cpu comm; do
		same "samples of each $key" "$(table deep $key $key)" "$(rows rows out.jsonl $key | sort)"
	done
	same "samples of each function" "$(table deep sym symbol)" "$(rows rows out.jsonl symbol | sort)"
	equal deep --time 20%-60%
	equal deep -S burn,leaf
	export_to deep --jsonl out.jsonl
	has "the time of day" '^time str$' "$(rows types out.jsonl)"
	same "and no other than the recording's" "$(date -u -r deep +%Y-%m-%d)" \
		"$(rows rows out.jsonl time | sed 's/^[0-9]* //; s/T.*//' | sort -u | tail -n 1)"
	export_to deep --jsonl out.jsonl.gz
	check "packed by its name" gzip -t out.jsonl.gz
	check "the same in it" cmp out.jsonl <(gzip -dc out.jsonl.gz)
	export_to deep --jsonl - >piped
	check "-: standard output" cmp out.jsonl piped
	cat deep | "$PSTAT" export --jsonl through 2>said
	check "a recording through a pipe" cmp out.jsonl through
	"$PSTAT" record -q -F 2000 -e cpu-clock:u -g -o - -- "$WORK/callers" deep 50 2>said | tee live |
		"$PSTAT" export --jsonl live.jsonl 2>said
	has "from a pipe: one event, with its name" '^[0-9]+ cpu-clock:u$' "$(rows rows live.jsonl event)"
}

test_recordings()
{
	local file made n=0

	set -- --symfs "$ROOT/tests/golden/symfs" --kallsyms "$ROOT/tests/golden/kallsyms"
	for file in "$ROOT"/tests/golden/*.data; do
		made=${file##*/}
		export_to "$file" "$@" --jsonl "$made.jsonl" || continue
		report "$file" -j --no-branch-stack "$@" -g none --no-group >"$made.json"
		n=$((n + 1))
		databases || continue
		export_to "$file" "$@" --sqlite "$made.db" || fail "$made: its database"
	done
	if [ $n -ge 20 ]; then pass "recordings were looked at"; else fail "recordings were looked at" "$n"; fi
	check "lines and databases have the sums of the reports" rows agree ./*.json
}

test_odd()
{
	local shape

	for shape in threads names zero empty times modes; do
		odd $shape.data $shape
		export_to $shape.data --jsonl out.jsonl
		same "$shape: lines" "$(totals $shape.data)" "$(rows check out.jsonl)"
		databases || continue
		export_to $shape.data --sqlite out.db
		same "$shape: the database" "$(totals $shape.data)" "$(rows check out.db)"
	done
	if databases; then
		odd modes.data modes
		export_to modes.data --sqlite out.db
		same "in the kernel, not, or not said" $'33 0\n33 1\n33 None' "$(rows rows out.db kernel | LC_ALL=C sort -k 2)"
	fi
	odd times.data times
	export_to times.data --jsonl out.jsonl
	has "no time: null" '^time NoneType$' "$(rows types out.jsonl)"
	record -F 2000 -e cpu-clock:u -o flat -- "$WORK/callers" deep 50
	equal flat
	record -F 2000 -e cpu-clock:u,page-faults:u -g -o two -- "$WORK/callers" deep 50
	export_to two --jsonl out.jsonl
	same "two events" "$(totals two | xargs -n 2 | sort)" "$(rows check out.jsonl | xargs -n 2 | sort)"
	same "two events: they are told apart" "cpu-clock:u page-faults:u" \
		"$(rows rows out.jsonl event | cut -d ' ' -f 2 | sort | paste -sd ' ')"
}

test_database()
{
	databases || skip "needs libsqlite3, which this pstat is without, or which is not installed"
	need_cmd sqlite3
	record -s -F 2000 -e cpu-clock:u -g -o known -- "$WORK/callers" known 300
	export_to known --sqlite known.db
	same "with what a function called" "$(report known -j -g none -s sym --children | "$PYTHON" -c 'import json, sys
for row in json.load(sys.stdin)["events"][0]["entries"]:
    if row["columns"]["symbol"] == "one_third":
        print("%.6f" % row["columns"]["overhead_children"])')" \
		"$(sqlite3 known.db "SELECT printf('%.6f', 100.0 * (SELECT period FROM functions_total WHERE function = 'one_third')
			/ period) FROM events WHERE samples")"
	same "who called" "one_third two_thirds" \
		"$(sqlite3 known.db "SELECT caller FROM callers WHERE function = 'burn' AND caller LIKE '%third%' ORDER BY 1" | paste -sd ' ')"
	same "counts of threads" "$(report known --stdio -T -q | awk '/^# +PID/ { on = 1; next } on && NF == 3 { print $1, $2, $3 }' | sort -u)" \
		"$(sqlite3 -separator ' ' known.db "SELECT pid, tid, value FROM counts" | sort -u)"
	has "the command" 'record .*callers known 300$' "$(sqlite3 known.db "SELECT value FROM meta WHERE key = 'command'")"
	same "what was lost" "$("$PYTHON" "$ROOT/tests/cli/taken.py" known | awk '$1 == "lost_samples" { print $2 }')" \
		"$(sqlite3 known.db "SELECT value FROM meta WHERE key = 'lost_samples'")"
}

test_places()
{
	odd data zero
	fails_with 129 'give --jsonl or --sqlite' "$PSTAT" export -i data
	fails_with 129 'two files; give one' "$PSTAT" export -i data --jsonl a --sqlite b
	fails_with 125 'no/such/folder.*No such file' "$PSTAT" export -i data --jsonl no/such/folder
	fails_with 125 'nowhere: ' "$PSTAT" export -i nowhere --jsonl a
	fails_with 129 'has no comma' "$PSTAT" export -i data --jsonl a --time yesterday
	[ ! -e /dev/full ] || fails_with 125 'No space left' "$PSTAT" export -i data --jsonl /dev/full
	databases || skip "needs libsqlite3, which this pstat is without, or which is not installed"
	fails_with 125 'no/such/folder.*No such file' "$PSTAT" export -i data --sqlite no/such/folder
	fails_with 125 'regular file' "$PSTAT" export -i data --sqlite /dev/null
	mkdir folder
	fails_with 125 'regular file' "$PSTAT" export -i data --sqlite folder
	echo before >old.db
	export_to data --sqlite old.db
	same "it takes the place of what was there" "100 0" "$(rows check old.db)"
	fails_with 125 'nowhere: ' "$PSTAT" export -i nowhere --sqlite old.db
	same "which stays where there is nothing new" "100 0" "$(rows check old.db)"
	same "nothing else is left" "old.db" "$(ls | grep db)"
	head -c $(($(stat -c %s data) - 100)) data >cut
	export_to cut --sqlite cut.db
	has "of a cut recording what is there" '^9[0-9] 0$' "$(rows check cut.db)"
}

# Whoever ends it finds no half of a database; and what was there before is still there.
test_interrupted()
{
	need_paranoid 2
	databases || skip "needs libsqlite3, which this pstat is without, or which is not installed"
	"$PSTAT" record -q -F 2000 -e cpu-clock:u -g -o - -- "$WORK/callers" deep 50 2>said >live
	echo before >stop.db
	mkfifo pipe
	"$PSTAT" export -i - --sqlite stop.db <pipe 2>said &
	exec 8>pipe
	cat live >&8
	timeout 300 "$BASH" -c 'until [ "$(ls | grep -c stop.db)" = 2 ]; do sleep 0.05; done'
	kill -TERM $!
	exec 8>&-
	wait $!
	same "its status" 143 $?
	has "it says so" '^pstat: stop.db: interrupted: no database was made$' "$(<said)"
	same "nothing is left" "stop.db before" "$(ls | grep stop.db) $(<stop.db)"
}

run_tests
