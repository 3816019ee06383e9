#!/bin/bash
# SPDX-License-Identifier: MIT
# What pstat record puts into the build-id cache, so that names stay when files go: programs that were deleted, rebuilt,
# or ran in a container that is gone have their names, also in perf report, and never those of another program. What
# can't be kept is told, and is no failure.
#
# rights: test_deleted test_a_container_that_is_gone test_kernel test_no_cache_to_be_had
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"
export NO_COLOR=1 DEBUGINFOD_URLS=
cache=$HOME/.debug

# program FILE FUNCTION [CC-OPTION...]: burns 0.1 s or so in the function. ld's own build-id is not of the names.
program()
{
	printf 'static volatile unsigned sink;\n__attribute__((noinline)) void %s(unsigned n) { while (n--) sink = sink * 3 / 2 + n; }\nint main(void) { %s(30000000); }\n' \
		"$2" "$2" >"$2.c"
	${CC:-cc} -O1 "-Wl,--build-id=0x$(sha1sum <<<"$2" | cut -c1-40)" "${@:3}" -o "$1" "$2.c" || fail "compiles"
}

# In a recorded shell: "$held" $PPID NAME.
export held=$ROOT/tests/cli/held
chmod 755 "$tmp"

# record FILE OPTION... -- COMMAND...
record()
{
	run "$PSTAT" record -F 999 -e cpu-clock:u -o "$@"
	same "recorded" 0 "$status"
	said=$err
}

names() { "$PSTAT" report --stdio --no-children -g none -s dso,sym -i "$@" 2>&1; }
ids() { "$PSTAT" buildid-list -i "$1" | awk -v name="/$2" 'substr($2, length($2) - length(name) + 1) == name { print $1 }'; }
# entry ID: the folder of what is in the cache.
entry() { readlink -e "$cache/.build-id/${1:0:2}/${1:2}"; }
no_leftovers() { same "nothing half done is left" "" "$(find "$cache" -name '.*.new' 2>&1)"; }

test_deleted()
{
	rm -rf "$cache"
	program app only_here
	record x -- ./app
	same "nothing to tell" "" "$(grep -v '^\[' <<<"$said")"
	rm app
	has "its function" ' app  .*only_here$' "$(names x)"
	# A sample may lie in the loader, which is stripped on some machines.
	has_not "nothing of it is missing" '(no symbols|in doubt).*/app[ ,]' "$(names x)"
	no_leftovers
}

test_deleted_as_perf_has_it()
{
	need_perf
	rm -rf "$cache"
	program app only_here
	record x -- ./app
	has "perf lists it" "^$(ids x app) .*/app" "$(perf buildid-cache -l 2>&1)"
	rm app
	has "perf has its function" '\[\.\] only_here' "$(perf report --stdio -q -i x 2>&1)"
}

# Built anew in place, as by cp, and renamed over, as by linkers.
test_rebuilt()
{
	local how

	for how in cp mv; do
		program app old_name
		program next new_name
		record x -- ./app
		$how next app
		has "$how: the old name" ' app  .*old_name$' "$(names x)"
		has_not "$how: not the new one" 'new_name' "$(names x)"
		record y -- ./app
		has "$how: the new program has its own" ' app  .*new_name$' "$(names y)"
		has "$how: the old one still has" ' app  .*old_name$' "$(names x)"
	done
}

test_a_container_that_is_gone()
{
	need_cmd bwrap
	bwrap --dev-bind / / true 2>/dev/null || skip "needs bwrap, which may not make namespaces here"
	mkdir box
	program app in_the_box
	program outside not_in_the_box
	touch given
	# Who is in the container may not see what the recorder holds.
	record x -- sh -c 'bwrap --dev-bind / / --tmpfs "$PWD/box" --ro-bind "$PWD/app" "$PWD/given" \
		sh -c "cp given box/app && box/app && until [ -e is_held ]; do sleep 0.02; done" &
		"$held" $PPID app
		touch is_held
		wait'
	rm -f app given
	same "it is gone" "" "$(ls box)"
	has "its name" ' app  .*in_the_box$' "$(names x)"
	cp outside box/app
	has "also where another one is now" ' app  .*in_the_box$' "$(names x)"
	has_not "not the other's" 'not_in_the_box' "$(names x)"
}

# jit_recording FILE [OPTION...]: of code made at run time; the process's number in $number, its map in $map.
jit_recording()
{
	record "$1" "${@:2}" -- bash -c "{ ./app; sleep 1; } | '$WORK/jit' map"
	number=$("$PSTAT" script -i "$1" -F comm,pid | awk '$1 == "jit" { print $2; exit }')
	map=/tmp/perf-$number.map
}

test_code_made_at_run_time()
{
	program app feeder
	jit_recording x
	has "the process has ended, its map is there" 'jit_two_thirds$' "$(names x)"
	id=$("$PSTAT" buildid-list -i x | awk -v path="$map" '$2 == path { print $1 }')
	same "the map was kept" "$(cat "$map")" "$(cat "$(entry "$id")/map")"
	cp "$map" kept
	sed 's/jit_/other_/' kept >"$map"
	has "another process's map does not matter" 'jit_two_thirds$' "$(names x)"
	check "it is there" rm "$map"
	has "its names stay when it goes" 'jit_two_thirds$' "$(names x)"
	has_not "nothing is missing" 'no symbols' "$(names x)"
	has "the program beside it has its name" ' app  .*feeder$' "$(names x)"
	# On another machine.
	"$PSTAT" archive -i x -o with.tar >/dev/null 2>&1
	has "an archive has it" "^tmp/perf-$number.map/$id/map\$" "$(tar tf with.tar)"
	rm -rf "$cache"
	has_not "without all of these there are no names" 'jit_two_thirds|jit_one_third' "$(names x)"
	has "and that is told" 'no symbols: .*(JIT|perf-[0-9]+\.map)' "$(names x)"
	"$PSTAT" archive --unpack with.tar >/dev/null 2>&1
	has "unpacked: the names" 'jit_two_thirds$' "$(names x)"
	command -v perf >/dev/null || skip "needs perf (linux-perf)" "perf reads it"
	cp kept "$map"
	has "perf reads it" 'jit_two_thirds$' "$(perf report --stdio --no-children -g none -i x 2>/dev/null)"
	rm "$map"
}

# Its map grows while it runs.
test_one_process_has_one_map()
{
	rm -rf "$cache"
	mkfifo until
	"$WORK/jit" map <until >told &
	number=$! map=/tmp/perf-$!.map
	exec 7>until
	until grep -q ready told; do sleep 0.02; done
	record one -p $number --duration 1
	echo "1 1 later" >>"$map"
	record two -p $number --duration 1
	exec 7>&-
	wait $number
	id=$("$PSTAT" buildid-list -i one | awk -v path="$map" '$2 == path { print $1 }')
	has "a process has one build-id" '^[0-9a-f]{40}$' "$id"
	same "in each recording" "$id" "$("$PSTAT" buildid-list -i two | awk -v path="$map" '$2 == path { print $1 }')"
	same "the longer map is kept" "$(cat "$map")" "$(cat "$(entry "$id")/map")"
	rm -f "$map"
}

test_code_made_at_run_time_is_not_kept_without_a_cache()
{
	jit_recording x -N
	check "the map is there" rm "$map"
	has_not "it was not kept" 'jit_two_thirds|jit_one_third' "$(names x)"
	has_not "nor does the recording say so" "$map" "$("$PSTAT" buildid-list -i x)"
}

# Nothing of the library ever runs, not even what begins and ends others: no sample can fall into it.
test_what_had_no_samples_stays_out()
{
	echo 'void idle(void) { }' >idle.c
	${CC:-cc} -shared -nostartfiles -fPIC -Wl,--build-id -o libidle.so idle.c || fail "compiles"
	program app busy -L. -Wl,--no-as-needed -lidle -Wl,-rpath,"$PWD"
	record x -- ./app
	check "the program is kept" entry "$(ids x app)"
	check_not "not what nothing ran in" entry "$(ids x libidle.so)"
	record x --buildid-all -- ./app
	check "--buildid-all: that, too" entry "$(ids x libidle.so)"
}

# What was wanted last is what had samples, not what was mapped.
test_wanted_again()
{
	local file

	echo 'void idle(void) { }' >idle.c
	${CC:-cc} -shared -nostartfiles -fPIC -Wl,--build-id -o libidle.so idle.c || fail "compiles"
	program app wanted -L. -Wl,--no-as-needed -lidle -Wl,-rpath,"$PWD"
	record x --buildid-all -- ./app
	for file in app libidle.so; do
		touch -d 2020-01-01 "$(entry "$(ids x $file)")/pstat" || fail "$file is there"
	done
	record x -- ./app
	check "the program had samples" test "$(entry "$(ids x app)")/pstat" -nt app
	check_not "the library had none" test "$(entry "$(ids x libidle.so)")/pstat" -nt app
}

test_who_called()
{
	printf 'static volatile unsigned sink;\nvoid spin(unsigned n) { while (n--) sink = sink * 3 / 2 + n; }\n' >spin.c
	printf 'void spin(unsigned n);\n__attribute__((noinline)) void through(void) { spin(30000000); spin(1); }\nint main(void) { through(); return 0; }\n' >caller.c
	${CC:-cc} -O1 -fno-omit-frame-pointer -shared -fPIC -Wl,--build-id -o libspin.so spin.c &&
		${CC:-cc} -O1 -fno-omit-frame-pointer -Wl,--build-id -o caller caller.c -L. -lspin -Wl,-rpath,"$PWD" ||
		fail "compiles"
	record x --call-graph fp -- ./caller
	check "fp: the library" entry "$(ids x libspin.so)"
	check "fp: who called it" entry "$(ids x caller)"
	rm -rf "$cache"
	record x --call-graph dwarf,raw -- ./caller
	check "dwarf: whose stack it was" entry "$(ids x caller)"
}

test_kernel()
{
	need_paranoid 1
	need_cap syslog
	rm -rf "$cache"
	record x -- true
	check_not "no samples, no list of its symbols" test -e "$cache/[kernel.kallsyms]"
	run "$PSTAT" record -o k -e cpu-clock:k -F 5000 -- dd if=/dev/zero of=/dev/null bs=1M count=2000
	id=$("$PSTAT" buildid-list -i k | awk '$2 == "[kernel.kallsyms]" { print $1 }')
	[ -n "$id" ] || skip "needs a kernel with a build-id"
	# Those of modules, BPF programs and probes come and go with what others do.
	grep -v '\[' "$cache/[kernel.kallsyms]/$id/kallsyms" >its
	grep -v '\[' /proc/kallsyms >kernels
	check "its list" test -s its
	check "its list: the kernel's" cmp its kernels
	check "by its build-id" test -e "$(entry "$id")/kallsyms"
}

test_again()
{
	program app again
	record x --buildid-all -- ./app # the next one may have samples in any of its files
	id=$(ids x app)
	had=$(stat -c '%i %z' "$(entry "$id")/elf")
	[ "$had" ] || fail "it is there"
	record x -v -- ./app
	same "what is there stays" "$had" "$(stat -c '%i %z' "$(entry "$id")/elf")"
	has_not "nothing is added" "cache .*/app|more, [0-9]+ KiB" "$said"
	need_cmd strace
	rm -rf "$cache"
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	strace -f -y -e trace=openat,mmap -o cold "$PSTAT" record -q --buildid-all -e cpu-clock:u -o x ./app
	strace -f -y -e trace=openat,mmap -o warm "$PSTAT" record -q -e cpu-clock:u -o x ./app
	has_not "the recording is not read where all is there" 'mmap\(.*/x>' "$(<warm)"
	has_not "nor the list of the kernel's symbols copied" 'kallsyms.*new' "$(<warm)"
	rm -rf "$cache"
	strace -f -y -e trace=openat,mmap -o cold "$PSTAT" record -q -e cpu-clock:u -o x ./app
	has "else it is" 'mmap\(.*/x>' "$(<cold)"
}

# Where all is there and was wanted a short while ago, the recording is not read, so that this moment stays. A limit
# that is less than the usual one may have to remove some of it.
test_again_with_a_limit()
{
	local size

	program app limited
	record x --buildid-all -- ./app
	id=$(ids x app)
	for size in 0 4G 2G; do
		touch -d '10 minutes ago' "$(entry "$id")/pstat" then || fail "it is there"
		record x --buildid-cache-size $size -- ./app
		check_not "$size: it is not looked into" test "$(entry "$id")/pstat" -nt then
	done
	touch -d '10 minutes ago' "$(entry "$id")/pstat" then
	record x --buildid-cache-size 1G -- ./app
	check "1G: what had samples is wanted now" test "$(entry "$id")/pstat" -nt then
}

test_two_at_once()
{
	local i

	rm -rf "$cache"
	for i in 1 2 3 4; do
		program app$i function_$i
	done
	for i in 1 2 3 4; do
		"$PSTAT" record -F 999 -e cpu-clock:u -o x$i sh -c './app1; ./app2; ./app3; ./app4' >said$i 2>&1 &
	done
	wait
	rm app[1-4]
	for i in 1 2 3 4; do
		same "recorder $i has nothing to tell" "" "$(grep -v '^\[' said$i)"
		same "and all names" "function_1 function_2 function_3 function_4" \
			"$(names x$i | grep -o 'function_[1-4]$' | sort | paste -sd' ')"
	done
	no_leftovers
}

test_switched_off()
{
	local option

	rm -rf "$cache"
	program app off
	for option in -N --no-buildid-cache -B --no-buildid --buildid-mmap; do
		run "$PSTAT" record -q -e cpu-clock:u -o x $option -- ./app
		same "$option: recorded" 0 "$status"
		check_not "$option: no cache" test -e "$cache"
	done
	PERF_BUILDID_DIR=/dev/null record x -- ./app
	check_not "a cache that is /dev/null" test -e "$cache"
	record x --buildid-dir "$PWD/other" -- ./app
	check "--buildid-dir: another one" test -e "other/.build-id"
	check_not "and not the usual one" test -e "$cache"
	run "$PSTAT" record -q -e cpu-clock:u -o /dev/null -- ./app
	check_not "not for what nobody can read" test -e "$cache"
}

test_pipe()
{
	echo 'void idle(void) { }' >idle.c
	${CC:-cc} -shared -fPIC -Wl,--build-id -o libidle.so idle.c || fail "compiles"
	program app piped -L. -Wl,--no-as-needed -lidle -Wl,-rpath,"$PWD"
	"$PSTAT" record -F 999 -e cpu-clock:u -o - -- ./app 2>said | cat >x
	check "all that was mapped" entry "$(ids x libidle.so)"
	rm app
	has "its name" ' app  .*piped$' "$(names x)"
	has "from the pipe itself" ' app  .*piped$' "$(cat x | names -)"
}

test_switched_files()
{
	program app1 first_file
	program app2 second_file
	record x --switch-output=1G -- sh -c './app1; kill -USR2 $PPID; ./app2'
	rm app1 app2
	for file in x.*; do
		has "each has its names" 'first_file$|second_file$' "$(names "$file")"
	done
	same "both are kept" "first_file second_file" \
		"$(for file in x.*; do names "$file"; done | grep -o 'first_file$\|second_file$' | sort -u | paste -sd' ')"
}

# An entry of its own for each, of a size that is known.
test_limit()
{
	local size

	rm -rf "$cache"
	program app1 function_1
	program app2 function_2
	size=$(($(stat -c %s app1) / 1024))
	record x1 --buildid-cache-size $((size * 3 / 2))K --buildid-dir "$PWD/small" -- ./app1
	cache=$PWD/small
	check "the first is there" entry "$(ids x1 app1)"
	record x2 --buildid-cache-size $((size * 3 / 2))K --buildid-dir "$PWD/small" -- ./app2
	check "the second is there" entry "$(ids x2 app2)"
	check_not "the first has made room" entry "$(ids x1 app1)"
	record x1 --buildid-cache-size 1K --buildid-dir "$PWD/tiny" -- ./app1
	has "larger than the limit: told" '^pstat: not put into the build-id cache, too large.*/app1' "$said"
	cache=$PWD/tiny
	check_not "and not there" entry "$(ids x1 app1)"
	record x1 --buildid-cache-size 0 --buildid-dir "$PWD/tiny" -- ./app1
	check "no limit" entry "$(ids x1 app1)"
	fails_with 129 "--buildid-cache-size: 'much' is not a size" "$PSTAT" record --buildid-cache-size much true
}

# The same inode, with other contents: what is held is not what ran.
test_replaced_while_recording()
{
	program app before
	program next after
	export tmp
	record x -- sh -c './app && "$held" $PPID app && cat next >app'
	has "told" '^pstat: not put into the build-id cache, replaced or changed.*/app$' "$said"
	check_not "not there" entry "$(ids x app)"
	has_not "never the other's names" '\] after$' "$(names x)"
	# Another file at the path: the one that ran is held.
	program app earlier
	record y -- sh -c './app && "$held" $PPID app && mv next app'
	same "nothing to tell" "" "$(grep -v '^\[' <<<"$said")"
	has "its name" ' app  .*earlier$' "$(names y)"
}

# Few descriptors: none for files. What is at its place is taken, what is not is told. When its mapping is in the
# recording, its build-id has been asked for.
test_beyond_the_descriptors()
{
	program app stays
	program gone goes
	# More of them than there is room for, also where one of another program comes late.
	for i in 1 2 3 4 5 6; do program other$i other$i; done
	(ulimit -n 140 && exec "$PSTAT" record -F 999 -e cpu-clock:u -o x \
		sh -c './app; for i in 1 2 3 4 5 6; do ./other$i; done; ./gone; until grep -aqF "$PWD/gone" x; do sleep 0.1; done; sleep 1; rm gone') >said 2>&1
	same "recorded" 0 $?
	has "told" '^pstat: not put into the build-id cache, gone before the end of the recording: .*/gone$' "$(<said)"
	check "what stayed is there" entry "$(ids x app)"
	check_not "what went is not" entry "$(ids x gone)"
}

# refused TEXT ENVIRONMENT...: one note, and a whole recording.
refused()
{
	run env "${@:2}" "$PSTAT" record -F 999 -e cpu-clock:u -o x -- ./app
	same "recorded" 0 "$status"
	same "one note" 1 "$(grep -c '^pstat: ' <<<"$err")"
	has "that says why" "$1" "$err"
	has "with what helps" '^ +use -N ' "$err"
	has "the recording is whole" ' app  .*kept_in_vain$' "$(names x)"
}

test_no_cache_to_be_had()
{
	program app kept_in_vain
	refused '^pstat: there is no build-id cache: \$HOME is not set$' -u HOME
	refused '^pstat: there is no build-id cache: /nonexistent/home/\.debug: ' HOME=/nonexistent/home
	echo text >file
	refused '^pstat: there is no build-id cache: .*/file: ' PERF_BUILDID_DIR="$PWD/file"
	mkfifo fifo
	refused '^pstat: there is no build-id cache: .*/fifo: ' PERF_BUILDID_DIR="$PWD/fifo"
	if is_root; then
		mkdir theirs
		chown 65534 theirs
		refused '^pstat: there is no build-id cache: .*/theirs: ' PERF_BUILDID_DIR="$PWD/theirs"
		same "nothing is put there" "" "$(ls -A theirs)"
	else
		mkdir -m 500 closed
		refused '^pstat: there is no build-id cache: .*/closed/in: ' PERF_BUILDID_DIR="$PWD/closed/in"
	fi
}

test_full_disk()
{
	need_mount
	program app kept_in_vain
	mkdir full
	"${own_mounts[@]}" sh -c "mount -t tmpfs -o size=8k none full && PERF_BUILDID_DIR=\$PWD/full/cache \
		'$PSTAT' record -F 999 -e cpu-clock:u -o x ./app; status=\$?; find full -type f; exit \$status" >left 2>said
	same "recorded" 0 $?
	has "told" '^pstat: .*No space left on device' "$(<said)"
	same "in one note" 1 "$(grep -c '^pstat: ' said)"
	same "nothing half done is left" "" "$(grep -v '/pstat$' left)"
	has "the recording is whole" ' app  .*kept_in_vain$' "$(names x)"
}
run_tests
