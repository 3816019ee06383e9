#!/bin/bash
# SPDX-License-Identifier: MIT
# record --latency and report --latency: a program that runs alone and then in two threads. What its rows have of
# wall-clock time is worked out here from the recording's own records, and is the same whatever else the machine does.
#
# run: once
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 LC_ALL=C
golden=$ROOT/tests/golden

recorded()
{
	need_paranoid 2
	run "$PSTAT" record -q --latency -o data -e cpu-clock:u -c 500000 "$@" -- "$WORK/at_once" 150
	same "recorded" "0 " "$status $err"
}

# Of all records in their order: the threads that run, and what parts alone() and together() have by that.
counted()
{
	"$PSTAT" script -G -i data --show-switch-events --show-task-events -F tid,time,event,period,ip,sym 2>/dev/null |
		awk -v cpus="$("$PSTAT" report -i data --header-only | sed -n 's/^# nrcpus avail : //p')" '
			BEGIN { on = 1 }
			/PERF_RECORD_SWITCH *OUT/ || /PERF_RECORD_EXIT/ { on-- }
			/PERF_RECORD_SWITCH *IN/ { on++ }
			/ cpu-clock/ {
				n = on < 1 ? 1 : on > cpus ? cpus : on
				all += $3
				latency += $3 / n
				period[$NF " " n] += $3
			}
			END {
				for (row in period) {
					split(row, of, " ")
					if (of[1] == "alone" || of[1] == "together")
						printf "%.2f%%|%.2f%%|%d|[.] %s\n", 100 * period[row] / all,
							100 * period[row] / of[2] / latency, of[2], of[1]
				}
			}' | sort -t'|' -k3
}

# rows OPTION...: those of alone() and together(), columns separated by |.
rows()
{
	"$PSTAT" report --stdio -q -i data -t '|' "$@" 2>/dev/null | sed 's/ *| */|/g; s/^ *//; s/ *$//' |
		grep -E 'alone|together'
}

# near WHAT EXPECTED ACTUAL: the same lines, but for shares half way between two that can be printed (1 of 32 samples).
near()
{
	same "$1" "" "$(diff <(cut -d'|' -f3- <<<"$2") <(cut -d'|' -f3- <<<"$3"))"
	same "$1: shares" "" "$(paste -d'|' <(cut -d'|' -f1,2 <<<"$2") <(cut -d'|' -f1,2 <<<"$3") | tr -d % |
		awk -F'|' '($1 - $3) ^ 2 > 0.00013 || ($2 - $4) ^ 2 > 0.00013')"
}

test_rows_of_a_program()
{
	local all

	recorded
	all=$(rows -F overhead,latency,parallelism,sym | sort -t'|' -k3)
	has "there are rows" 'alone$' "$all"
	has "of both" 'together$' "$all"
	near "as the records have them" "$(counted)" "$all"
	same "alone runs alone" "1" "$(sed -n 's/.*|\([0-9]*\)|.* alone$/\1/p' <<<"$all")"
	same "columns by --latency" "$(awk -F'|' -v OFS='|' '{ t = $1; $1 = $2; $2 = t } 1' <<<"$all")" \
		"$(rows --latency -s parallelism,sym | sort -t'|' -k3)"
	same "--parallelism: one of them" "$(grep '|1|' <<<"$all")" \
		"$(rows --parallelism 1 -F overhead,latency,parallelism,sym | sort -t'|' -k3)"
}

# Callers get the same: all that ran, but for what the loader and the library did, came through these two.
test_callers()
{
	recorded -g
	near "without children it is what records say" "$(counted)" \
		"$(rows --no-children -g none -F overhead,latency,parallelism,sym | sort -t'|' -k3)"
	run "$PSTAT" report --stdio -q -i data -g none --latency -s sym
	same "status" 0 "$status"
	has "the columns of callers" '^ *[0-9.]+% +[0-9.]+% +[0-9.]+% +[0-9.]+% +\[.\] together' "$out"
}

# One thread that ran alone has the same of both: one column is enough.
test_alone()
{
	need_paranoid 2
	run "$PSTAT" record -q --latency -o data -e cpu-clock:u -c 500000 -- "$WORK/callers" known 100
	same "recorded" "0 " "$status $err"
	run "$PSTAT" report --stdio -i data -s sym
	has "no column of it" '^# Overhead  Symbol' "$out"
	run "$PSTAT" report --stdio -i data -s parallelism -F overhead,latency,parallelism -q
	same "all of it alone" "100.00% 100.00% 1" "$(tr -s ' ' <<<"$out" | sed 's/^ //; s/ $//; /^$/d')"
	run "$PSTAT" report --stdio -i data --latency -s sym
	has "unless it is asked for" '^# +Latency  Overhead  Symbol' "$out"
}

test_refusals()
{
	local words needs="the recording does not have the number of threads that ran at once; record it with --latency"

	for words in -a "-C 0"; do
		# shellcheck disable=SC2086 # words
		fails_with 129 "--latency: it counts a program's threads" "$PSTAT" record --latency -o x $words -- true
	done
	fails_with 129 "--latency: it counts a program's threads" "$PSTAT" record --latency -o x
	for words in --latency "-s latency,sym" "-F sym,parallelism" "--parallelism 1"; do
		# shellcheck disable=SC2086
		fails_with 129 ": $needs" "$PSTAT" report --stdio -i "$golden/plain.data" $words
	done
	cd "$golden" || exit 1
	for words in --folded --pprof=x; do
		fails_with 129 "--latency is a column of tables" "$PSTAT" report -i threads_at_once.data $words --latency
	done
	fails_with 129 "--parallelism: 'x' is not a number" "$PSTAT" report -i threads_at_once.data --parallelism x
	fails_with 129 "at least one thread runs" "$PSTAT" report -i threads_at_once.data --parallelism 0
}

run_tests
