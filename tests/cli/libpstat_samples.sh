#!/bin/bash
# Samples through libpstat: tests/library/samples.c does what it knows, and compares what the kernel delivers.
. "${0%/*}/../lib.sh"

program=${WORK%/work}/library/samples
[ -x "$program" ] || skip "there is no library with a sanitizer"

# Ended by a signal, it has not said all.
run "$program"
check "runs to its end" test "$status" -le 1
[ "$status" -le 1 ] || printf '# %s\n' "$err"
while IFS= read -r line; do
	case $line in
	"ok - "*) pass "${line#*- }" ;;
	"not ok - "*) fail "${line#*- }" ;;
	"skip - "*)
		line=${line#*- }
		point ok "${line% # *}" "${line##* # }"
		;;
	*) fail "a line that is no result: $line" ;;
	esac
done <<<"$out"
done_testing
