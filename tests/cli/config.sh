#!/bin/bash
# SPDX-License-Identifier: MIT
# perf's configuration: values that are options, with a note for each; pstat config, which prints and sets them.
#
# run: once
. "${0%/*}/../lib.sh"
golden=$ROOT/tests/golden
cd "$tmp" || exit 1
unset PERF_CONFIG PSTAT_CALL_GRAPH XDG_CONFIG_HOME
config=$HOME/.perfconfig

report() { "$PSTAT" report -i "$golden/plain.data" --stdio -s sym "$@" 2>err; }

test_values_are_options()
{
	report -g none >plain
	report -g none --no-children >without
	printf '[report]\n\tchildren = false\n' >"$config"
	same "a truth value" "$(<without)" "$(report -g none)"
	same "its note" "pstat: $config: report.children = false" "$(grep perfconfig err)"
	same "the command line overrides it" "$(<plain)" "$(report -g none --children)"
	printf '[report]\n\tpercent-limit = 101\n' >"$config"
	same "a number" "$(report -g none --percent-limit 101 | md5sum)" "$(PERF_CONFIG=/dev/null report -g none --percent-limit 101 | md5sum)"
	has_not "no row is left" "%" "$(report -g none | grep -v '^#')"
	printf '[call-graph]\norder = callee\n' >"$config"
	same "a word of -g" "$(PERF_CONFIG=/dev/null report -g callee)" "$(report)"
	printf '[report]\nsort_order = "dso,sym" # keys\n' >"$config"
	same "keys" "$(PERF_CONFIG=/dev/null "$PSTAT" report -i "$golden/plain.data" --stdio -s dso,sym 2>/dev/null)" \
		"$("$PSTAT" report -i "$golden/plain.data" --stdio 2>/dev/null)"
	printf '[annotate]\nhide_src_code = true\n[colors]\ntop = red\n[report]\nqueue-size = 1\n' >"$config"
	report -g none >other
	same "keys of other commands, and of perf alone" "$(<plain)" "$(<other)"
	same "without a note" "" "$(grep perfconfig err)"
	printf '[record]\ncall-graph = fp\n[report]\nskip-empty = false\n' >"$config"
	report -g none >/dev/null
	same "a key beside another one that is off" "pstat: $config: report.skip-empty = false" "$(grep perfconfig err)"
}

# Keys that are nobody's have one note in a file; perf's that mean nothing here may stand in perf's file alone.
test_unknown_keys()
{
	mkdir -p "$HOME/.config/pstat"
	report -g none >plain
	printf '[report]\nqueue-size = 1\nchildern = false\n[reprot]\na = 1\n[nobody]\nb\n' >"$config"
	printf '[colors]\ntop = red\n' >"$HOME/.config/pstat/config"
	report -g none >unknown
	same "nothing changes" "$(<plain)" "$(<unknown)"
	same "the first of each file, by its line" \
		"pstat: $config:3: 'report.childern' is no key; is 'report.children' meant?
  2 more like it: 'pstat config -l' names all
pstat: $HOME/.config/pstat/config:2: 'colors.top' is perf's and means nothing to pstat" "$(head -n 3 err)"
	run "$PSTAT" config -l
	same "all of them" "2: 3: 5: 7: 2:" "$(grep -o ':[0-9]*: ' <<<"$err" | tr -d ' ' | cut -c2- | xargs)"
	has "and what is meant" "^pstat: $config:3: 'report.childern' means nothing to pstat; is 'report.children' meant\?$" "$err"
	rm "$HOME/.config/pstat/config"
}

test_damaged_lines()
{
	report -g none >plain
	printf '[report\nchildren = false\n[report]\n  = 1\nchildren false\nsort_order = "dso\n[]\ngroup = 1\n' >"$config"
	report -g none >damaged
	same "none of them is used" "$(<plain)" "$(<damaged)"
	same "the first has a note" "pstat: $config:1: the line is not used: [ has no ], so nothing up to the next section is used
  4 more like it: 'pstat config -l' names all" "$(head -n 2 err)"
	run "$PSTAT" config -l
	same "no value is printed" "" "$out"
	same "each is named" "1: [ has no ], so nothing up to the next section is used
4: no name is before the =
5: no = is after the name
6: a quote is not closed
7: the section has no name" "$(sed -n "s,^pstat: $config:\([0-9]*\): the line is not used,\1,p" <<<"$err")"
	printf 'x = 1\n[report]\nchildren = false\n[buildid]\0dir = /x\n' >"$config"
	run "$PSTAT" config -l
	same "what is whole counts" "report.children=false" "$out"
	has "above the first section" "^pstat: $config:1: the line is not used: no \[section\] is above it$" "$err"
	has "where the text ends" "^pstat: $config:4: the line is not used: a byte 0 ends the text here$" "$err"
	printf '[buildid\ndir = /x\n' >"$config"
	run "$PSTAT" buildid-cache -l
	has "commands with a folder of their own name it" "^pstat: $config:1: the line is not used: " "$err"
	rm "$config"
}

test_wrong_values()
{
	printf '\n[report]\npercent-limit = much\n' >"$config"
	run "$PSTAT" report -i "$golden/plain.data" --stdio
	same "a value that the option does not take: status" 129 "$status"
	has "its file is named" "^pstat: $config: report.percent-limit = much$" "$err"
	printf '\n[record]\nbuild-id = wrong\n' >"$config"
	run "$PSTAT" record -q -o x -e dummy -- true
	same "a word that is none: status" 0 "$status"
	has "its line is named" "^pstat: $config:3: record.build-id = wrong is not used: it is cache, no-cache, skip or mmap" "$err"
}

test_record()
{
	need_paranoid 2
	printf '[call-graph]\nrecord-mode = dwarf\n' >"$config"
	"$PSTAT" record -q -o x -e cpu-clock:u -c 100000 -g -- true 2>err
	has "its note" "call-graph.record-mode = dwarf" "$(<err)"
	has "-g means that" sample_stack_user "$("$PSTAT" evlist -v -i x)"
	"$PSTAT" record -q -o y -e cpu-clock:u -c 100000 --call-graph fp -g -- true 2>/dev/null
	has_not "the command line says otherwise" "sample_stack_user" "$("$PSTAT" evlist -v -i y)"
	"$PSTAT" record -q -o y -e cpu-clock:u -c 100000 -- true 2>/dev/null
	has_not "nothing without -g" "CALLCHAIN" "$("$PSTAT" evlist -v -i y)"
	run env PSTAT_CALL_GRAPH=wrong "$PSTAT" record -q -o y -e dummy -g -- true
	same "the variable comes first" 129 "$status"
}

# Counting opens none of these files.
test_stat_reads_none()
{
	need_cmd strace
	strace -f -o trace "$PSTAT" stat -e dummy -- true 2>/dev/null || skip "needs ptrace"
	same "stat" "" "$(grep -E 'perfconfig|pstat/config' trace)"
}

test_files()
{
	mkdir -p "$HOME/.config/pstat"
	printf '[report]\nchildren = false\n' >"$config"
	printf '[report]\nchildren = true\n[own]\nkey\n' >"$HOME/.config/pstat/config"
	run "$PSTAT" config -l
	has "both" "report.children=false report.children=true own.key=true" "$(xargs <<<"$out")"
	has "a key that is unknown" "^pstat: $HOME/.config/pstat/config:4: 'own.key' means nothing to pstat$" "$err"
	same "one file" "report.children=false" "$("$PSTAT" config --user -l 2>/dev/null)"
	same "PERF_CONFIG alone" "" "$(PERF_CONFIG=/dev/null "$PSTAT" config -l)"
	PERF_CONFIG=$config "$PSTAT" config report.children >printed
	same "a key" "report.children=false" "$(<printed)"
	run "$PSTAT" config report.nothing
	same "a key without a value" 1 "$status"
	fails_with 129 "is not SECTION.NAME=VALUE" "$PSTAT" config x=1
	fails_with 129 "is not SECTION.NAME=VALUE" "$PSTAT" config .x=1
	fails_with 129 "one too many" "$PSTAT" config -l x.y
	fails_with 129 "one of them" "$PSTAT" config --user --system -l
}

test_set()
{
	printf '# mine\n[report]\n\tchildren = true ; so\n\tgroup = true\n[diff]\n\torder = 1\n' >"$config"
	check "it is set" "$PSTAT" config report.children=false report.sort_order='dso, sym' new.key=a diff.compute=ratio
	same "the other lines stay" '# mine
[report]
	children = false
	group = true
	sort_order = "dso, sym"
[diff]
	order = 1
	compute = ratio
[new]
	key = a' "$(<"$config")"
	same "read back" "dso, sym" "$("$PSTAT" config report.sort_order | cut -d= -f2)"
	rm "$config"
	check "a new file" "$PSTAT" config report.children=false
	same "its text" "[report] children = false" "$(xargs <"$config")"
	if command -v perf >/dev/null; then
		same "perf reads it" "report.children=false" "$(perf config report.children)"
	fi
	chmod 500 "$HOME"
	if ! is_root; then
		fails_with 125 "perfconfig: " "$PSTAT" config report.children=true
	fi
	chmod 700 "$HOME"
}

# A file of somebody else's is not believed.
test_another_users()
{
	need_root
	printf '[report]\nchildren = false\n' >"$config"
	chown 65534 "$config"
	report -g none >theirs
	has "said" "^pstat: $config is not used: it is another user's$" "$(<err)"
	rm "$config"
	same "not used" "$(report -g none)" "$(<theirs)"
}

run_tests
