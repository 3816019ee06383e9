#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat data convert: what perf writes of the same recording, sample by sample.
#
# run: once
. "${0%/*}/../lib.sh"

# beside NAME: perf's object and pstat's of this recording, of which a frame that perf names has the same name where its
# address is the sample's own.
beside()
{
	perf data convert --force --to-json theirs.json -i "$1" >/dev/null 2>&1
	run "$PSTAT" data convert --to-json own.json -i "$1"
	same "$1: status" 0 "$status"
	"$PYTHON" - >said <<-'EOF'
	import json
	theirs, own = json.load(open("theirs.json")), json.load(open("own.json"))
	def addresses(sample):
	    return dict(sample, callchain=[frame["ip"] for frame in sample["callchain"]])
	def say(good, text):
	    print("%s %s" % ("ok" if good else "no", text))
	head = {key: value for key, value in own["headers"].items() if key in theirs["headers"]}
	say(head == theirs["headers"], "the header")
	say(theirs["samples"], "there are samples")
	say([addresses(s) for s in theirs["samples"]] == [addresses(s) for s in own["samples"]], "the samples")
	say(list(theirs) == list(own) and list(theirs["samples"][0]) == list(own["samples"][0]), "the order of keys")
	# Functions of the program: those of libraries have several names, and its PLT has none in perf 6.1.
	known = [(a, b) for a, b in zip(theirs["samples"], own["samples"]) if b["callchain"] and
	         b["callchain"][0].get("symbol") in ("burn", "known")]
	say(known and all(a["callchain"][0] == b["callchain"][0] for a, b in known), "the names of sampled functions")
	EOF
	same "$1: as perf has it" "" "$(grep -v '^ok' said)"
	same "$1: all was compared" 5 "$(grep -c '^ok' said)"
}

test_beside_perf()
{
	need_perf
	need_paranoid 2
	perf data convert -h 2>&1 | grep -q to-json || skip "needs a perf that writes JSON"
	perf record -q -g -e cpu-clock:u -F 500 -o chains "$WORK/callers" known 50 >/dev/null
	"$PSTAT" record -q -e cpu-clock:u -F 500 -o flat "$WORK/callers" known 50 >/dev/null 2>&1
	beside chains
	beside flat
	same "white space, too" "$(head -n 5 theirs.json)" "$(head -n 5 own.json)"
}

test_fields()
{
	need_tracefs
	need_paranoid -1
	"$PSTAT" record -q -e sched:sched_switch -o switches sh -c 'sleep 0.01; sleep 0.01' >/dev/null 2>&1
	"$PSTAT" data convert --to-json switches.json -i switches
	"$PSTAT" script -F trace -i switches 2>/dev/null | grep -oE '(prev|next)_(pid|prio)=[0-9]+' >expected
	check "there are samples" [ -s expected ]
	same "fields of a tracepoint, as script has them" "$(cat expected)" \
		"$(sed -nE 's/^\t\t\t"((prev|next)_(pid|prio))": "([0-9]+)",?$/\1=\4/p' switches.json)"
}

test_own()
{
	need_paranoid 2
	"$PSTAT" record -q -e page-faults:u -c 1 -o faults true >/dev/null 2>&1
	run "$PSTAT" data convert --to-json - -i faults
	same "to standard output" 0 "$status"
	check "as JSON" "$PYTHON" -c 'import json, sys; json.loads(sys.argv[1])' "$out"
	same "all samples" "$("$PSTAT" script -i faults 2>/dev/null | wc -l)" "$(grep -c '"timestamp"' <<<"$out")"
	"$PSTAT" data convert --tod --to-json tod.json -i faults
	has "times of day: ns since 1970 have 19 digits" '"timestamp": [1-9][0-9]{18},' "$(cat tod.json)"
	has_not "those of the recording's clock have not" '"timestamp": [1-9][0-9]{18},' "$out"
	same "through a pipe, too" "$(grep -v -e captured -e data- -e feat- <<<"$out")" \
		"$("$PSTAT" inject -i faults | "$PSTAT" data convert --to-json - -i - | grep -v -e captured -e data- -e feat-)"
	size=$(stat -c %s faults)
	head -c $((size / 2)) faults >cut
	"$PSTAT" data convert --to-json cut.json -i cut 2>/dev/null
	check "a part of it is JSON as well" "$PYTHON" -m json.tool cut.json /dev/null
}

test_wrong()
{
	fails_with 129 '^pstat: data: give what to do: convert' "$PSTAT" data
	fails_with 129 '^pstat: data convert: give --to-json' "$PSTAT" data convert
	fails_with 125 'no Common Trace Format' "$PSTAT" data convert --to-ctf x
	fails_with 125 'has samples only' "$PSTAT" data convert --to-json x --all
	fails_with 125 '^pstat: x: No such file' "$PSTAT" data convert --to-json y -i x
}

run_tests
