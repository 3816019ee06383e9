#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat profile --spool: files of intervals and an index, whole at any moment, whose numbers are those of the files; how
# it ends, and what it does where nothing can be written. What stays and what goes: tests/unit/test_spool_folder.c.
#
# rights: test_intervals
. "${0%/*}/../lib.sh"

need_paranoid 2
exact=$WORK/exact
export PYTHONDONTWRITEBYTECODE=1
# Each page that is touched is a sample.
faults=(-e page-faults/period=1,name=each/u)

pprof() { "$PYTHON" "$ROOT/tests/cli/export_pprof.py" "$@"; }
# The value of a number in each line of the index, in order.
numbers() { cat spool/v1/*/*/index.jsonl | sed -nE 's/.*"'"$1"'":([0-9]+).*/\1/p'; }
sum() { awk '{ n += $1 } END { print n + 0 }'; }

# Each file has a line and each line a file, whole, with as many bytes and samples as it says.
check_spool() { same "$1: files are whole, and what their lines say" "" "$("$PYTHON" "$ROOT/tests/cli/profile_spool.py" spool 2>&1)"; }

# As the manual has it: the lines below a heading.
manual_lines()
{
	sed -n "/^\.SS $1\$/,/^\.fi\$/p" "$ROOT/man/pstat-profile.1" | sed -e '1,/^\.nf$/d' -e '/^\.fi$/d' \
		-e "s/\\\\(aq/'/g" -e 's/\\-/-/g' -e 's/\\e/\\/g'
}

lines_of_index() { cat spool/v1/*/*/index.jsonl 2>/dev/null | wc -l; }
samples_of() { sed -nE 's/.*profile: ([0-9]+) samples.*/\1/p' "$@" | sum; }
# A program that touches pages again and again, until there is a file `go`.
touching=(sh -c 'while [ ! -e go ]; do "$1" pages:50; done' sh "$exact")

test_intervals()
{
	"$PSTAT" profile --spool spool -i 0.1 "${faults[@]}" -- "${touching[@]}" >out 2>said &
	until [ "$(lines_of_index)" -ge 3 ]; do sleep 0.02; done
	: >go
	wait $!
	same "ended well" 0 $?
	check_spool intervals
	same "each sample is in one of them" "$(samples_of said)" "$(numbers samples | sum)"
	check "there are many" test "$(samples_of said)" -gt 50
	find spool -name '*.pb.gz' | sort >files
	has "how many files is said" "^\[ spool: $(wc -l <files) files, [0-9.]+ kB in spool \]$" "$(<said)"
	same "nothing is printed" "" "$(<out)"
	same "one after another" "$(numbers seq)" "$(seq "$(wc -l <files)")"
	same "no two at a time" "" "$(sed -nE 's/.*"start":"([^"]*)".*/\1/p' spool/v1/*/*/index.jsonl | sort -c 2>&1)"
	pprof tables "$(head -n 1 files)" >tables
	has "the file's time is the line's" \
		"^time $(date +%s -d "$(sed -nE '1s/.*"start":"([^"]*)".*/\1/p' spool/v1/*/*/index.jsonl)")[0-9]{9} duration $(numbers duration_ns | head -n 1) " \
		"$(<tables)"
}

# The interval that is not over is written, too. It is as long as nobody waits.
test_signals()
{
	local signal expected n=0

	while read -r signal expected; do
		rm -f ran
		"$PSTAT" profile --spool spool -i 1000 "${faults[@]}" -- sh -c '"$1" pages:500; : >ran; exec sleep 1000' sh \
			"$exact" 2>said &
		until [ -e ran ]; do sleep 0.02; done
		kill -"$signal" $!
		wait $!
		same "$signal: exit status" "$expected" $?
		check_spool "$signal"
		same "$signal: one file" $((n += 1)) "$(lines_of_index)"
		check "$signal: with what it has" test "$(numbers samples | tail -n 1)" -ge 500
	done <<-'END'
	INT 0
	TERM 143
	END
}

# Whatever is there when it is killed is whole, and the next one puts right what is missing.
test_killed()
{
	"$PSTAT" profile -q --spool spool -i 0.01 "${faults[@]}" -- "${touching[@]}" &
	until [ "$(lines_of_index)" -ge 5 ]; do sleep 0.01; done
	kill -KILL $!
	wait $! 2>/dev/null
	: >go
	find spool -name '*.pb.gz' >whole
	while read -r path; do pprof check "$path" >said 2>&1 || fail "$path is whole" "$(<said)"; done <whole
	run "$PSTAT" profile -q --spool spool "${faults[@]}" -- "$exact" pages:10
	same "the next one" 0 "$status"
	check_spool killed
	same "has put one more there" $(($(wc -l <whole) + 1)) "$(lines_of_index)"
}

test_two_writers()
{
	local pids=()

	for i in 1 2; do
		"$PSTAT" profile --spool spool -i 0.05 "${faults[@]}" -- "${touching[@]}" 2>said.$i &
		pids+=($!)
	done
	until [ "$(lines_of_index)" -ge 8 ]; do sleep 0.02; done
	: >go
	for i in "${pids[@]}"; do
		wait "$i"
		same "ended well" 0 $?
	done
	check_spool two
	same "each sample is in one of them" "$(samples_of said.1 said.2)" "$(numbers samples | sum)"
}

test_full_disk()
{
	need_cmd prlimit
	prlimit --fsize=0: "$PSTAT" profile --spool spool -i 0.05 "${faults[@]}" -- "${touching[@]}" 2> >(exec cat >said) &
	until grep -q 'measuring continues' said 2>/dev/null; do sleep 0.02; done
	has "it is said" '^pstat: spool: [0-9TZ]+_.*\.pb\.gz: File too large; measuring continues$' "$(<said)"
	same "nothing is there" "" "$(find spool -name '*.pb.gz*')"
	prlimit --pid $! --fsize=unlimited:
	until [ "$(lines_of_index)" -ge 2 ]; do sleep 0.02; done
	: >go
	wait $!
	same "exit status" 125 $?
	until grep -q '^\[ spool' said; do sleep 0.02; done
	has "and when it is over" 'files can be written again; [1-9][0-9]* could not be written$' "$(<said)"
	same "once" 1 "$(grep -c 'measuring continues' said)"
	check_spool "after it"
	check "numbers are left out" test "$(numbers seq | head -n 1)" -gt 1
	same "as many as lines say" "$(numbers seq | head -n 1)" "$(($(numbers not_written | head -n 1) + 1))"
	has "and the end" "^\[ spool: .*, $(numbers not_written | tail -n 1) could not be written \]$" "$(<said)"
}

test_limits()
{
	local name=20200101T000000Z_host_00000000000000000000000000000000_00000001.pb.gz

	mkdir -p spool/v1/2020-01-01/00
	: >spool/v1/2020-01-01/00/$name
	: >spool/v1/2020-01-01/00/$name.mine
	run "$PSTAT" profile -q --spool spool --max-age 1000d "${faults[@]}" -- "$exact" pages:10
	same "ended well" 0 "$status"
	check "old files go" test ! -e spool/v1/2020-01-01/00/$name
	check "others stay" test -e spool/v1/2020-01-01/00/$name.mine
	check_spool "by age"
	run "$PSTAT" profile -q --spool spool --max-size 1B "${faults[@]}" -- "$exact" pages:10
	same "not even one fits" 125 "$status"
	has "which is said" 'a file of [0-9]+ bytes is larger than --max-size; measuring continues' "$err"
	check_spool "by size"
	same "none is left" 0 "$(lines_of_index)"
}

test_engine_bpf()
{
	why=$("$PSTAT" profile --engine bpf -e page-faults -c 1 -f -- true 2>&1 >/dev/null | sed -n 's/.*samples are read from rings: //p')
	[ -z "$why" ] || skip "needs BPF: $why"
	"$PSTAT" profile --spool spool -i 0.1 --engine bpf "${faults[@]}" -- "${touching[@]}" 2>said &
	until [ "$(lines_of_index)" -ge 3 ]; do sleep 0.02; done
	: >go
	wait $!
	same "ended well" 0 $?
	has "counted in the kernel" '^\[ BPF: ' "$(<said)"
	check_spool bpf
	same "each sample is in one of them" "$(samples_of said)" "$(numbers samples | sum)"
}

# The manual's lines for Pyroscope, with a server that takes what they send as the documentation of its API has it.
test_to_pyroscope()
{
	need_cmd curl
	"$PSTAT" profile -q --spool spool "${faults[@]}" -- "$exact" pages:10
	cp spool/v1/*/*/*.pb.gz sent.pb.gz
	manual_lines "To Pyroscope" >lines.sh
	has "the manual has them" 'push.v1.PusherService/Push' "$(<lines.sh)"
	cat >server.py <<-'END'
		import base64, http.server, json, os, sys

		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
		        series, = body["series"]
		        sample, = series["samples"]
		        labels = {label["name"]: label["value"] for label in series["labels"]}
		        print(self.path, self.headers["Content-Type"], len(sample["ID"]), labels, flush=True)
		        with open("got.pb.gz", "wb") as f:
		            f.write(base64.b64decode(sample["rawProfile"]))
		        self.send_response(200)
		        self.end_headers()

		server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
		with open("port.new", "w") as f:
		    print(server.server_port, file=f)
		os.rename("port.new", "port")
		server.handle_request()
	END
	"$PYTHON" server.py >seen 2>server.err &
	until [ -s port ]; do sleep 0.02; done
	sed -i "s,^server=.*,server=http://127.0.0.1:$(<port)," lines.sh
	no_proxy='*' bash lines.sh >said 2>&1
	same "sent" "" "$(<said)"
	wait $!
	check "the file" cmp got.pb.gz sent.pb.gz
	has "what it is" "^/push.v1.PusherService/Push application/json 36 \{.*'service_name': 'pstat', 'host': '[^']+'\}$" "$(<seen)"
	same "it has gone" "" "$(find spool -name '*.pb.gz')"
}

test_duckdb()
{
	need_cmd duckdb
	"$PSTAT" profile -q --spool spool "${faults[@]}" -- "$exact" pages:10
	"$PSTAT" profile -q --spool spool "${faults[@]}" -- "$exact" pages:20
	manual_lines "Questions to the index" >query.sql
	has "the manual has one" 'read_json' "$(<query.sql)"
	run duckdb -csv <query.sql
	same "it is answered" 0 "$status"
	same "with all samples" "$(numbers samples | sum)" "$(tail -n +2 <<<"$out" | cut -d, -f4 | sum)"
}

test_wrong_words()
{
	local words text

	while IFS='|' read -r words text; do
		# shellcheck disable=SC2086
		run "$PSTAT" profile $words
		same "$words" 129 "$status"
		has "$words: says why" "$text" "$err"
	done <<-'END'
	--max-size 1M 1|are limits of --spool
	--spool x -f 1|--spool writes files for pprof; no other format goes with it
	--spool x --pprof=y 1|no other format
	--spool x --max-size 5 1|'5' is not a size such as 500M
	--spool x --max-age 0 1|--max-age: '0' is not a number of seconds above 0
	END
	: >file
	run "$PSTAT" profile --spool file 1
	same "a file" 125 "$status"
	has "is no folder" '^pstat: file: Not a directory$' "$err"
}

run_tests
