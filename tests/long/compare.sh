#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat compare on real runs of this machine: commands that are equal seldom look different, and three percent more
# work are found. Chance decides both, and the machine's other work; hence not in check.
#
# run: alone
. "${0%/*}/../lib.sh"

# alarms N ROUNDS COMMAND1 COMMAND2 PATTERN: in how many of N comparisons a row's verdict matches.
alarms()
{
	local n found=0

	for ((n = 0; n < $1; n++)); do
		"$PSTAT" compare -r "$2" -e task-clock --threshold 0 --style none --export-json - "$3" "$4" 2>/dev/null |
			grep -qE "\"verdict\": \"($5)\"" && found=$((found + 1))
	done
	echo $found
}

test_equals()
{
	need_paranoid 2
	found=$(alarms 200 10 true true 'faster|slower|differs')
	check "at most 20 alarms: $found" test "$found" -le 20
}

test_three_percent()
{
	need_paranoid 2
	"$CC" -O1 -o work -x c - <<-'END'
		#include <stdlib.h>
		int main(int argc, char **argv)
		{
			volatile unsigned long x = 0;

			for (long i = argc > 1 ? atol(argv[1]) : 0; i; i--)
				x = x * 3 + 1;
			return 0;
		}
	END
	found=$(alarms 100 20 "./work 20000000" "./work 20600000" slower)
	check "found in at least 90 of 100: $found" test "$found" -ge 90
}
run_tests
