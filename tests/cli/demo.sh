#!/bin/bash
# SPDX-License-Identifier: MIT
# make demo: the commands of its recipe, as make prints them, run here with the program that is tested.
. "${0%/*}/../lib.sh"

# The recipe without what it depends on (-o all): nothing is built, and all files are in this folder.
recipe()
{
	(
		unset BUILD MAKEFLAGS MAKELEVEL
		make --no-print-directory -C "$ROOT" -n -o all demo CC=cc BUILD="$tmp/here" DEMO="$tmp/here/demo"
	)
}

need_paranoid 2
[ -e "$ROOT/Makefile" ] || skip "needs the Makefile, which is not where this user may look"
need_cmd make
need_cmd cc
mkdir "$tmp/here"
recipe >"$tmp/recipe" 2>&1
same "the recipe runs pstat four times" 4 "$(grep -c 'CCACHE_DISABLE=1 *\./pstat ' "$tmp/recipe")"
cd "$ROOT" || exit 1
run env PSTAT="$PSTAT" sh -e -c "$(sed 's,\(CCACHE_DISABLE=1 *\)\./pstat ,\1"$PSTAT" ,' "$tmp/recipe")"
same "each command succeeds" 0 "$status"
has "it counts" "^ Performance counter stats for 'cc " "$err"
has "it records" '^\[ pstat record: wrote .* to .*/here/demo\.data: [1-9][0-9]* samples' "$err"
has "it reports" '^ +[0-9]+\.[0-9]+% +[^ ]' "$out"
has "it names the flame graph" "^The flame graph.*: file://$tmp/here/demo\.html\$" "$out"
check "the page is there" grep -q '"format":"pstat flamegraph"' "$tmp/here/demo.html"
done_testing
