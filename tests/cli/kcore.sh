#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat buildid-cache -k and record --kcore: copies of a kernel's own code, beside perf's; the kernel is one of a few made
# pages, since the real one's /proc/kcore is for root alone and on some machines not there.
#
# run: once
. "${0%/*}/../lib.sh"
id=0102030405060708090a0b0c0d0e0f1011121314
copies=.debug/[kernel.kcore]

kcore() { "$PYTHON" "$ROOT/tests/cli/kcore.py" "$@" || fail "a kernel is made"; }
new_home() { HOME=$PWD/$1 && mkdir -p "$HOME" && export HOME; }
segments() { readelf -lW "$1" | awk '$1 == "LOAD" { print $3, $5 }'; }
files() { (cd "$HOME" && find . -type f -o -name '.*.new') | LC_ALL=C sort; }

test_layout()
{
	new_home ours
	kcore machine
	run "$PSTAT" buildid-cache -v -k machine/proc/kcore
	same "status" 0 "$status"
	has "what was made" "^added $HOME/.debug/\[kernel\.kcore\]/$id/[0-9]{16}$" "$out"
	made=${out#added }
	same "three files" "kallsyms kcore modules" "$(ls "$made" | xargs)"
	same "the lists are those that there were" "" "$(cmp "$made/kallsyms" machine/proc/kallsyms; cmp "$made/modules" machine/proc/modules)"
	same "for nobody else" "700 600 600 600" "$(stat -c %a "$made" "$made"/* | xargs)"
	same "of the kernel what is code" "0xffffffff81000000 0x003000
0xffffffffc0200000 0x003000" "$(segments "$made/kcore")"
	"$PYTHON" - "$made/kcore" machine/proc/kcore <<-'END_PYTHON' || fail "the code is the same"
		import sys
		copy, kcore = (open(path, "rb").read() for path in sys.argv[1:])
		sys.exit(copy[0x1000:0x4000] != kcore[0x1000:0x4000] or copy[0x4000:0x7000] != kcore[0x9000:0xc000])
	END_PYTHON
	pass "the code is the same"
	run "$PSTAT" buildid-cache -v -k machine/proc/kcore
	same "once more" "there already: $made" "$out"
	run "$PSTAT" buildid-cache -lv
	has "-lv" "^$id \[kernel\.kcore\]  ${made##*/}  0\.0[0-9]+ MB  [0-9-]{10}  stays$" "$out"
	has "doctor counts it" "/.debug: 1 entry, 0\.0" "$("$PSTAT" doctor)"
	(cd machine/proc && "$PSTAT" buildid-cache -v -k kcore) >said
	same "named without a folder" "there already: $made" "$(<said)"
}

test_of_each_moment()
{
	new_home many
	kcore one
	kcore moved --moved 0x200000
	kcore loaded --modules testmod=0xffffffffc0200000,other=0xffffffffc0210000
	kcore elsewhere --modules testmod=0xffffffffc0220000
	for machine in one moved loaded elsewhere one moved; do
		"$PSTAT" buildid-cache -k $machine/proc/kcore
	done
	same "one of each" 4 "$("$PSTAT" buildid-cache -lv | grep -c kcore)"
	run "$PSTAT" buildid-cache -v -p '[kernel.kcore]'
	same "-p removes them" 4 "$(grep -c '^removed' <<<"$out")"
	same "nothing is left" "" "$(files)"
	"$PSTAT" buildid-cache -k one/proc/kcore
	"$PSTAT" buildid-cache -P
	same "so does -P" "" "$(files)"
}

test_beside_perf()
{
	need_perf
	kcore machine
	kcore moved --moved 0x200000
	new_home perfs
	perf buildid-cache -k machine/proc/kcore >said 2>&1 || skip "needs a perf that copies kcore"
	theirs=$(echo "$HOME/$copies/$id"/*)
	run "$PSTAT" buildid-cache -v -k machine/proc/kcore
	same "perf's is known" "there already: $theirs" "$out"
	new_home pstats
	"$PSTAT" buildid-cache -k machine/proc/kcore
	ours=$(echo "$HOME/$copies/$id"/*)
	perf buildid-cache -v -k machine/proc/kcore >said 2>&1
	same "ours is known to perf" "same kcore found in $ours" "$(grep kcore said)"
	perf buildid-cache -v -k moved/proc/kcore >said 2>&1
	has "another moment's is another one" 'kcore added to build-id cache directory' "$(<said)"
	same "perf has copied of the kernel itself what we have" "$(segments "$theirs/kcore" | head -n 1)" \
		"$(segments "$ours/kcore" | head -n 1)"
}

# This machine's kernel, of which every instruction is a nop.
test_annotate()
{
	need_paranoid 1
	new_home annotate
	[ -r /sys/kernel/notes ] || skip "needs a kernel that shows its notes"
	[ -r /proc/kcore ] && skip "needs a machine whose /proc/kcore can't be read"
	grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* T _stext' /proc/kallsyms || skip "needs names of the kernel"
	kcore machine --here
	"$PSTAT" record -q -N -F 4000 -e cpu-clock:k -o k.data -- dd if=/dev/zero of=/dev/null bs=1M count=10000 2>/dev/null
	fails_with 125 '/proc/kcore ' "$PSTAT" annotate -i k.data -d '[kernel.kallsyms]'
	"$PSTAT" buildid-cache -k machine/proc/kcore
	run "$PSTAT" annotate -i k.data -d '[kernel.kallsyms]'
	same "status" 0 "$status"
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	has "its code, out of the cache" '^ +[0-9.]+ : +ffff[0-9a-f]+: +nop' "$out"
	need_perf
	has "perf takes it, too" "Using $HOME/.debug/\[kernel\.kcore\]/.*/kcore for kernel data" \
		"$(perf report --stdio -v -i k.data 2>&1)"
}

refused() # REGEX FILE
{
	fails_with 125 "^pstat: buildid-cache: $1" "$PSTAT" buildid-cache -k "$2"
	same "nothing is left of it" "" "$(files)"
}

# pstat record --kcore: a folder as perf makes it, which has the code in it.
test_recording_folder()
{
	need_paranoid 1
	new_home folder
	kcore machine --here
	run "$PSTAT" record -q -N --kcore=machine/proc/kcore -F 4000 -e cpu-clock:k -o k.data -- \
		dd if=/dev/zero of=/dev/null bs=1M count=10000
	same "status" 0 "$status"
	same "what is in it" "data kcore_dir kcore_dir/kallsyms kcore_dir/kcore kcore_dir/modules" \
		"$(cd k.data && find . -mindepth 1 | cut -c3- | LC_ALL=C sort | xargs)"
	same "for nobody else" "700 700 600" "$(stat -c %a k.data k.data/kcore_dir k.data/kcore_dir/kcore | xargs)"
	"$PSTAT" buildid-cache -k machine/proc/kcore
	same "the code is that of the cache" "" "$(cmp k.data/kcore_dir/kcore "$HOME/$copies"/*/*/kcore)"
	rm -r "$HOME/.debug"
	run "$PSTAT" report -i k.data --stdio
	same "it is read" 0 "$status"
	for again in 1 2; do
		"$PSTAT" record -q -N --kcore=machine/proc/kcore -e dummy -o k.data -- true || fail "once more: $again"
	done
	same "the one before is kept" "data kcore_dir" "$(ls k.data.old | xargs)"
	"$PSTAT" record -q -N --kcore --no-kcore -e dummy -o file -- true || fail "no folder after all"
	check "a file" test -f file
	mkdir x.old && touch x.old/mine && mkdir x
	fails_with 125 "^pstat: --kcore: x: cannot be renamed to x.old: " "$PSTAT" record --kcore=machine/proc/kcore -o x true
	fails_with 125 "^pstat: --kcore: .*nosuch/kcore: no such file$" sh -c \
		'mkdir -p nosuch && cp machine/proc/kallsyms nosuch && "$0" record --kcore=nosuch/kcore -o y true' "$PSTAT"
	check "nothing is left" test ! -e y
	fails_with 129 "^pstat: --kcore: the recording is a folder" "$PSTAT" record --kcore -o - true
	fails_with 129 "^pstat: --kcore: the recording is a folder" "$PSTAT" record --kcore --switch-output true
}

# Its code is found again, without a cache.
test_folder_is_read()
{
	need_paranoid 1
	new_home read
	[ -r /sys/kernel/notes ] || skip "needs a kernel that shows its notes"
	[ -r /proc/kcore ] && skip "needs a machine whose /proc/kcore can't be read"
	grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* T _stext' /proc/kallsyms || skip "needs names of the kernel"
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	kcore machine --here
	"$PSTAT" record -q -N --kcore=machine/proc/kcore -F 4000 -e cpu-clock:k -o k.data -- \
		dd if=/dev/zero of=/dev/null bs=1M count=10000 2>/dev/null
	has "annotate" '^ +[0-9.]+ : +ffff[0-9a-f]+: +nop' "$("$PSTAT" annotate -i k.data -d '[kernel.kallsyms]' 2>/dev/null)"
	mv k.data/kcore_dir .
	fails_with 125 '/proc/kcore ' "$PSTAT" annotate -i k.data -d '[kernel.kallsyms]'
	mv kcore_dir k.data
	need_perf
	same "perf reads it, too" "" "$(perf report --stdio -i k.data 2>&1 >/dev/null | grep -i -e error -e incompatible)"
	has "and its samples" "% .*\[k\]" "$(perf report --stdio -s sym -i k.data 2>/dev/null)"
}

test_wrong()
{
	new_home wrong
	refused '/nowhere/\.\./sys/kernel/notes: No such file' /nowhere/kcore
	kcore machine
	refused 'machine/proc/kallsyms: not a core file of a 64-bit kernel' machine/proc/kallsyms
	for cut in 10 100 4096 5000 40000; do
		kcore "cut$cut" --cut $cut
		refused "cut$cut/proc/kcore: (not a core file|it ends in|it lacks)" "cut$cut/proc/kcore"
	done
	kcore hidden
	sed -i 's/^[0-9a-f]*/0000000000000000/' hidden/proc/kallsyms
	: >hidden/proc/modules
	refused 'hidden/proc/kcore: it lacks the code that kallsyms and modules list' hidden/proc/kcore
	kcore idless
	: >idless/sys/kernel/notes
	refused 'idless/proc/.*notes: no build-id is in it' idless/proc/kcore
	kcore listless
	rm listless/proc/kallsyms
	refused 'listless/proc/kallsyms: no such file' listless/proc/kcore
	rm machine/proc/modules
	run "$PSTAT" buildid-cache -k machine/proc/kcore
	same "a kernel without modules has no list of them" 0 "$status"
	check "that is what the copy tells" test -e "$(echo "$HOME/$copies/$id"/*)/modules"
}

test_full_disk()
{
	need_mount
	kcore machine
	mkdir full
	run "${own_mounts[@]}" sh -c "mount -t tmpfs -o size=16k none full &&
		'$PSTAT' buildid-cache --buildid-dir full -k machine/proc/kcore; status=\$?; find full -type f; exit \$status"
	same "status" 125 "$status"
	has "told" 'No space left on device' "$err"
	same "nothing half done is left" "" "$out"
}

test_others()
{
	need_root
	new_home others
	kcore machine
	mkdir -p "$HOME/.debug/[kernel.kcore]/$id"
	chown 12345 "$HOME/.debug/[kernel.kcore]/$id"
	fails_with 125 'Operation not permitted' "$PSTAT" buildid-cache -k machine/proc/kcore
	same "nothing is put there" "" "$(files)"
	chown 0 "$HOME/.debug/[kernel.kcore]/$id"
	ln -s "$PWD/machine/proc" "$HOME/.debug/[kernel.kcore]/$id/2026112220263432"
	same "a link is none" "" "$("$PSTAT" buildid-cache -lv)"
}
run_tests
