#!/bin/bash
# SPDX-License-Identifier: MIT
# For golden*.sh: what a command says about a recording, byte for byte. GOLDEN_UPDATE=1 writes those expected
# outputs that are not there yet.
. "${BASH_SOURCE[0]%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=

# golden RECORDING EXPECTED COMMAND [ARGUMENT...]: EXPECTED.notes is what it says on standard error.
golden()
{
	local recording=$1 expected=$2 said=$tmp/.out

	shift 2
	run "$PSTAT" "$@" -i "$recording"
	if [[ $recording == compressed* && $err == *libzstd* ]]; then
		point ok "$recording: $*" "needs libzstd"
		return
	fi
	[[ $expected == *.notes ]] && said=$tmp/.err
	[ -e "$expected" ] || [ -z "${GOLDEN_UPDATE:-}" ] || cp "$said" "$expected"
	if [ "$status" -eq 0 ] && cmp -s "$expected" "$said"; then
		pass "$recording: $*"
	else
		fail "$recording: $*" "status $status, $(diff -a -u "$expected" "$said" | cat -v | head -60)
stderr: $(cat -v "$tmp/.err")"
	fi
}
