#!/bin/bash
# SPDX-License-Identifier: MIT
# The golden recordings (tests/golden, made by make_recordings.c): what report and script say about them,
# byte for byte, by the lines of tests/golden/cases.
#
# run: once
. "${0%/*}/golden.bash"
cd "$ROOT/tests/golden" || exit 1

while read -r recording expected command; do
	[[ $recording == '#'* || -z $recording ]] && continue
	names=(--symfs symfs --kallsyms kallsyms)
	# Commands that show no functions.
	[[ $command == sched* && $command != *timehist* ]] && names=()
	# shellcheck disable=SC2086 # words
	golden "$recording" "$expected" $command "${names[@]}"
done <cases

# Nothing lies there that no case reads. (arm64 and riscv64 are tests of their own.)
for file in *; do
	case $file in
	*.data) grep -q "^$file " cases || fail "$file is in a case" ;;
	*.screen*) grep -q "$file" "$ROOT/tests/cli/report_screens.sh" || fail "$file is a screen" ;;
	*.[ch] | cases | symfs | kallsyms | arm64 | riscv64) ;;
	*) grep -q "^[^#].* $file " cases || fail "$file is in a case" ;;
	esac
done

# The recordings are what their source says, to the byte; but packed ones differ with the version of libzstd.
made()
{
	local made=$tmp/made file

	mkdir "$made"
	run "$BUILD/tests/golden/make_recordings" "$made"
	if [ "$status" -ne 0 ] && [[ $err == *zstd* ]]; then
		point ok "make_recordings makes the same files" "needs libzstd"
		return
	fi
	for file in *.data symfs kallsyms; do
		[ "$file" = compressed.data ] || diff -r "$file" "$made/$file"
	done >"$tmp/differ" 2>&1
	diff <(ls "$made") <(printf '%s\n' *.data symfs kallsyms | sort) >>"$tmp/differ"
	same "make_recordings makes the same files" "" "$(<"$tmp/differ")"
	golden "$made/compressed.data" plain.report report --symfs symfs --kallsyms kallsyms
}
made
done_testing
