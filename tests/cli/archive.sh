#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat archive: what a recording needs in one file, and out of it again, beside perf-archive and tar; archives that
# were made to do harm.
#
# rights: test_round_trip
. "${0%/*}/../lib.sh"
need_libarchive
need_paranoid 2

export PYTHONDONTWRITEBYTECODE=1
export HOME=$tmp/home # a build-id cache of this test's own
mkdir -p "$HOME"
perf_archive=/usr/lib/perf-core/perf-archive

# A recording of a program that is nowhere else, ./gone, in ./perf.data; the cache does not get it.
record_gone()
{
	cp "$WORK/callers" gone
	"$PSTAT" record -q -N -o perf.data -e cpu-clock:u -F 2000 "$@" -- ./gone known 40 >/dev/null 2>&1 ||
		fail "it is recorded" "status $?"
}

id_of() # NAME RECORDING
{
	"$PSTAT" buildid-list -i "$2" | awk -v name="/$1" 'substr($2, length($2) - length(name) + 1) == name { print $1 }'
}

# Names of all in an archive: links and files, no folders.
names_in() { tar tf "$1" | grep -v '/$' | grep -v '/probes$' | LC_ALL=C sort; }

# What is below a folder: the paths of its files and links, and where links lead.
content() { (cd "$1" && find . -name pstat -prune -o '(' -type f -o -type l ')' -printf '%P %l\n' | LC_ALL=C sort); }

burns() { "$PSTAT" report -i "${1:-perf.data}" --no-children -g none -s dso,symbol 2>&1; }

test_round_trip()
{
	record_gone -g
	run "$PSTAT" archive
	same "status" 0 "$status"
	has "what was made" '^perf.data.tar.bz2: [0-9]+ files? with symbols$' "$out"
	has "what to do" '^to report on another machine, run there: pstat archive --unpack perf.data.tar.bz2$' "$out"
	same "nothing else is said" "" "$err"
	id=$(id_of gone perf.data)
	has "the file, as perf's cache has it" "/gone/$id/elf$" "$(tar tf perf.data.tar.bz2)"
	has "its link" "\\.build-id/${id:0:2}/${id:2} -> ../../.*/gone/$id$" "$(tar tvf perf.data.tar.bz2)"
	same "it is for nobody else" "-rw-------" "$(stat -c %A perf.data.tar.bz2)"
	rm gone
	has_not "without the file: no name" 'gone.*burn' "$(burns)"
	mkdir elsewhere
	HOME=$PWD/elsewhere
	run "$PSTAT" archive --unpack
	same "unpacking: status" 0 "$status"
	has "where to" "^perf.data.tar.bz2: [0-9]+ files? into $HOME/.debug$" "$out"
	same "nothing is refused" "" "$err"
	has "with it: the name" ' gone +\[\.\] burn' "$(burns)"
	same "a file of the cache is for nobody else" "600" "$(stat -c %a "$HOME"/.debug/*/*/*/*/gone/"$id"/elf 2>/dev/null ||
		find "$HOME/.debug" -path "*/gone/$id/elf" -printf '%m')"
	same "it is the file" "" "$(cmp "$WORK/callers" "$(find "$HOME/.debug" -path "*/gone/$id/elf")" 2>&1)"
	command -v perf >/dev/null || skip "needs perf (linux-perf)" "perf has the name, too"
	has "perf has the name, too" ' gone +\[\.\] burn' "$(perf report --stdio -i perf.data --no-children -g none 2>/dev/null)"
}

# tar alone, as perf-archive tells people to do.
test_tar_unpacks()
{
	record_gone
	"$PSTAT" archive >/dev/null 2>&1
	rm gone
	mkdir -p elsewhere/.debug other
	tar xf perf.data.tar.bz2 -C elsewhere/.debug
	HOME=$PWD/elsewhere
	has "pstat has the name" ' gone +\[\.\] burn' "$(burns)"
	HOME=$PWD/other
	"$PSTAT" archive --unpack >/dev/null 2>&1
	same "what tar unpacks is what --unpack does" "$(content elsewhere/.debug)" "$(content other/.debug)"
	need_perf
	HOME=$PWD/elsewhere
	has "perf has the name" ' gone +\[\.\] burn' "$(perf report --stdio -i perf.data --no-children -g none 2>/dev/null)"
}

# Of a recording that perf made, whose files are in the cache by then.
test_perf_archive()
{
	need_perf
	[ -x $perf_archive ] || skip "needs perf-archive"
	need_cmd bzip2
	HOME=$PWD/home
	mkdir home pstats perfs
	cp "$WORK/callers" gone
	perf record -q -o perf.data -e cpu-clock:u -F 2000 ./gone known 40 >/dev/null 2>&1
	rm gone
	perf archive >/dev/null 2>&1 || skip "needs a perf-archive that works here"
	mv perf.data.tar.bz2 theirs.tar.bz2
	run "$PSTAT" archive perf.data
	same "status" 0 "$status"
	same "the same is in it" "$(names_in theirs.tar.bz2)" "$(names_in perf.data.tar.bz2)"
	HOME=$PWD/pstats
	run "$PSTAT" archive --unpack theirs.tar.bz2
	same "what perf-archive made is unpacked: status" 0 "$status"
	same "nothing of it is refused" "" "$err"
	has "pstat has the name" ' gone +\[\.\] burn' "$(burns)"
	has "perf has the name" ' gone +\[\.\] burn' "$(perf report --stdio -i perf.data 2>/dev/null)"
	mkdir perfs/.debug
	HOME=$PWD/perfs
	tar xf perf.data.tar.bz2 -C perfs/.debug
	same "the same from both" "$(content pstats/.debug)" "$(content perfs/.debug)"
}

# Two paths of one file: perf-archive has it twice, as a hard link to itself.
test_twice()
{
	record_gone
	"$PSTAT" archive >/dev/null 2>&1
	mkdir unpacked
	tar xf perf.data.tar.bz2 -C unpacked
	member=$(cd unpacked && find . -name elf -path '*/gone/*' -printf '%P\n')
	tar cjf twice.tar.bz2 -C unpacked "$member" "$member"
	has "it is in there twice" "link to $member" "$(tar tvf twice.tar.bz2)"
	run "$PSTAT" archive --unpack --buildid-dir here twice.tar.bz2
	same "status" 0 "$status"
	same "nothing is refused" "" "$err"
}

test_all()
{
	record_gone
	run "$PSTAT" archive --all
	same "status" 0 "$status"
	made=$(echo perf.all-*-????????-??????.tar.bz2)
	has "what was made" "^$made: the recording and [0-9]+ files? with symbols$" "$out"
	same "as perf names it" "perf.data
perf.symbols.tar.bz2" "$(tar tf "$made")"
	cp perf.data before
	rm gone
	mkdir elsewhere by_hand by_hand/.debug
	cd elsewhere || exit
	HOME=$PWD/home
	mkdir home
	cp "../$made" .
	run "$PSTAT" archive --unpack
	same "unpacking: status" 0 "$status"
	has "what came out" "^$made: [0-9]+ files? into .*/home/.debug; the recording: perf.data$" "$out"
	same "the recording is the same" "" "$(cmp perf.data ../before 2>&1)"
	has "with its names" ' gone +\[\.\] burn' "$(burns)"
	# As perf 6.12 does it.
	cd ../by_hand || exit
	HOME=$PWD
	tar xf "../$made" && tar xf perf.symbols.tar.bz2 -C .debug
	has "tar alone, twice" ' gone +\[\.\] burn' "$(burns)"
	# perf-archive has names as they were typed, with folders.
	tar cf nested.tar --transform 's,^,some/where/,' perf.data perf.symbols.tar.bz2
	mkdir nested && cd nested || exit
	run "$PSTAT" archive --unpack --buildid-dir cache ../nested.tar
	same "in folders: status" 0 "$status"
	same "the last name of the recording is what counts" "cache perf.data" "$(echo *)"
}

# perf writes a folder with a file for each CPU.
test_all_of_a_folder()
{
	need_perf
	cp "$WORK/callers" gone
	perf record -q --threads=cpu -o perf.data -e cpu-clock:u -F 2000 ./gone known 40 >/dev/null 2>&1
	[ -d perf.data ] || skip "needs a perf that records into a folder"
	burns >names
	has "its name, here" ' gone +\[\.\] burn' "$(<names)"
	run "$PSTAT" archive --all -o all.tar
	same "status" 0 "$status"
	same "all of its files" "$(cd perf.data && ls data data.* | sed 's,^,perf.data/,')
perf.symbols.tar.bz2" "$(tar tf all.tar | LC_ALL=C sort)"
	rm -rf gone "$HOME/.debug"
	mkdir elsewhere by_hand
	cd elsewhere || exit
	run "$PSTAT" archive --unpack --buildid-dir cache ../all.tar
	same "unpacking: status" 0 "$status"
	has "what came out" '^../all.tar: [0-9]+ files? into cache; the recording: perf.data$' "$out"
	same "the same recording" "" "$(diff -rq perf.data ../perf.data 2>&1)"
	same "for nobody else" "700 600" "$(stat -c %a perf.data perf.data/data | xargs)"
	same "it has the same report" "$(<../names)" "$(PERF_BUILDID_DIR=cache burns)"
	same "nothing else is there" "cache perf.data" "$(echo *)"
	run "$PSTAT" archive --unpack --buildid-dir cache ../all.tar
	same "once more: status" 125 "$status"
	has "refused" '^pstat: ../all.tar: refused: perf.data: a file of that name exists' "$err"
	run "$PSTAT" archive --unpack --buildid-dir cache -o other ../all.tar
	same "under another name" "0 " "$status $(diff -rq other perf.data 2>&1)"
	# In the middle of a block: where one ends, a tar file may end, too.
	head -c $(($(stat -c %s ../all.tar) / 3 / 512 * 512 + 100)) ../all.tar >../cut.tar
	run "$PSTAT" archive --unpack --buildid-dir cache -o cut ../cut.tar
	same "cut: status" 125 "$status"
	same "and no half recording" "cache other perf.data" "$(echo *)"
	cd ../by_hand && tar xf ../all.tar
	same "tar alone has it, too" "" "$(diff -rq perf.data ../perf.data 2>&1)"
	tar cf ../headless.tar --exclude=perf.data/data perf.data
	tar cf ../nested.tar --transform 's,^,some/where/,' perf.data
	mkdir in && cd in || exit
	run "$PSTAT" archive --unpack --buildid-dir cache ../../headless.tar
	same "without its header: status" 125 "$status"
	has "refused" "refused: perf.data: a folder without a recording's header$" "$err"
	run "$PSTAT" archive --unpack --buildid-dir cache ../../nested.tar
	same "in folders: status" "0 " "$status $err"
	same "only the last one counts" "cache perf.data" "$(echo *)"
}

test_recording_stays()
{
	record_gone
	"$PSTAT" archive --all -o all.tar >/dev/null 2>&1
	echo mine >perf.data
	run "$PSTAT" archive --unpack --buildid-dir cache all.tar
	same "status" 125 "$status"
	has "refused" '^pstat: all.tar: refused: perf.data: a file of that name exists: -f overwrites it' "$err"
	same "the one that was there stays" mine "$(<perf.data)"
	has "the files are taken" '^all.tar: [0-9]+ files? into ' "$out"
	run "$PSTAT" archive --unpack --buildid-dir cache -o other.data all.tar
	same "under another name: status" 0 "$status"
	has "the recording" '^PERFILE2' "$(head -c 8 other.data)"
	fails_with 125 'refused: perf.data: a file of its name exists and is not a recording: give another name with -o' \
		"$PSTAT" archive --unpack --buildid-dir cache -f all.tar
	same "-f leaves what is no recording" mine "$(<perf.data)"
	run "$PSTAT" archive --unpack --buildid-dir cache -f -o perf.data all.tar
	has "-f writes over what -o names" '^PERFILE2' "$(head -c 8 perf.data)"
	run "$PSTAT" archive --unpack --buildid-dir cache -f all.tar
	same "-f: status" 0 "$status"
	has "it is written over" '^PERFILE2' "$(head -c 8 perf.data)"
}

test_packings()
{
	local end

	record_gone
	for end in bz2 zst xz gz; do
		run "$PSTAT" archive -o "a.tar.$end"
		same "$end: status" 0 "$status"
		run "$PSTAT" archive --unpack --buildid-dir "cache_$end" "a.tar.$end"
		same "$end: unpacking" 0 "$status"
	done
	"$PSTAT" archive -o a.tar >/dev/null 2>&1
	same "not packed: tar's own" "ustar" "$(head -c 262 a.tar | tail -c 5)"
	same "zstd" "28b52ffd" "$(od -An -tx1 -N4 a.tar.zst | tr -d ' ')"
	same "bzip2" "BZh" "$(head -c 3 a.tar.bz2)"
	same "all have the same" "$(content cache_bz2) $(content cache_bz2)" "$(content cache_zst) $(content cache_xz)"
	same "so has gzip" "$(content cache_bz2)" "$(content cache_gz)"
	fails_with 129 "archive: 'x.zip': the end of its name says how it is packed: one of .tar.bz2, .tar.zst" \
		"$PSTAT" archive -o x.zip
}

test_pipes()
{
	record_gone
	"$PSTAT" archive -o - perf.data 2>err | "$PSTAT" archive --unpack --buildid-dir piped - >said 2>&1
	same "both ends" "0 0" "${PIPESTATUS[*]}"
	has "what came" "^-: [0-9]+ files? into piped$" "$(<said)"
	same "nothing else is said" "" "$(<err)"
	"$PSTAT" archive -o a.tar >/dev/null
	"$PSTAT" archive --unpack --buildid-dir filed a.tar >/dev/null
	same "it is the same as by a file" "$(content filed)" "$(content piped)"
	"$PSTAT" archive -i - -o b.tar <perf.data >/dev/null
	same "a recording from a pipe" "$(names_in a.tar)" "$(names_in b.tar)"
	fails_with 125 ': --all needs a recording that is a file or a folder, not a pipe' bash -c "cat perf.data | '$PSTAT' archive --all -i -"
}

# What can't be found, or is another file now, is not in it.
test_missing()
{
	record_gone -g
	echo other >other.c
	cp "$WORK/exact" gone
	run "$PSTAT" archive
	same "status" 0 "$status"
	has "a line with the count" '^pstat: archive: 1 of [0-9]+ files with samples could not be found: -v lists them$' "$err"
	has_not "it is not in there" '/gone/' "$(tar tf perf.data.tar.bz2)"
	run "$PSTAT" archive -v
	has "-v: which, and why" '^pstat: archive: not found: .*/gone: replaced since the recording: its build-id is now' "$err"
	has "-v: what was found" '^[0-9a-f]{40} /' "$out"
	# Nothing at all is left: not even the vdso, which is found in memory, has samples.
	mkdir root
	"$PSTAT" record -q -N -o faults.data -e page-faults:u -c 1 -- "$WORK/exact" pages:50 >/dev/null 2>&1
	run "$PSTAT" archive -i faults.data --symfs root --buildid-dir root -o none.tar
	same "nothing: status" 125 "$status"
	has "the reason" '^pstat: none.tar: not made: none of the files with samples could be found' "$err"
	check_not "and no archive" test -e none.tar
}

# The cache comes first, and has what was there when it was recorded.
test_from_cache()
{
	record_gone
	"$PSTAT" archive -o first.tar >/dev/null
	"$PSTAT" archive --unpack --buildid-dir cache first.tar >/dev/null
	rm gone
	run "$PSTAT" archive --buildid-dir cache -o second.tar
	same "status" 0 "$status"
	same "nothing is missing" "" "$err"
	same "the same" "$(names_in first.tar)" "$(names_in second.tar)"
	run env PERF_BUILDID_DIR=cache "$PSTAT" archive -o third.tar
	same "by perf's variable" "$(names_in first.tar)" "$(names_in third.tar)"
}

# A root without any of the files: only the recording, the archive, and the programs that report.
test_bare_root()
{
	record_gone
	mkdir bare
	"$PSTAT" archive --all -o bare/all.tar.bz2 >/dev/null 2>&1
	need_cmd bwrap
	jail=(bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs "$tmp" --bind "$PWD/bare" "$PWD/bare" --setenv HOME "$PWD/bare"
		--chdir "$PWD/bare" --ro-bind "$PSTAT" "$PWD/bare/pstat")
	touch bare/pstat
	"${jail[@]}" true 2>/dev/null || skip "needs bubblewrap that works here"
	check_not "the program is not there" "${jail[@]}" test -e "$PWD/gone"
	run "${jail[@]}" ./pstat archive --unpack all.tar.bz2
	same "unpacking: status" 0 "$status"
	has "pstat has the name" ' gone +\[\.\] burn' "$("${jail[@]}" ./pstat report -i perf.data -s dso,symbol 2>&1)"
	need_perf
	has "perf has the name" ' gone +\[\.\] burn' "$("${jail[@]}" perf report --stdio -i perf.data 2>/dev/null)"
}

# The names of what was sampled into the recording itself.
test_into_recording()
{
	record_gone -g
	cp perf.data before
	run "$PSTAT" archive --into-recording -v
	same "status" 0 "$status"
	has "what was done" '^\[ pstat: symbols in the file: [0-9.]+ kB, [0-9]+ functions of [0-9]+ files of ' "$err"
	same "there is no archive" "before gone perf.data" "$(echo *)"
	rm gone
	has "its names" ' gone +\[\.\] burn' "$(burns)"
	has_not "not those of the recording without" ' gone +\[\.\] burn' "$(burns before)"
	cp perf.data with
	fails_with 125 '^pstat: perf.data: it has symbols already$' "$PSTAT" archive --into-recording perf.data
	same "which stays as it is" "" "$(cmp perf.data with 2>&1)"
	fails_with 125 '^pstat: nothere: No such file' "$PSTAT" archive --into-recording nothere
	fails_with 129 'into-recording makes no archive' "$PSTAT" archive --into-recording --all
	cat before | "$PSTAT" record -N -o - true 2>/dev/null >piped
	fails_with 125 'a recording in the layout of pipes or folders cannot hold symbols' \
		"$PSTAT" archive --into-recording piped
	head -c $(($(stat -c %s before) / 2)) before >cut
	cp cut cut.before
	fails_with 125 '^pstat: .*cut: it' "$PSTAT" archive --into-recording cut
	same "that stays, too" "" "$(cmp cut cut.before 2>&1)"
	"$PSTAT" archive -i with -o with.tar >/dev/null 2>said
	same "nothing else is left" "before cut cut.before perf.data piped with" "$(rm -f with.tar said; echo *)"
}

# ended SIGNAL DELAY -- COMMAND...: COMMAND has the signal while it copies a file, each write of which takes so many us.
# Not SIGINT, which a shell's background processes ignore.
ended()
{
	local signal=$1 pid

	strace -f -qq -o trace -e trace=copy_file_range,write -e inject=copy_file_range:error=EXDEV \
		-e "inject=write:delay_exit=$2" "${@:4}" >said 2>&1 &
	pid=$!
	until find . -name '*.new' | grep -q . || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	find . -name '*.new' >was_there
	kill -"$signal" $(cat /proc/$pid/task/$pid/children) 2>/dev/null
	wait $pid
	status=$?
	check "$1: it was at it" test -s was_there
	same "$1: nothing half is left" "" "$(find . -name '*.new' -o -name '*.tar' -o -path '*/gone/*/elf')"
}

test_ended_by_a_signal()
{
	need_cmd strace
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	record_gone
	strace -qq -e inject=write:delay_exit=1 -o /dev/null true 2>/dev/null || skip "needs an strace that delays calls"
	head -c 10000000 /dev/urandom >>gone
	chmod o+w gone # such a file is not linked
	ended HUP 200000 -- "$PSTAT" buildid-cache --buildid-dir cache -a gone
	same "buildid-cache: status" 129 "$status"
	has "told" 'gone: interrupted$' "$(<said)"
	same "not even a folder" "" "$(find cache -mindepth 1)"
	ended TERM 50000 -- "$PSTAT" archive -o a.tar
	same "archive: status" 143 "$status"
	wrote=$(sed -n 's/.* write(.*) = \([0-9]*\).*/\1/p' trace | awk '{ n += $1 } END { print n + 0 }')
	check "what is left of the file is not written any more: $wrote bytes" test "$wrote" -lt 5000000
	has "told" '^pstat: a.tar: interrupted$' "$(<said)"
	cp perf.data before
	ended TERM 1500000 -- "$PSTAT" archive --into-recording
	same "archive --into-recording: status" 143 "$status"
	has "told" 'perf.data: interrupted: nothing was put into it$' "$(<said)"
	same "it is as it was" "" "$(cmp perf.data before 2>&1)"
}

test_wrong()
{
	fails_with 125 '^pstat: perf.data: No such file' "$PSTAT" archive
	fails_with 125 '^pstat: x: No such file' "$PSTAT" archive x
	fails_with 129 "^pstat: archive: give one file only" "$PSTAT" archive x y
	fails_with 129 "^pstat: archive: --all packs, and --unpack" "$PSTAT" archive --all --unpack
	fails_with 125 '^pstat: archive: no perf\*.tar.bz2 is in this folder' "$PSTAT" archive --unpack
	fails_with 125 '^pstat: none.tar.bz2: No such file' "$PSTAT" archive --unpack none.tar.bz2
	touch perf.1.tar.bz2 perf.2.tar.bz2
	fails_with 125 '^pstat: archive: 2 archives are in this folder: perf.1.tar.bz2 perf.2.tar.bz2' "$PSTAT" archive --unpack
	record_gone
	cp perf.data same.tar
	fails_with 125 '^pstat: same.tar: it is the recording itself' "$PSTAT" archive -i same.tar -o same.tar
	same "which stays" "" "$(cmp perf.data same.tar 2>&1)"
	fails_with 125 '^pstat: none/x.tar: cannot be created' "$PSTAT" archive -o none/x.tar
	same "nothing is left behind" "" "$(find . -name '*.new')"
	fails_with 125 '^pstat: /dev/full: ' "$PSTAT" archive -o /dev/full
}

# A recording that is a folder, and files: what ends the unpacking half way leaves nothing of the folder.
test_nothing_half()
{
	record_gone
	"$PSTAT" archive -o perf.symbols.tar >/dev/null 2>&1
	mkdir whole whole/other.data
	cp perf.data whole/other.data/data
	head -c 3M /dev/zero >whole/other.data/data.0
	tar cf all.tar -C whole other.data && tar rf all.tar perf.symbols.tar
	run bash -c 'ulimit -f 1024; exec "$@"' - "$PSTAT" archive --unpack --buildid-dir cache all.tar
	same "a limit of files: status" 125 "$status"
	has "it is said" 'refused: other.data/data.0: File too large$' "$err"
	same "nothing is left" "" "$(find . -name '*other.data*' ! -path './whole*')"
	rm -rf cache
	mkfifo nobody
	exec 7<>nobody 8>nobody 7>&-
	"$PSTAT" archive --unpack -v --buildid-dir cache all.tar >&8 2>err
	same "nobody reads what is said: status" 141 $?
	exec 8>&-
	same "nothing is left of that" "" "$(find . -name '*other.data*' ! -path './whole*')"
}

# ---- archives that were made to do harm ----

# hostile NAME REGEX: what is wrong is refused with a line, and what else there is taken.
hostile()
{
	rm -rf cache
	run "$PSTAT" archive --unpack --buildid-dir cache "made/$1.tar.bz2"
	same "$1: status" 125 "$status"
	has "$1: why" "$2" "$err"
	same "$1: one line" "${3:-1}" "$(wc -l <<<"$err")"
	[ "${4:-good}" = none ] && return
	same "$1: what is good is taken, and nothing else" "$only_good" "$(content cache)"
}

test_hostile()
{
	local name

	record_gone
	id=$(id_of gone perf.data)
	mkdir made outside
	"$PYTHON" "$ROOT/tests/cli/hostile_archives.py" made "$WORK/callers" "$id" || fail "they are made"
	only_good=".build-id/${id:0:2}/${id:2} ../../opt/good/$id
opt/good/$id/elf "
	for name in up absolute recording_up folder_up; do
		hostile $name "refused: .*outside.*: a name that leads out of the cache$"
	done
	for name in link link_up link_folder; do
		hostile $name 'refused: .*: a link that the cache does not have, to .*outside'
	done
	hostile hard_link 'refused: opt/x/.*/elf: a hard link to /etc/passwd$'
	for name in device fifo; do
		hostile $name 'refused: opt/x/.*/elf: neither a file nor a link$'
	done
	for name in lies no_elf cut_elf; do
		hostile $name "refused: opt/x/.*/elf: .*build-id"
	done
	hostile no_list 'refused: \[kernel.kallsyms\]/.*/kallsyms: '
	hostile stranger 'refused: readme.txt: neither a file of the cache nor a recording$'
	hostile dot 'refused: \.: neither a file of the cache nor a recording$'
	hostile profile 'refused: \.bash_profile: a hidden file: give another name with -o$'
	hostile profile_folder 'refused: \.config/data: a hidden file'
	hostile option 'refused: -rf: its name looks like an option: give another name with -o'
	hostile newline 'refused: perf\\x0adata: .*its name can.t be shown: give another name with -o'
	for name in script short_script pipe_script sizes no_event; do
		hostile $name 'refused: perf.script.*: a file that is not a recording: '
	done
	hostile script_folder 'refused: perf.script/data: a file that is not a recording: ' 2 # and its folder, at the end
	hostile escape 'refused: opt/\\x1b\[31mred/'
	hostile huge_name 'refused: opt/xxxxx.*\.\.\.'
	hostile inner_none 'refused: perf.symbols.tar.bz2: '
	hostile inner_inner 'refused: perf.symbols.tar.bz2: '
	hostile inner_cut 'refused: perf.symbols.tar.bz2: '
	hostile many 'many.tar.bz2: 20 more were refused$' 11
	hostile bomb 'bomb.tar.bz2: it unpacks to more than 1000 times its size$' 1 none
	same "bomb: nothing of it is left" "" "$(content cache)"
	hostile inner_bomb 'it unpacks to more than 1000 times its size$' 1 none
	same "inner bomb: nothing of it is left" "" "$(find cache -path '*bomb*')"
	hostile twice 'twice.tar.bz2: packed several times over$' 1 none
	hostile text 'text.tar.bz2: ' 1 none
	same "nothing is outside" "" "$(find outside ! -path outside)"
	same "nor anywhere else" "cache gone made outside perf.data" "$(echo *)"
}

# Tars with holes claim any size.
test_holes()
{
	mkdir -p opt/x/abcdef0123456789abcdef0123456789abcdef01
	truncate -s 20G opt/x/abcdef0123456789abcdef0123456789abcdef01/elf 2>/dev/null || skip "needs files with holes"
	tar cjSf holes.tar.bz2 opt
	truncate -s 100T opt/x/abcdef0123456789abcdef0123456789abcdef01/elf 2>/dev/null && tar cjSf more.tar.bz2 opt
	fails_with 125 'holes.tar.bz2: it unpacks to more than 1000 times its size$' \
		"$PSTAT" archive --unpack --buildid-dir cache holes.tar.bz2
	if [ -e more.tar.bz2 ]; then
		fails_with 125 'refused: opt/x/.*/elf: too large$' "$PSTAT" archive --unpack --buildid-dir cache more.tar.bz2
	fi
	same "nothing of it is left" "" "$(content cache)"
}

# Whatever is missing at the end, what is there is whole.
test_cut()
{
	local size wrong='' at

	record_gone -g
	"$PSTAT" archive -o whole.tar.bz2 >/dev/null
	"$PSTAT" archive -o whole.tar >/dev/null
	"$PSTAT" archive --unpack --buildid-dir whole whole.tar >/dev/null
	for end in tar tar.bz2; do
		size=$(stat -c %s whole.$end)
		for at in 0 1 100 600 1500 $((size / 4)) $((size / 2)) $((size * 3 / 4)) $((size - 20000)); do
			[ "$at" -ge 0 ] || continue
			rm -rf cut
			head -c "$at" whole.$end >cut.$end
			run "$PSTAT" archive --unpack --buildid-dir cut cut.$end
			[ "$status" -eq 125 ] && [ "$(wc -l <<<"$err")" -eq 1 ] || wrong="$wrong $end:$at($status)"
			[ -d cut ] && (cd cut && find . -type f ! -name pstat -exec cmp {} ../whole/{} \;) >differ
			[ -s differ ] && wrong="$wrong $end:$at(half)"
		done
	done
	same "each is told, with one line, and nothing is half there" "" "$wrong"
}

# Who may not write there has nothing, and is told.
test_full()
{
	need_mount
	record_gone
	"$PSTAT" archive -o a.tar >/dev/null
	cat >inside <<-'SCRIPT'
		mount -t tmpfs -o size=16k none full
		"$PSTAT" archive --unpack --buildid-dir full a.tar
		echo "status $?"
		find full -type f ! -name pstat | wc -l
	SCRIPT
	mkdir full
	export PSTAT
	run "${own_mounts[@]}" bash inside
	has "status" '^status 125$' "$out"
	has "the reason" 'a.tar: refused: .*No space left' "$err"
}

run_tests
