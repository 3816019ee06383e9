#!/bin/bash
# SPDX-License-Identifier: MIT
# Every example in README and in the manual pages is run, and prints what stands below it there, but for
# the numbers. What an example needs is said beside it (see examples.py); one that counts and says
# nothing needs to be allowed to count in the kernel.
. "${0%/*}/../lib.sh"

tool=$ROOT/tests/cli/examples.py

need_virtual()
{
	"$PSTAT" doctor | grep -q '^virtual machine  *ok  *yes' || skip "needs a virtual machine"
}

# The words behind "needs:" -> a requirement.
need_words()
{
	case $1 in
	nothing) need_paranoid 2 ;;
	root) need_root ;;
	"a user without rights")
		need_restricted 2
		[ "$(paranoid_level)" -eq 2 ] || skip "needs perf_event_paranoid 2"
		;;
	"perf_event_paranoid "*) need_paranoid "${1##* }" ;;
	tracefs) need_tracefs ;;
	"BPF programs at tracepoints") need_bpf_texts ;;
	uprobes) need_uprobes ;;
	"no counter unit") need_no_counter_unit ;;
	"a virtual machine") need_virtual ;;
	libarchive) need_libarchive ;;
	libsqlite3) need_libsqlite3 ;;
	jansson) need_jansson ;;
	/*) [ -e "$1" ] || skip "needs $1" ;;
	*) fail "the words after needs: are known" "unknown: $1" ;;
	esac
}

# Does the command line count? Then pstat is followed by options, by stat, or by a program.
counts()
{
	case $1 in
	*"pstat list"* | *"pstat doctor"* | *"pstat version"* | *"pstat help"*) return 1 ;;
	*"pstat completion"* | *"pstat -h"* | *"pstat --version"*) return 1 ;;
	"cc "*) return 1 ;;
	esac
}

# The examples of one file share a folder: one may make what the next one uses.
run_example() # FOLDER NAME
{
	local command words

	command=$(<"$1/command")
	while read -r words; do
		need_words "$words"
	done <"$1/needs"
	! counts "$command" || grep -Eq '^(nothing|a user|perf_event_paranoid)' "$1/needs" ||
		need_paranoid 1
	mkdir -p "${1%/*}/cwd" && cd "${1%/*}/cwd" || exit 1
	timeout 300 bash -c "$command" >"$1/actual" 2>&1 </dev/null
	check "$2" "$PYTHON" "$tool" same "$1/expected" "$1/actual" $(<"$1/libc")
}

# What stands there is pstat, not the path of the program that is tested.
mkdir "$tmp/bin"
ln -s "$PSTAT" "$tmp/bin/pstat"
ln -s "$WORK/callers" "$tmp/bin/callers"
export PATH=$tmp/bin:$PATH PYTHONDONTWRITEBYTECODE=1

pages=("$ROOT/README" "$ROOT"/man/*.1 "$ROOT"/man/pstat-tutorial.7)
# What is read or exported is the same without rights.
[ -z "${TEST_WITHOUT_RIGHTS:-}" ] || pages=("$ROOT/README" "$ROOT"/man/pstat-{stat,record,list,doctor}.1)
for file in "${pages[@]}"; do
	name=${file##*/}
	[ -e "$file" ] || continue
	mkdir -p "$tmp/$name/cwd"
	for page in "$ROOT/man/pstat-tutorial.7" "$file"; do
		check "$name: sources" "$PYTHON" "$tool" sources "$page" "$tmp/$name/cwd"
	done
	if ! "$PYTHON" "$tool" list "$file" "$tmp/$name" >"$tmp/$name/list"; then
		fail "$name: its examples can be read"
		continue
	fi
	while read -r number command <&3; do
		(
			test_now="$name $command"
			run_example "$tmp/$name/$number" "$number"
		)
	done 3<"$tmp/$name/list"
done
check "there are examples" grep -q . "$tmp"/*/list
done_testing
