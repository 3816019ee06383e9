#!/bin/bash
# SPDX-License-Identifier: MIT
# A group on a process whose threads fork all the time: no member and no thread is lost. What happens
# between the opening of leader and member is chance, so it is tried often; unit/test_group_cells has each case for sure.
. "${0%/*}/../lib.sh"

group='{task-clock,page-faults,minor-faults,major-faults}'

test_group_on_a_forking_process()
{
	need_paranoid 2
	"$WORK/exact" mortal threads:12 execs:100000000 &
	storm=$!
	until [ "$(ls /proc/$storm/task | wc -l)" -ge 12 ]; do sleep 0.01; done
	lost=
	for _ in {1..40}; do
		run "$PSTAT" stat -x, -p $storm -e "$group" sleep 0.01
		[ "$status" = 0 ] || lost+="status $status: $err"$'\n'
		# On a busy machine it may not have run meanwhile: then no member was counted, and that is the truth.
		[ "$(grep -c 'not counted' <<<"$err")" != 4 ] || continue
		lost+=$(grep -E 'not (supported|counted)|forks? faster' <<<"$err")
	done
	kill $storm
	wait $storm 2>/dev/null
	same "all members are counted, each time" "" "$lost"
}

run_tests
