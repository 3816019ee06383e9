#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may write to the folder of an output exchanges the file while it is written: what stands there then is neither
# written to nor given other rights, and gets nothing of what was found out.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

record() { "$PSTAT" record -q -N -e cpu-clock:u -F 2000 "$@"; }

# One that comes through a FIFO is being read for as long as nobody ends it.
begin_slowly() # COMMAND...: it reads ./slow
{
	record -o - -- "$WORK/callers" known 100 >piped 2>said || skip "needs a recording: $(<said)"
	mkfifo slow
	"$@" >out 2>err &
	reader=$!
	exec 8>slow
	head -c 4000 piped >&8
}
end_slowly()
{
	tail -c +4001 piped >&8
	exec 8>&-
	wait "$reader"
	status=$?
}

# wait_for PATTERN: for a file of that name, for as long as its maker lives.
wait_for()
{
	until compgen -G "$1" >/dev/null; do
		kill -0 "$reader" 2>/dev/null || return
		sleep 0.01
	done
}

# The file that is made goes away, and its name leads to one that only its owner may read.
exchange() # FILE
{
	mv "$1" taken && ln -s "$PWD/secret" "$1"
}

same_secret()
{
	same "$1: what it leads to is as it was" "600 nobody else may read this" "$(stat -c %a secret) $(<secret)"
}

make_secret()
{
	echo "nobody else may read this" >secret
	chmod 600 secret
}

test_database()
{
	need_libsqlite3
	make_secret
	mkdir theirs
	begin_slowly "$PSTAT" export -i slow --sqlite theirs/x.db
	wait_for 'theirs/x.db.*.new' || fail "it is made beside its place" "$(<err)"
	exchange theirs/x.db.*.new
	end_slowly
	same "status" 125 "$status"
	has "it is said" '^pstat: theirs/x.db: another process replaced it' "$(<err)"
	same_secret "a link"
	check_not "the link has not got the name" test -L theirs/x.db
}

test_folder_of_a_database()
{
	need_libsqlite3
	mkdir theirs other
	begin_slowly "$PSTAT" export -i slow --sqlite theirs/x.db
	wait_for 'theirs/x.db.*.new' || fail "it is made beside its place" "$(<err)"
	mv theirs moved
	ln -s other theirs
	end_slowly
	same "status" "0 " "$status $(<err)"
	same "nothing is in the folder that the name leads to" "" "$(ls -A other)"
	check "it is in the one that was meant" test -s moved/x.db
	same "and nothing is beside it" x.db "$(ls moved)"
}

# The command that is measured is as good as another user: what it puts in place of the recording gets no names.
test_symbols_in_file()
{
	record -o mine -- "$WORK/callers" known 100 2>said || skip "needs a recording: $(<said)"
	cp mine before
	run "$PSTAT" record -q -N --symbols-in-file -e cpu-clock:u -o theirs.data -- sh -c \
		'until [ -s theirs.data ]; do sleep 0.01; done; mv theirs.data taken; cp mine theirs.data'
	same "status" 125 "$status"
	has "it is said" 'theirs.data: it was changed in the meantime: nothing was written to it' "$err"
	check "the other recording is as it was" cmp before theirs.data
	check_not "nor has the one that was taken away names" grep -q 'symbols in the file' \
		<("$PSTAT" report -i taken --header-only 2>&1)
	same "nothing is beside them" "" "$(ls -- *.new 2>/dev/null)"
}

# Others' recordings, which root was asked to put names into.
test_into_others_recording()
{
	need_root
	record -o data -- "$WORK/callers" known 100 2>said || skip "needs a recording: $(<said)"
	chown 65534 data 2>/dev/null || skip "needs the right to give files away"
	cp data before
	fails_with 125 "^pstat: data: it belongs to user 65534, who would get the names" "$PSTAT" archive --into-recording data
	check "it is as it was" cmp before data
	run "$PSTAT" archive --into-recording -f data
	same "-f: status" 0 "$status"
	same "it is still theirs" 65534 "$(stat -c %u data)"
}

run_tests
