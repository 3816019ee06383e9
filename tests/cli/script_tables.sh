#!/bin/bash
# SPDX-License-Identifier: MIT
# Scripts that make a database of a recording: they are handed the rows of its tables, as perf hands them.
#
# run: once
. "${0%/*}/../lib.sh"
golden=$ROOT/tests/golden
rows=$ROOT/tests/cli/script_tables.py
need_cmd python3
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "needs Python 3.8 for pickle's protocol 5"

perf_hands_rows() { perf script -i "$golden/plain.data" -s "$rows" 2>/dev/null | grep -q '^sample'; }

# Threads, their names and their samples: each row in front of the first one that has its number.
test_rows()
{
	run "$PSTAT" script -q -i "$golden/renamed.data" -s "$rows"
	same "status" 0 "$status"
	same "rows" "evsel|1|cycles
machine|1|-1|
thread|1|1|1|4200001|4200001
comm|1|app|1|1002000000|1
comm_thread|1|1|1
dso|1|1|app|/opt/golden/app|101112131415161718191a1b1c1d1e1f20212223
symbol|1|1|448|448|0|unknown
sample|1|1|1|1|1|1|1|0|4194752|1005000000|1|0|0|0|0|1000|0|0|84410401|0|0|0|0|0|0
comm|2|worker|1|1006000000|0
symbol|2|1|384|384|0|unknown
sample|2|1|1|1|1|1|2|0|4194688|1007000000|1|0|0|0|0|2000|0|0|84410401|0|0|0|0|0|0
comm|3|app|1|1008000000|0
sample|3|1|1|1|1|1|1|0|4194752|1009000000|1|0|0|0|0|4000|0|0|84410401|0|0|0|0|0|0
thread|2|1|2|4200002|4200002
comm|4|last|2|1011000000|0
comm_thread|2|4|2
thread|3|1|2|4200002|4200003
comm_thread|3|4|3
comm|5|second|3|1013000000|0
sample|4|1|1|3|4|1|2|0|4194688|1015000000|1|0|0|0|0|8000|0|0|84410401|0|0|0|0|0|0
end" "$out"
}

# A path is a row of the caller's path and a function: a path that is there already is not sent again.
test_call_paths()
{
	run "$PSTAT" script -q -i "$golden/no_map.data" -s "$rows"
	same "paths" "1|0|0|0
2|1|0|16
3|1|1|0
4|3|0|4198400
5|3|0|140737488355327
6|5|2|0
7|3|0|-10485752" "$(sed -n 's/^call_path|//p' <<<"$out")"
	same "of samples" "$(printf '%s\n' 2 4 6 7 0)" "$(awk -F '|' '$1 == "sample" { print $23 }' <<<"$out")"
	same "of a script that does not ask" "$(printf '%s\n' 0 0 0 0 0)" "$(sed 's/_callchains = True/_callchains = False/' "$rows" >no.py
		"$PSTAT" script -q -i "$golden/no_map.data" -s no.py | awk -F '|' '$1 == "sample" { print $23 }')"
	same "a pipe" 4 "$("$PSTAT" script -q -i - -s "$rows" <"$golden/in_a_pipe.data" | grep -c '^sample')"
}

# What a decoder of hardware traces has made of them has the event's number and its bytes, too.
test_synthesized()
{
	"$PYTHON" - "$golden/tracepoints.data" made.data <<-'X'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		attr_size, = struct.unpack_from("<Q", data, 16)
		start, size = struct.unpack_from("<QQ", data, 24)
		for at in range(start, start + size, attr_size):
		    struct.pack_into("<I", data, at, 0x80000000)
		open(sys.argv[2], "wb").write(data)
	X
	same "its bytes" "synth|6|1002|ea030000411640003412000000000000ffffffff0000000000000000" \
		"$("$PSTAT" script -q -i made.data -s "$rows" | grep '^synth|6')"
	same "tracepoints are no rows" "end" "$("$PSTAT" script -q -i "$golden/tracepoints.data" -s "$rows")"
}

# Processes that begin, name themselves and wait; the same rows as perf's.
test_switches()
{
	need_paranoid 2
	"$PSTAT" record -q -o switches.data -e cpu-clock:u --switch-events -- sh -c '(sleep 0.01); sleep 0.01' || fail "it is recorded"
	"$PSTAT" script -q -i switches.data -s "$rows" >own
	check "it waits" grep -q '^context_switch|[0-9]*|1|[0-9]*|[0-9]*|1|1|0|0|[13]$' own
	check "and goes on" grep -q '^context_switch|[0-9]*|1|[0-9]*|[0-9]*|0|0|1|1|0$' own
	has "what was executed" '^comm\|[0-9]+\|sleep\|[0-9]+\|[0-9]+\|1$' "$(<own)"
	if perf_hands_rows; then
		same "as perf" "$(perf script -i switches.data -s "$rows" 2>/dev/null | grep -e ^thread -e ^comm -e ^context)" \
			"$(grep -e ^thread -e ^comm -e ^context own)"
	fi
}

test_as_perf()
{
	local name

	perf_hands_rows || skip "needs a perf that has Python"
	for name in mem_answers out_of_order overlapping_maps tid_reuse weight_struct; do
		same "$name" "$(perf script -i "$golden/$name.data" -s "$rows" 2>/dev/null)" \
			"$("$PSTAT" script -q -i "$golden/$name.data" -s "$rows")"
	done
}

# perf's own script, with a module that does with SQLite what it asks Qt for.
test_export_to_sqlite()
{
	local sqlite

	sqlite=$(find /usr/lib/perf-core /usr/libexec/perf-core -name export-to-sqlite.py 2>/dev/null | head -n 1)
	[ "$sqlite" ] || skip "needs perf's script export-to-sqlite.py"
	python3 -c 'import sqlite3' 2>/dev/null || skip "needs Python's module sqlite3"
	mkdir PySide2
	cat >PySide2/QtSql.py <<-'X'
		import sqlite3
		class QSqlDatabase:
		    @staticmethod
		    def addDatabase(kind):
		        return QSqlDatabase()
		    def setDatabaseName(self, name):
		        self.name = name
		    def open(self):
		        self.connection = sqlite3.connect(self.name, isolation_level=None)
		class QSqlQuery:
		    def __init__(self, database):
		        self.cursor, self.values = database.connection.cursor(), []
		    def prepare(self, statement):
		        self.statement = statement
		    def addBindValue(self, value):
		        self.values.append(value)
		    def exec_(self, statement=None):
		        values, self.values = self.values, []
		        try:
		            self.cursor.execute(statement or self.statement, values)
		        except sqlite3.Error:
		            return False
		        return True
		    def next(self):
		        return self.cursor.fetchone() is not None
		    def lastError(self):
		        return self
		    def text(self):
		        return "no"
	X
	run env PYTHONPATH="$PWD" "$PSTAT" script -q -i "$golden/renamed.data" -s "$sqlite" made.db all calls callchains
	same "status" 0 "$status"
	same "what it made" "[('app', 'app', 4200001), ('app', 'app', 4200001), ('app', 'app', 4200001), ('last', 'app', 4200003)]" \
		"$(python3 -c 'import sqlite3; print(sqlite3.connect("made.db").execute("SELECT command, dso_short_name, tid FROM samples_view WHERE id > 0").fetchall())')"
}

cd "$tmp" || exit 1
run_tests
