#!/bin/bash
# SPDX-License-Identifier: MIT
# A table, or a list of samples, that filters leave empty says which of them it was, and what there is instead.
#
# run: once
. "${0%/*}/../lib.sh"
cd "$ROOT/tests/golden" || exit 1
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=

# says SENTENCE COMMAND OPTION...: the only note, and no samples
says()
{
	local sentence=$1 command=$2

	shift 2
	run "$PSTAT" "$command" -i plain.data --symfs symfs --kallsyms kallsyms "$@"
	same "$command $*: status" 0 "$status"
	same "$command $*" "pstat: $sentence" "$err"
	has_not "$command $*: nothing is printed" 'main|spin' "$out"
}

for command in report script; do
	says "nothing is left by --comms 'apt': did you mean 'app'?" $command --comms apt
	says "nothing is left by --comms 'nosuch,apt': did you mean 'app'?" $command --comms nosuch,apt
	says "nothing is left by --comms 'nosuch': there are app" $command --comms nosuch
	says "nothing is left by --dsos 'libworks.so': did you mean 'libwork.so'?" $command --dsos libworks.so
	says "nothing is left by --symbols 'spinn': did you mean 'spin'?" $command --symbols spinn
	says "nothing is left by --pid '1'" $command --pid 1
	says "nothing is left by --tid '1'" $command --tid 1
	says "nothing is left by --cpu '7'" $command --cpu 7
	says "nothing is left by --time '77,78': the samples are from 1.005000 to 1.009000" $command --time 77,78
	# The first that took all that had come to it; one that took some is not to blame.
	says "nothing is left by --symbols 'spinn': did you mean 'spin'?" $command --dsos app --symbols spinn
	says "nothing is left by --comms 'apt': did you mean 'app'?" $command --symbols spin --comms apt
done
says "nothing is left by --symbol-filter: no function's name contains it" report --symbol-filter nosuch
run "$PSTAT" report -i threads_at_once.data --symfs symfs --kallsyms kallsyms --parallelism 7
same "--parallelism" "pstat: nothing is left by --parallelism '7'" "$err"
says "nothing is left by --percent-limit 100: all 4 rows are below it" report --percent-limit 100 --no-children -g none

# perf's own words have no names: its table is just as empty.
for option in "--comms nosuch" "--dsos nosuch" "--symbols nosuch"; do
	# shellcheck disable=SC2086 # words
	same "perf: $option" "" "$(perf report --stdio -i plain.data $option 2>/dev/null | grep -v '^#' | sed '/^ *$/d')"
done

# What leaves something is not spoken of, nor anything with -q; names that are printed can't be used by a terminal.
run "$PSTAT" report -i plain.data --symfs symfs --kallsyms kallsyms --comms app --dsos app,nosuch --time 0,9
same "something is left" "" "$err"
run "$PSTAT" report -q -i plain.data --symfs symfs --kallsyms kallsyms --comms nosuch
same "quiet" "" "$err"
run "$PSTAT" report -i hostile_names.data --symfs symfs --kallsyms kallsyms --comms nosuch
has_not "names are made printable" $'\e' "$err"
has "and there is a note" "nothing is left by --comms 'nosuch': there are " "$err"
done_testing
