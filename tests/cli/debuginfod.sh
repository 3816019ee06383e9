#!/bin/bash
# SPDX-License-Identifier: MIT
# Debug files from a server: asked for with --debuginfod and not without, with a limit of time, and what could
# not be had is said.
#
# run: once
. "${0%/*}/../lib.sh"

export HOME=$tmp DEBUGINFOD_CACHE_PATH=$tmp/cache
unset DEBUGINFOD_URLS

need_debuginfod()
{
	need_paranoid 2
	need_cmd objcopy
	"$PSTAT" version --build-options | grep -q 'libdebuginfod *\[ *on' || skip "needs libdebuginfod"
}

# A stripped program, its debug file for the server, and a recording of it.
prepare()
{
	cat >program.c <<-'END'
	volatile long sink;
	__attribute__((noinline)) static void only_in_debug_file(void) { sink++; }
	int main(void) { for (long i = 0; i < 60000000; i++) only_in_debug_file(); }
	END
	"${CC:-cc}" -g -O1 -Wl,--build-id -o program program.c 2>/dev/null || skip "needs a C compiler"
	"$PSTAT" record -q -N -e cpu-clock:u -F 2000 -o perf.data ./program >/dev/null 2>&1
	id=$("$PSTAT" buildid-list -i perf.data | awk '/program$/ { print $1 }')
	mkdir files
	objcopy --only-keep-debug program "files/$id"
	strip program
}

serve() # [SECONDS]
{
	"$PYTHON" "$ROOT/tests/cli/debuginfod.py" files port "$@" &
	server=$!
	trap 'kill $server 2>/dev/null' EXIT
	for ((i = 0; i < 3000; i++)); do
		[ -e port ] && break
		sleep 0.02
	done
	export DEBUGINFOD_URLS=http://127.0.0.1:$(<port)
}

test_only_when_asked_for()
{
	need_debuginfod
	prepare
	serve
	run "$PSTAT" report -i perf.data
	same "status" 0 "$status"
	has_not "no name" only_in_debug_file "$out"
	check "the server was not asked" test ! -e files/asked
	run "$PSTAT" report -i perf.data --debuginfod
	same "status with --debuginfod" 0 "$status"
	has "the name" '\[\.\] only_in_debug_file' "$out"
	has "the server was asked by build-id" "/buildid/$id/debuginfo" "$(<files/asked)"
	rm files/asked
	run "$PSTAT" script -i perf.data --debuginfod -F ip,sym
	has "script has it, too" only_in_debug_file "$out"
	has_not "out of the cache" "$id" "$(cat files/asked 2>/dev/null)"
}

test_not_there()
{
	need_debuginfod
	prepare
	run "$PSTAT" report -i perf.data --debuginfod
	same "without a server: status" 0 "$status"
	has "without a server: said" 'program .*DEBUGINFOD_URLS' "$err"
	rm "files/$id"
	serve
	run "$PSTAT" report -i perf.data --debuginfod
	same "not on the server: status" 0 "$status"
	has "not on the server: said" "program .*debuginfod servers don't have it" "$err"
	DEBUGINFOD_URLS=http://127.0.0.1:1 run "$PSTAT" report -i perf.data --debuginfod
	same "nobody answers: status" 0 "$status"
	has "nobody answers: said" 'program .*debuginfod' "$err"
}

test_limit_of_time()
{
	need_debuginfod
	prepare
	serve 60
	SECONDS=0
	run "$PSTAT" report -i perf.data --debuginfod --debuginfod-timeout 1
	same "status" 0 "$status"
	check "it does not wait for the answer: $SECONDS s" test "$SECONDS" -lt 50
	has "said" 'debuginfod (did not answer in time|were used up)' "$err"
}

# For another machine: the debug file comes along, also where the cache here has the program already.
test_taken_along()
{
	local where

	need_debuginfod
	"$PSTAT" version --build-options | grep -q 'libarchive *\[ *on' || skip "needs libarchive"
	prepare
	rm -rf "$HOME/.debug"
	serve
	mkdir there nowhere
	for where in beside cached; do
		[ $where = beside ] || "$PSTAT" buildid-cache -a program 2>said || fail "it is in the cache"
		run "$PSTAT" archive -i perf.data -o plain.tar
		same "$where: archived" 0 "$status"
		check_not "$where: the server was not asked" test -e files/asked
		run "$PSTAT" archive -i perf.data -o whole.tar --debuginfod
		same "$where: archived with --debuginfod" 0 "$status"
		has "$where: the server was asked" "/buildid/$id/debuginfo" "$(cat files/asked)"
		rm -rf there/.debug files/asked "$DEBUGINFOD_CACHE_PATH"
		mv program away
		HOME=$PWD/there run "$PSTAT" archive --unpack plain.tar
		has_not "$where: without it no name" only_in_debug_file "$(HOME=$PWD/there "$PSTAT" report -i perf.data 2>&1)"
		HOME=$PWD/there run "$PSTAT" archive --unpack whole.tar
		has "$where: the name, elsewhere" '\[\.\] only_in_debug_file' \
			"$(HOME=$PWD/there "$PSTAT" report -i perf.data 2>&1)"
		mv away program
	done
	run "$PSTAT" archive -i perf.data --into-recording --debuginfod
	has "into the recording: the name" '\[\.\] only_in_debug_file' \
		"$(HOME=$PWD/nowhere "$PSTAT" report --symfs "$PWD/nowhere" -i perf.data 2>&1)"
}
run_tests
