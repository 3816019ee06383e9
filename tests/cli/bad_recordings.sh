#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings that are cut or spoilt, through every command that reads them: see bad_recordings.py. The
# readers themselves are tried at every length and byte by tests/unit/test_data_*.c and tests/fuzz.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

# With sanitizers, where a start takes five times as long, one of eight goes the whole way: the same readers have all of
# such kinds in one process (tests/fuzz/run). What is said of each is looked at without.
every=1
! has_sanitizers || every=8
spoilt() { check "$1 $2" "$PYTHON" "$ROOT/tests/cli/bad_recordings.py" "$PSTAT" $every "$@"; }
commands=("script -D --header" "evlist -v" "stat report" "buildid-list" "report --stats -I")

test_counts()
{
	"$PSTAT" stat record -I 20 -e page-faults:u,major-faults:u -o counts sleep 0.05 2>/dev/null
	for kind in cut header records; do
		spoilt $kind counts "stat report" "script -D" "evlist -v -F"
	done
	"$PSTAT" stat record -o - -e page-faults:u true >pipe
	spoilt pipe pipe "stat report" "script -D --header" "evlist"
}

test_samples()
{
	"$PSTAT" record -q -e cpu-clock:u -g -o samples ls -R "$ROOT/tests" >/dev/null 2>&1
	for kind in cut header records; do
		spoilt $kind samples "${commands[@]}"
	done
}

test_compressed()
{
	"$PSTAT" record -q -z -e cpu-clock:u -o packed ls -R "$ROOT/tests" >/dev/null 2>said ||
		skip "needs libzstd: $(head -n 1 said)"
	for kind in cut records; do
		spoilt $kind packed "${commands[@]}"
	done
}

# A map of more CPUs than there can be, and of too many threads and events, takes no memory and no time.
test_sizes()
{
	"$PSTAT" stat record -e page-faults:u -o counts true 2>/dev/null
	"$PYTHON" - counts <<-END
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		end = at + size
		while at < end:
		    kind, _, length = struct.unpack_from("<IHH", data, at)
		    if kind == 74: # CPU_MAP: a range
		        struct.pack_into("<HBBHH", data, at + 8, 2, 0, 0, 0, 65535)
		    at += length
		open("wide", "wb").write(data)
	END
	fails_with 125 'STAT \(76\): 65536 CPUs are too many' "$PSTAT" stat report -i wide
}

run_tests
