#!/bin/bash
# SPDX-License-Identifier: MIT
# The static file for arm64 on this machine, which emulates its instructions and has no perf events for it (qemu-aarch64):
# what reads recordings says the same there, byte for byte.
. "${0%/*}/../cli/golden.bash"
here=$PSTAT static=$ROOT/${LAB:-build/lab}/pstat/static/pstat
[ ! -e "${LAB:-build/lab}/unavailable" ] || skip "$(<"${LAB:-build/lab}/unavailable")"
[ -x "$static" ] || skip "the lab is not built: make check-lab"
command -v qemu-aarch64 >/dev/null || skip "needs qemu-aarch64, which is not installed"
printf '#!/bin/sh\nexec qemu-aarch64 "%s" "$@"\n' "$static" >"$tmp/pstat"
chmod +x "$tmp/pstat"
PSTAT=$tmp/pstat

test_one_file()
{
	same "it needs no other file" "" "$(readelf -d "$static" | grep NEEDED; readelf -l "$static" | grep INTERP)"
	has "it is for arm64, at fixed addresses" 'EXEC.*AArch64' "$(readelf -h "$static" | paste -sd ' ')"
	run "$PSTAT" version --build-options
	same "it leaves out what the one of this machine does" $'libdebuginfod\nlibsqlite3\nlibunwind' \
		"$(sed -n 's/^ *\([^ ]*\) *\[ OFF \].*/\1/p' <<<"$out" | sort)"
	has_not "and all else can be used" 'not usable' "$out"
}

# The first case of each recording for report, and for script.
test_recordings_of_x86()
{
	local recording expected command seen=

	cd "$ROOT/tests/golden" || exit 1
	while read -r recording expected command; do
		case "$recording $expected$seen" in
		\#* | *" $recording:${expected##*.} "*) continue ;;
		*.report* | *.script*) ;;
		*) continue ;;
		esac
		seen="$seen $recording:${expected##*.} "
		# shellcheck disable=SC2086 # words
		golden "$recording" "$expected" $command --symfs symfs --kallsyms kallsyms
	done <cases
}

test_recordings_of_arm64()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	golden dwarf_recursive.data dwarf_recursive.report report --symfs symfs -g none
	golden dwarf_recursive.data dwarf_recursive.folded report --symfs symfs --folded
	golden fp_chain.data fp_chain.script script --symfs symfs
}

test_views()
{
	local arguments expected

	cd "$ROOT/tests/golden/arm64" || exit 1
	while read -r arguments; do
		# shellcheck disable=SC2086 # words
		run "$here" $arguments
		expected=$out
		# shellcheck disable=SC2086
		run "$PSTAT" $arguments
		same "$arguments" "$expected" "$out"
		check "$arguments: it says something" test "${#out}" -gt 100
	done <<-'END'
		annotate --stdio --symfs symfs -i dwarf_recursive.data burn
		report --flamegraph=- --symfs symfs -i dwarf_recursive.data
		list --names metric
		evlist -v -i dwarf_recursive.data
	END
}
run_tests
