#!/bin/bash
# SPDX-License-Identifier: MIT
# The memory of `pstat script` (MEMORY in its manual page): what may be asked of the system is limited, far below
# what it takes to remember every address of a recording whose addresses come once each.
#
# run: once
. "${0%/*}/../lib.sh"
need_plain_build # whose memory is its own

LIMIT_KIB=160000 # for all that the process maps
SAMPLES=60000 FRAMES=6000000 # as golden_made_here.c makes them

make_recording()
{
	[ -x "$BUILD/tests/golden/make_recordings" ] || skip "needs make_recordings, which is not built"
	recording=$tmp/many_addresses.data
	[ -e "$recording" ] ||
		check "a recording" "$BUILD/tests/golden/make_recordings" "$tmp" many_addresses.data
}

# limited OPTION...: how many of its lines have the file is in `frames`, what was complained of in $err.
limited()
{
	bash -c 'ulimit -v "$1"; shift; exec "$@"' - $LIMIT_KIB "$PSTAT" script -i "$recording" "$@" \
		2>complaints | grep -c 'opt/golden/strange' >frames
	status=${PIPESTATUS[0]}
	err=$(<complaints)
}

test_frames()
{
	make_recording
	limited
	same "exit status" 0 "$status"
	same "no complaint" "" "$err"
	same "every frame has its file" $FRAMES "$(<frames)"
}

test_json()
{
	make_recording
	limited -j -F +srcline
	same "exit status" 0 "$status"
	same "no complaint" "" "$err"
	same "every sample" $SAMPLES "$(<frames)"
}

run_tests
