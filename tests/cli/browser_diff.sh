#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat diff on a terminal: the rows are those that are printed, and keys do what they say.
#
# run: once
. "${0%/*}/screen.bash"
CALLERS=$WORK/callers

test_rows_and_keys()
{
	need_paranoid 2
	"$PSTAT" record -q -o old -e cpu-clock:u -F 4000 -g -- "$CALLERS" deep 200 || fail "recorded"
	"$PSTAT" record -q -o new -e cpu-clock:u -F 4000 -g -- "$CALLERS" known 200 || fail "recorded"
	on 40 200 'until Verdict' show 'keys q' end modes -- "$PSTAT" diff old new
	has "the title says what verdicts are of" "^Differences of event 'cpu-clock:u'.*sampling noise only" "$out"
	has "heads" '^# Baseline  Delta Abs .* Verdict .*Symbol' "$out"
	has "what is certain is on top" ' certain +callers +\[\.\] burn' "$(sed -n 3p <<<"$out")"
	has "q leaves" '^status 0$' "$out"
	on 40 200 'until Verdict' 'keys Down Up Enter' 'until design effect' show 'keys Esc' 'until Verdict' 'keys P' 'until perf.hist.0' \
		'keys Enter' 'until written to perf.hist.0' 'keys f' 'until flamegraph.0.html' 'keys Enter' \
		'until written to flamegraph.0.html' 'keys End PgUp Home Right Left Tab Click ! q ? q q' end -- "$PSTAT" diff old new
	has "Enter: all of the row" 'by chance with probability' "$out"
	has "q leaves, at last" '^status 0$' "$out"
	right=$(printf ' >%.0s' {1..40})
	on 20 60 'until Verdict' "keys$right" show 'keys >' show -- "$PSTAT" diff old new
	same "Right goes as far as there is something" "$(head -20 <<<"$out")" "$(tail -n +21 <<<"$out")"
	has "the end of the heads" 'Symbol$' "$(sed -n 2p <<<"$out")"
	on 40 200 'until Verdict' 'keys ?' 'until ^Keys' show -- "$PSTAT" diff old new
	has "? has the keys of a difference" '^Enter, W  *the whole row' "$(sed -n 2p <<<"$out")"
	has_not "there is one event" '^Tab' "$out"
	has_not "keys of other views" 'unfolds|hottest' "$out"
	same "P is --stdio" "$("$PSTAT" diff old new --stdio 2>/dev/null)" "$(<perf.hist.0)"
	has "f is --flamegraph" '"verdict":\[' "$(<flamegraph.0.html)"
}

# What can be read of a damaged recording is compared, in the picture, too.
test_damaged()
{
	need_paranoid 2
	"$PSTAT" record -q -o old -e cpu-clock:u -F 4000 -g -- "$CALLERS" deep 200 || fail "recorded"
	"$PSTAT" record -q -o new -e cpu-clock:u -F 4000 -g -- "$CALLERS" known 200 || fail "recorded"
	dd if=/dev/zero of=new bs=1 seek=$(($(stat -c %s new) / 2)) count=4096 conv=notrunc 2>said
	run "$PSTAT" diff old new --flamegraph=page.html
	has "what is wrong is said" 'the rest cannot be read' "$err"
	on 40 200 'until Verdict' 'keys f' 'until flamegraph.0.html' 'keys Enter' 'until written to flamegraph.0.html' 'keys q' \
		end -- "$PSTAT" diff old new
	check "f is --flamegraph" cmp page.html flamegraph.0.html
}
run_tests
