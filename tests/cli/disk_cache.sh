#!/bin/bash
# SPDX-License-Identifier: MIT
# The cache of names: what is printed is the same with it as without, whatever is in it, whoever writes to it. Entries
# with another name in them show that it is used.
#
# rights: test_not_a_file test_folder test_read_only_home
. "${0%/*}/../lib.sh"
need_paranoid 2
entry="$PYTHON $ROOT/tests/cli/disk_cache.py"
cd "$tmp" || exit 1

cat >work.cc <<'END_C'
static volatile unsigned sink;
template <typename T> static inline __attribute__((always_inline)) T mixed(T x) { return x * 3 / 2 + (x >> 3); }
static inline __attribute__((always_inline)) unsigned twice(unsigned x) { return mixed(x) ^ mixed(x + 1); }
static __attribute__((noinline)) void leaf(unsigned n) { while (n--) sink = twice(sink) + n; }
static __attribute__((noinline)) void other(unsigned n) { while (n--) sink = mixed(sink) / (n + 1); }
__attribute__((noinline)) void middle(unsigned n) { leaf(n); other(n / 2); sink = sink + 1; }
int main(int n, char **words) { for (int i = 0; i < 150; i++) middle(300000 * (unsigned)n); return !words; }
END_C
"${CXX:-c++}" -g -O1 -fno-omit-frame-pointer -Wl,--build-id -o app work.cc 2>cc_err || skip "needs a C++ compiler"
cp app bare
objcopy --only-keep-debug bare bare.debug 2>cc_err && strip bare && objcopy --add-gnu-debuglink=bare.debug bare ||
	skip "needs objcopy and strip"
for kind in fp "dwarf,raw,4096"; do
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u --call-graph "$kind" -o "${kind%%,*}" -- ./app 2>cc_err ||
		fail "$kind is recorded" "$(cat cc_err)"
done
"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -g -o stripped -- ./bare

tables=(
	"report -s comm,dso,sym -g none --no-children"
	"report -s dso,sym --no-inline -g none"
	"report -s dso,sym --children -g caller"
	"report -s sym,srcline -g none --no-children"
	"report -s sym -g caller,address"
	"report --folded"
	"report -s sym -v -g none"
	"report -s sym --no-demangle"
	"report -s sym --no-bounds"
	"report -s sym -S leaf"
	"script -F ip,sym,dso,srcline"
	"script"
	"annotate --stdio -s leaf"
	"annotate --stdio -l -s other"
	"export --jsonl -"
)
# shown NAME TABLE OPTION...: with all that is said
shown() { local words; read -ra words <<<"$2"; "$PSTAT" "${words[0]}" -i "$tmp/$1" "${words[@]:1}" "${@:3}" 2>&1; }
plain() { shown fp "${tables[0]}" --no-cache; }
cached() { shown fp "${tables[0]}"; }

# Each test has a cache of its own; kept: the folder; entries: of the program, the others are libraries'.
new_cache()
{
	export XDG_CACHE_HOME=$PWD/cache
	kept=$XDG_CACHE_HOME/pstat
	mkdir -p "$XDG_CACHE_HOME"
}
entry_of()
{
	local id found

	id=$(readelf -n "$tmp/${1:-app}" | sed -n 's/^ *Build ID: *//p')
	found=("$kept/$id"-*)
	[ -f "${found[0]}" ] && echo "${found[0]}"
}
filled()
{
	need_cmd readelf
	new_cache
	cached >/dev/null
	app=$(entry_of) || fail "there is an entry" "$(ls -la "$kept")"
}
# Whatever stands in the place of the entry.
same_as_plain() { same "$1" "$expected" "$(timeout 300 bash -c "$(declare -f shown); shown \"\$@\"" - fp "${tables[0]}")"; }
export PSTAT tmp

test_same_as_without()
{
	new_cache
	for name in fp dwarf stripped; do
		for table in "${tables[@]}"; do
			shown "$name" "$table" --no-cache >expected
			shown "$name" "$table" >first
			shown "$name" "$table" >second
			check "$name: $table: first" cmp expected first
			check "$name: $table: again" cmp expected second
		done
	done
	has "inlined functions are among it" 'twice' "$(shown fp "${tables[2]}")"
	has "lines, too" 'work\.cc:[0-9]' "$(shown fp "${tables[3]}")"
}

# What was asked first, and how deeply, does not show; nor whose other addresses are known.
test_in_any_order()
{
	for first in 0 2 3 9 10 12; do
		rm -rf cache
		new_cache
		shown dwarf "${tables[first]}" >/dev/null
		for second in 2 3; do
			same "${tables[second]}, after ${tables[first]} of another recording" \
				"$(shown fp "${tables[second]}" --no-cache)" "$(shown fp "${tables[second]}")"
		done
	done
}

# Other tests run perf, which links libraries into its cache: that changes their time, and what is kept of them counts
# no more.
library_times() { stat -L -c '%n %z' $(ldd "$WORK/exact" | grep -o '/[^ ]*'); }
need_times() { [ "$(library_times)" = "$1" ] || skip "needs libraries that nobody has linked meanwhile"; }

# Of large files (libc is one on most machines) what unwinds stacks is kept beside the names.
test_unwind_rows()
{
	local table="script -F ip,sym" rows times

	new_cache
	times=$(library_times)
	shown dwarf "$table" --no-cache >expected
	check_not "without the cache nothing is kept" [ -e "$kept" ]
	shown dwarf "$table" >first
	check "the first time" cmp expected first
	mapfile -t rows < <(grep -la 'pstatUR' "$kept"/*)
	[ ${#rows[@]} -gt 0 ] || skip "needs a large library"
	touch -d 2001-01-01 "${rows[@]}"
	shown dwarf "$table" >second
	check "the second time" cmp expected second
	need_times "$times"
	same "it was read" 0 "$(find "${rows[@]}" ! -newermt 2002-01-01 | wc -l)"
	for at in 3 9 20 60 200 "$(($(stat -c %s "${rows[0]}") - 3))"; do
		byte=$(od -An -tu1 -j "$at" -N 1 "${rows[0]}")
		printf "\\x$(printf %02x $((byte ^ 0xa5)))" | dd of="${rows[0]}" bs=1 seek="$at" conv=notrunc 2>dd_err
		cp "${rows[0]}" damaged
		shown dwarf "$table" >damaged_out
		need_times "$times"
		check "damaged at $at: the same" cmp expected damaged_out
		check_not "damaged at $at: made anew" cmp -s damaged "${rows[0]}"
	done
	truncate -s 100 "${rows[0]}"
	shown dwarf "$table" >cut
	check "cut: the same" cmp expected cut
}

# What they take in memory is told of each file, in 8 bytes a row and some for rules: made or kept.
test_unwind_rows_are_told()
{
	local table="report -v -g none" least most

	new_cache
	shown dwarf "$table" --no-cache | grep 'unwind tables of' >made
	shown dwarf "$table" | grep 'unwind tables of' >first
	shown dwarf "$table" | grep 'unwind tables of' >kept_rows
	has "of the program" '^pstat: unwind tables of app: [0-9,]+ rows, [0-9,]+ kB$' "$(cat made)"
	has "of a library" '^pstat: unwind tables of libc' "$(cat made)"
	check "the same where they are kept" cmp made first
	check "and where they were" cmp made kept_rows
	while read -r rows kb; do
		least=$((8 * rows / 1000)) most=$((10 * rows / 1000 + 10))
		check "$rows rows take $least to $most kB: $kb" [ "$kb" -ge $least ] && [ "$kb" -le $most ]
	done < <(sed 's/.*: \([0-9,]*\) rows, \([0-9,]*\) kB/\1 \2/; s/,//g' made)
	has_not "not without -v" 'unwind tables of' "$(shown dwarf "report -g none")"
	has_not "nor of others that unwind" 'unwind tables of' "$(shown dwarf "$table" --unwinder libdw)"
}

# A recorder that unwinds has the rows of the same files, in threads of its own.
test_recorder_unwinds()
{
	local rows folded not_read times

	new_cache
	times=$(library_times)
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u --call-graph dwarf --no-cache -o live -- "$tmp/app"
	check_not "--no-cache: nothing is kept" [ -e "$kept" ]
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u --call-graph dwarf -o live -- "$tmp/app"
	mapfile -t rows < <(grep -la 'pstatUR' "$kept"/*)
	[ ${#rows[@]} -gt 0 ] || skip "needs a large library"
	same "they are whole" ${#rows[@]} "$($entry whole "${rows[@]}")"
	touch -d 2001-01-01 "${rows[@]}"
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u --call-graph dwarf --no-cache -o live -- "$tmp/app"
	same "--no-cache: they are not read" ${#rows[@]} "$(find "${rows[@]}" ! -newermt 2002-01-01 | wc -l)"
	run "$PSTAT" record -N -F 2000 -e cpu-clock:u --call-graph dwarf -o live -- "$tmp/app"
	folded=$("$PSTAT" report -i live --folded --no-cache 2>&1)
	has "stacks are unwound" 'main;middle.*;leaf' "$folded"
	need_times "$times"
	# Which ones is a matter of where samples are; those of main's caller are in each.
	not_read=$(find "${rows[@]}" ! -newermt 2002-01-01 | wc -l)
	if [ "$not_read" -lt ${#rows[@]} ]; then
		pass "they are read"
	else
		fail "they are read" "$err
$folded
$(ls -l --time-style=full-iso "$kept")"
	fi
}

# Names that go into a recording are from the cache, and go into it; reports and recorders share them.
test_names_into_recordings()
{
	local record="$PSTAT record -q -N -F 2000 -e cpu-clock:u -g --symbols-in-file"
	in_file() { "$PSTAT" report -i "$1" --no-cache -s sym,srcline -g none --no-children 2>&1; }

	# Who finds an address that the entry does not have writes the entry anew, with the true name.
	planted() { grep -q leer "$app" || $entry rename "$app" leaf leer; }
	need_cmd readelf
	new_cache
	$record --no-cache -o named -- "$tmp/app"
	check_not "--no-cache: nothing is kept" [ -e "$kept" ]
	$record -o named -- "$tmp/app"
	app=$(entry_of) || fail "there is an entry" "$(ls -la "$kept")"
	has "names are in the recording" '\bleaf\b' "$(in_file named)"
	planted
	has "a report takes them from the same entry" leer "$(cached)"
	planted
	has "in any way of showing them" leer "$(shown fp "${tables[7]}")"
	planted
	$record -o named -- "$tmp/app"
	has "so does a recorder" leer "$(in_file named)"
	$record --no-cache -o named -- "$tmp/app"
	has_not "but for --no-cache" leer "$(in_file named)"
	cp "$tmp/fp" copy
	planted
	run "$PSTAT" archive -i copy --into-recording
	has "an archive's names are from it" leer "$(in_file copy)"
	cp "$tmp/fp" copy
	run "$PSTAT" archive -i copy --into-recording --no-cache
	has_not "but for --no-cache there" leer "$(in_file copy)"
}

test_entries_are_used()
{
	filled
	has_not "the name is new" leer "$(cached)"
	$entry rename "$app" leaf leer
	has "the entry's name is shown" leer "$(cached)"
	has_not "the file's is not" '\bleaf\b' "$(cached)"
	has_not "--no-cache takes none of it" leer "$(plain)"
	$entry rename "$app" leer leaf
	same "as it was" "$(plain)" "$(cached)"
}

test_what_is_made()
{
	filled
	same "the folder is its user's alone" 700 "$(stat -c %a "$kept")"
	same "and the entries" "600" "$(stat -c %a "$kept"/* | sort -u)"
	same "they are whole" "$(ls "$kept" | wc -l)" "$($entry whole "$kept"/*)"
	inode=$(stat -c %i "$app")
	cached >/dev/null
	same "what is known is not written again" "$inode" "$(stat -c %i "$app")"
}

# A recording without build-ids, as perf's are of files that only callers are in: the file that is here has one.
test_without_build_ids()
{
	need_cmd readelf
	new_cache
	cp "$tmp/app" app
	"$PSTAT" record -q -B -N -F 2000 -e cpu-clock:u -g -o nameless -- ./app
	same "the recording has none" "" "$("$PSTAT" buildid-list -i nameless 2>&1)"
	unnamed() { "$PSTAT" report -i nameless -s comm,dso,sym -g none --no-children "$@" 2>&1; }
	unnamed --no-cache >expected
	unnamed >first
	check "the same as without the cache" cmp expected first
	app=$(entry_of) || fail "there is an entry" "$(ls -la "$kept")"
	$entry rename "$app" leaf leer
	has "and it is used" leer "$(unnamed)"
	touch -d 2020-02-02 ./app
	has_not "of a file that was changed since it is not" leer "$(unnamed)"
}

# The vdso is in no file: a copy of it is made for each run, which no later one would know.
test_vdso()
{
	local times

	new_cache
	times=$(library_times)
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -g -o clocks -- "$WORK/exact" clocks:300
	tell() { "$PSTAT" report -i clocks -s dso,sym -g none --no-children 2>&1; }
	tell >first
	grep -q '\[vdso\]' first || skip "needs a clock that is read in the vdso"
	entries=$(ls "$kept")
	tell >second
	check "the same" cmp first second
	need_times "$times"
	same "another report leaves no more entries" "$entries" "$(ls "$kept")"
}

test_no_cache()
{
	new_cache
	for table in "${tables[@]}" "diff $tmp/fp $tmp/dwarf"; do
		words=($table)
		if [ "${words[0]}" = diff ]; then
			run "$PSTAT" ${table} --no-cache
		else
			run "$PSTAT" "${words[0]}" -i "$tmp/fp" "${words[@]:1}" --no-cache
		fi
		same "$table" "0 no" "$status $([ -e "$kept" ] && ls "$kept" || echo no)"
	done
	"$PSTAT" report -i "$tmp/fp" --stats >/dev/null
	"$PSTAT" report -i "$tmp/fp" -s comm -g none --no-children >/dev/null 2>&1
	check_not "nor is it made where no name is asked for" test -e "$kept"
	for command in top diff; do
		has "$command has the option" '^ *--no-cache' "$("$PSTAT" $command -h)"
	done
}

test_damaged()
{
	filled
	expected=$(plain)
	cp "$app" good
	for at in {0..1000..50}; do
		$entry flip good "$app" $at
		same_as_plain "a byte changed at $at of 1000"
	done
	size=$(stat -c %s good)
	for n in 0 7 16 31 32 $((size / 2)) $((size - 1)); do
		head -c "$n" good >"$app"
		same_as_plain "cut after $n bytes"
	done
	{ cat good; echo; } >"$app"
	same_as_plain "longer"
	same "what is damaged is written again" "$size" "$(stat -c %s "$app")"
	$entry rename "$app" "pstat 0" "pstat 9"
	same_as_plain "of another version"
	check "then it is of this one" $entry whole "$app"
}

# Whoever can write it can say anything; all else stays as it is.
test_poisoned()
{
	filled
	cp "$app" good
	bad=
	for at in {0..1000..40}; do
		$entry flip good "$app" $at right
		timeout 300 "$PSTAT" report -i "$tmp/fp" --stdio -s sym,srcline >said 2>&1 || bad+=" $at:$?"
	done
	same "nothing fails" "" "$bad"
}

test_not_a_file()
{
	filled
	expected=$(plain)
	mv "$app" good
	ln -s "$PWD/good" "$app"
	$entry rename good leaf leer
	same_as_plain "a link"
	has "the link is replaced" "regular file" "$(stat -c %F "$app")"
	has "what it leads to is as it was" leer "$(tr -d '\0' <good)"
	rm "$app"; mkfifo "$app"
	same_as_plain "a FIFO"
	has "the FIFO is replaced" "regular file" "$(stat -c %F "$app")"
	rm "$app"; mkdir "$app"
	same_as_plain "a folder"
	has "the folder stays" "directory" "$(stat -c %F "$app")"
	has_not "nothing is left beside it" "^new-" "$(ls "$kept")"
	rmdir "$app"
	cp good "$app"; chmod 620 "$app"
	same_as_plain "one that others may write to"
}

test_others_files()
{
	need_root
	filled
	expected=$(plain)
	$entry rename "$app" leaf leer
	chown 65534 "$app" || skip "needs the right to give files away"
	same_as_plain "an entry of another user"
	chown 65534 "$kept"
	$entry rename "$(entry_of)" leaf leer
	same_as_plain "a folder of another user"
	has "the entry there is as it was" leer "$(tr -d '\0' <"$(entry_of)")"
	rm -rf "$kept"
	chown 65534 "$XDG_CACHE_HOME"
	same_as_plain "around it a folder of another user"
	check_not "nothing is made there" test -e "$kept"
}

test_folder()
{
	filled
	expected=$(plain)
	$entry rename "$app" leaf leer
	chmod 770 "$kept"
	same_as_plain "a folder that others may write to"
	chmod 700 "$kept"
	mv "$kept" elsewhere
	ln -s "$PWD/elsewhere" "$kept"
	same_as_plain "a link to a folder"
	rm "$kept"
	echo x >"$kept"
	same_as_plain "a file"
	rm "$kept"
	XDG_CACHE_HOME=/nowhere/at/all same_as_plain "a folder that cannot be made"
	XDG_CACHE_HOME=relative HOME=$PWD/home1 same_as_plain "a relative path"
	check_not "nothing is made there" test -e relative
	mkdir home2
	XDG_CACHE_HOME='' HOME=$PWD/home2 same_as_plain "no XDG_CACHE_HOME"
	check "it is in the home folder" test -d home2/.cache/pstat
	(
		unset XDG_CACHE_HOME HOME
		same_as_plain "no HOME"
	)
	HOME='' XDG_CACHE_HOME='' same_as_plain "an empty HOME"
	HOME=/dev/null XDG_CACHE_HOME='' same_as_plain "HOME is no folder"
}

test_read_only_home()
{
	need_unprivileged
	expected=$(plain)
	mkdir home
	chmod 500 home
	unset XDG_CACHE_HOME
	HOME=$PWD/home same_as_plain "nothing can be written"
	check_not "nothing is" test -e home/.cache
	chmod 700 home
}

test_writers_at_once()
{
	new_cache
	expected=$(plain)
	for i in {1..6}; do
		for name in fp dwarf; do
			shown "$name" "${tables[i % 5]}" >"$name.$i" &
		done
	done
	wait
	for i in {1..6}; do
		for name in fp dwarf; do
			check "$name: ${tables[i % 5]}" cmp <(shown "$name" "${tables[i % 5]}" --no-cache) "$name.$i"
		done
	done
	same_as_plain "afterwards"
	same "all entries are whole" "$(ls "$kept" | wc -l)" "$($entry whole "$kept"/*)"
}

test_bound()
{
	filled
	expected=$(plain)
	for i in {10..29}; do
		truncate -s 8M "$kept/$i-0123456789abcdef"
		touch -d "2 days ago + $i minutes" "$kept/$i-0123456789abcdef"
	done
	echo x >"$kept/0123-other"
	echo x >"$kept/new-1-2"
	touch -d "3 hours ago" "$kept/new-1-2" "$kept/0123-other"
	echo x >"$kept/new-3-4"
	rm "$app"
	same_as_plain "with too much in it"
	check_not "the oldest went" test -e "$kept/10-0123456789abcdef"
	check "the newest stayed" test -e "$kept/29-0123456789abcdef"
	check "as did what is no entry" test -e "$kept/0123-other"
	check_not "what never became one went" test -e "$kept/new-1-2"
	check "but for what may yet" test -e "$kept/new-3-4"
	check "the new one is there" test -e "$app"
	total=$(find "$kept" -name '*-????????????????' -printf '%s\n' | awk '{ n += $1 } END { print n <= 64 * 1024 * 1024 }')
	same "it is within its bound" 1 "$total"
}

# An answer from before must not hide it, nor stay when it is gone.
test_debug_file_comes_and_goes()
{
	new_cache
	mv "$tmp/bare.debug" .
	for round in 1 2; do
		same "without it, round $round" "$(shown stripped "${tables[0]}" --no-cache)" "$(shown stripped "${tables[0]}")"
		has_not "no names, round $round" '\bleaf\b' "$(shown stripped "${tables[0]}")"
		cp bare.debug "$tmp/"
		same "with it, round $round" "$(shown stripped "${tables[3]}" --no-cache)" "$(shown stripped "${tables[3]}")"
		has "names, round $round" '\bleaf\b' "$(shown stripped "${tables[0]}")"
		rm "$tmp/bare.debug"
	done
	mv bare.debug "$tmp/"
}

# ---- DWARF with parts in other files ----

inlined="${tables[10]}" # inlined functions and lines of each address

# same_again NAME WHAT: with the cache as without, and once more.
same_again()
{
	shown "$1" "$inlined" --no-cache >expected
	shown "$1" "$inlined" >first
	shown "$1" "$inlined" >second
	check "$2: the same" cmp expected first
	check "$2: and again" cmp expected second
}

# is_used NAME WHAT: its entry's names are shown, while what it is from is what it was.
is_used()
{
	local found

	found=$(entry_of "${PWD#"$tmp"/}/$1") || fail "$2: there is an entry" "$(ls "$kept")"
	$entry rename "$found" leaf leer
	has "$2: the entry is used" leer "$(shown "$1" "$inlined")"
	$entry rename "$found" leer leaf
}

# rewrite FILE OLD NEW: another text of the same length in the same inode, size and time of change as before.
rewrite()
{
	touch -r "$1" then
	sed "s/$2/$3/g" "$1" >written
	check "$1: it is as long" test "$(stat -c %s "$1")" = "$(stat -c %s written)"
	cat written >"$1"
	touch -r then "$1"
}

# Also where one comes and goes: what is not there is a part of the answer.
test_split_dwarf()
{
	cp "$tmp/work.cc" .
	# Version 4 is what dwp makes packages of.
	"${CXX:-c++}" -gdwarf-4 -gsplit-dwarf -O1 -fno-omit-frame-pointer -Wl,--build-id -o split.data.app work.cc 2>cc_err ||
		skip "needs a compiler that splits DWARF"
	dwo=$(ls ./*.dwo)
	need_cmd readelf
	new_cache
	mv split.data.app split
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -g -o split.data -- ./split
	mv split.data "$tmp/split"
	same_again split "a .dwo file"
	has "it has the names" twice "$(cat expected)"
	is_used split "a .dwo file"
	rewrite "$dwo" twice twyce
	same_again split "another of the same size and time"
	has "its names are shown" twyce "$(cat second)"
	is_used split "then"
	cp "$dwo" twin
	mv twin "$dwo"
	same_again split "a copy in its place"
	mv "$dwo" away
	same_again split "it is gone"
	has_not "and its names" twyce "$(cat second)"
	is_used split "without it"
	mv away "$dwo"
	same_again split "it is back"
	has "and its names" twyce "$(cat second)"
	if dwp -e split -o split.dwp 2>dwp_err; then
		rewrite split.dwp twyce twuce
		same_again split "a package came"
		has "its names are shown" twuce "$(cat second)"
		is_used split "a package"
		rewrite split.dwp twuce twice
		same_again split "another package"
		has "with its names" twice "$(cat second)"
		strip -o stripped split && objcopy --only-keep-debug split split.debug &&
			objcopy --add-gnu-debuglink=split.debug stripped && mv stripped split
		rm -r "$kept" # which is_used would find the entry of the other file in
		same_again split "a debug file of its own"
		has "the names are those of the package" twice "$(cat second)"
		is_used split "a package of a debug file"
		rewrite split.dwp twice twuce
		same_again split "another package again"
		has "with other names" twuce "$(cat second)"
		rm split.dwp
		same_again split "the package went"
		has_not "and its names" twuce "$(cat second)"
	fi
	mkdir moved
	mv split "$dwo" moved
	ln -s moved/split split
	same_again split "a link in its place"
	check "all entries are whole" $entry whole "$kept"/*
}

# Of many .dwo files those that were asked for are in the entry.
test_split_dwarf_of_many()
{
	need_cmd readelf
	for i in {1..30}; do
		echo "int unused$i(int x) { return x * $i; }" >u$i.cc
	done
	cp "$tmp/work.cc" .
	"${CXX:-c++}" -g -gsplit-dwarf -O1 -fno-omit-frame-pointer -Wl,--build-id -o many work.cc u*.cc 2>cc_err ||
		skip "needs a compiler that splits DWARF"
	new_cache
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -g -o "$tmp/many" -- ./many
	same_again many "many .dwo files"
	text=$(tr '\0' '\n' <"$(entry_of "${PWD#"$tmp"/}/many")")
	has "the one that has the code is told" 'work\.dwo$' "$text"
	has_not "others are not" 'u[0-9]*\.dwo$' "$text"
	rm ./*u[0-9]*.dwo
	is_used many "others are gone"
}

test_dwz()
{
	need_cmd dwz
	need_cmd readelf
	cp "$tmp/work.cc" .
	for name in one two; do
		"${CXX:-c++}" -g -O1 -fno-omit-frame-pointer -Wl,--build-id -D$name -include cstdio -o $name work.cc 2>cc_err ||
			skip "needs a C++ compiler"
	done
	dwz -m common -M "$PWD/common" one two 2>dwz_err || skip "dwz does not take these programs: $(head -1 dwz_err)"
	new_cache
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -g -o "$tmp/one" -- ./one
	same_again one "a common file"
	has "it has the names" twice "$(cat expected)"
	is_used one "a common file"
	rewrite common twice twyce
	same_again one "another of the same size and time"
	is_used one "another"
	mv common away
	same_again one "it is gone"
	mv away common
	same_again one "it is back"
	has "it is known by its path" '/common$' "$(tr '\0' '\n' <"$(entry_of "${PWD#"$tmp"/}/one")")"
}

# ---- the kernel and its modules ----

golden=$ROOT/tests/golden
recorded=$golden/kernel_and_module.data

# in_kernel RECORDING OPTION...: frames in the kernel and its module
in_kernel()
{
	"$PSTAT" script -i "$1" --symfs "$PWD/tree" -F ip,sym,srcline "${@:2}" 2>&1
}
# kernel_same WHAT RECORDING OPTION...
kernel_same()
{
	in_kernel "${@:2}" --no-cache >expected
	in_kernel "${@:2}" >first
	in_kernel "${@:2}" >second
	check "$1: the same" cmp expected first
	check "$1: and again" cmp expected second
}
# entry_with TEXT: the one that has it, as the path of a file of the kernel, in its key
entry_with() { grep -la "$1" "$kept"/* | head -1; }

test_vmlinux()
{
	local kernel cached

	mkdir tree
	cat >vmlinux.c <<-'END_C'
	#define AT __attribute__((aligned(4096), used))
	static inline __attribute__((always_inline)) void copy_some(void) { __asm__ volatile(".skip 64"); }
	AT void _text(void) { __asm__ volatile(".skip 64"); }
	AT void entry_SYSCALL_64(void) { __asm__ volatile(".skip 64"); }
	AT void __x64_sys_read(void) { __asm__ volatile(".skip 64"); }
	AT void vfs_read(void) { copy_some(); }
	AT void schedule(void) { __asm__ volatile(".skip 64"); }
	END_C
	"${CC:-cc}" -g -O1 -fcf-protection=none -fno-pic -mcmodel=kernel -fno-toplevel-reorder -nostdlib -static -Wl,-e,_text \
		-Wl,--build-id -Wl,-Ttext=0xffffffff81000000 -o vmlinux vmlinux.c 2>cc_err ||
		skip "needs a compiler for kernels of x86-64"
	new_cache
	kernel_same "a vmlinux" "$recorded" -k vmlinux
	has "inlined functions are among it" 'copy_some' "$(cat expected)"
	has "lines, too" 'vmlinux\.c:6' "$(cat expected)"
	for cached in first second; do
		has "script names the file, $cached" 'vfs_read\+0x[0-9a-f]+ \(vmlinux\)' \
			"$("$PSTAT" script --show-kernel-path -i "$recorded" -k vmlinux 2>&1)"
	done
	has "without its names it is none" '\(\[kernel\.kallsyms\]\)' \
		"$("$PSTAT" script --show-kernel-path -i "$recorded" --kallsyms "$ROOT/tests/golden/kallsyms" 2>&1)"
	kernel=$(entry_with '^\[kernel.kallsyms') || fail "there is an entry" "$(ls "$kept")"
	$entry rename "$kernel" vfs_read vfs_raed
	has "it is used" vfs_raed "$(in_kernel "$recorded" -k vmlinux)"
	$entry move "$recorded" moved.data
	has "also of a kernel that lies elsewhere" 'vfs_raed' "$(in_kernel moved.data -k vmlinux)"
	has "with its inlined functions" 'copy_some' "$(in_kernel moved.data -k vmlinux)"
	has_not "not with --no-cache" vfs_raed "$(in_kernel moved.data -k vmlinux --no-cache)"
	$entry rename "$kernel" vfs_raed vfs_read
	kernel_same "moved" moved.data -k vmlinux
	rm -rf "$kept"
	kernel_same "moved, first" moved.data -k vmlinux
	kernel_same "then as it was" "$recorded" -k vmlinux
	rewrite vmlinux copy_some copy_same
	kernel_same "another of the same size and time" "$recorded" -k vmlinux
	has "its names are shown" copy_same "$(cat second)"
	has "code is found behind names of the cache" 'vmlinux.c' \
		"$("$PSTAT" annotate --stdio -l -i "$recorded" -k vmlinux -s vfs_read 2>&1)"
}

# Functions of a module are from a list, which is not kept, or from its file.
test_module()
{
	local path=/lib/modules/6.1.0-golden/kernel/golden.ko module

	mkdir -p "tree${path%/*}"
	cat >golden.c <<-'END_C'
	static inline __attribute__((always_inline)) void poll_once(void) { __asm__ volatile(".balign 32\n\t.skip 64"); }
	__attribute__((aligned(256))) void golden_init(void) { __asm__ volatile(".skip 16"); }
	__attribute__((aligned(256))) void golden_poll(void) { poll_once(); }
	__attribute__((aligned(256))) void golden_irq(void) { __asm__ volatile(".skip 64"); }
	END_C
	"${CC:-cc}" -c -O1 -g -fno-pic -fcf-protection=none -o golden.o golden.c 2>cc_err &&
		ld -r --build-id -o "tree$path" golden.o 2>>cc_err || skip "needs a C compiler and ld"
	grep -v golden "$golden/kallsyms" >without
	new_cache
	for list in "$golden/kallsyms" without; do
		rm -rf "$kept"
		kernel_same "$list" "$recorded" --kallsyms "$list"
		has "$list: inlined functions are among it" poll_once "$(cat expected)"
		module=$(entry_with "^$path") || fail "$list: there is an entry" "$(ls "$kept")"
		$entry rename "$module" poll_once poll_twic
		has "$list: it is used" poll_twic "$(in_kernel "$recorded" --kallsyms "$list")"
		$entry rename "$module" poll_twic poll_once
	done
	$entry move "$recorded" moved.data
	$entry rename "$module" poll_once poll_twic
	has "it is used where it is loaded elsewhere" poll_twic "$(in_kernel moved.data --kallsyms without)"
	$entry rename "$module" poll_twic poll_once
	kernel_same "loaded elsewhere" moved.data --kallsyms without
	sed 's/golden_poll/golden_pool/' "$golden/kallsyms" >renamed
	kernel_same "another list" "$recorded" --kallsyms renamed
	kernel_same "that list" "$recorded" --kallsyms "$golden/kallsyms"
	has "functions are those of the list" golden_poll "$(cat second)"
	$entry rename "$(grep -la 'frames$' "$kept"/* | head -1)" golden_poll golden_poXl
	has_not "whatever the entry calls them" golden_poXl "$(in_kernel "$recorded" --kallsyms "$golden/kallsyms")"
	rewrite "tree$path" poll_once poll_onze
	for list in "$golden/kallsyms" without; do
		kernel_same "$list: another of the same size and time" "$recorded" --kallsyms "$list"
		has "$list: its names are shown" poll_onze "$(cat second)"
	done
}

# first_of_running WORDS: samples in the running kernel, shown for the first time: expected, first
first_of_running()
{
	need_paranoid 1
	[[ "$(head -c 1000 /proc/kallsyms)" == *[1-9a-f]*\ [tT]\ * ]] || skip "needs kernel addresses"
	"$PSTAT" record -q -N -F 5000 -e cpu-clock -o "$tmp/kernel" -- dd if=/dev/zero of=/dev/null bs=64k count=30000 2>dd_err
	new_cache
	shown kernel "$1" --no-cache >expected
	shown kernel "$1" >first
}

# Of the running kernel's list what was asked for, until the next start of the machine.
test_kallsyms()
{
	local words="report -s sym -g none --no-children" kernel

	first_of_running "$words"
	shown kernel "$words" >second
	check "the first time" cmp expected first
	check "and again" cmp expected second
	kernel=$(grep -la "^list " "$kept"/*) || skip "needs samples in the kernel"
	name=$(sed -n 's/.*\[k\] \([a-z_]*\) *$/\1/p' expected | head -1)
	$entry rename "$kernel" "$name" "${name//?/x}"
	has "it is used" "\\[k\\] ${name//?/x}" "$(shown kernel "$words")"
	$entry rename "$kernel" "${name//?/x}" "$name"
	boot_id=$(cat /proc/sys/kernel/random/boot_id)
	check "it is told which start of the machine that is" grep -qa "$boot_id" "$kernel"
	$entry rename "$kernel" "$name" "${name//?/x}"
	$entry rename "$kernel" "$boot_id" "${boot_id//?/0}"
	same "of another start it is not" "$(cat expected)" "$(shown kernel "$words")"
	for i in 1 2; do
		same "other ways to show it, $i" "$(shown kernel "script -F ip,sym,dso" --no-cache)" \
			"$(shown kernel "script -F ip,sym,dso")"
		same "also of addresses that were not asked for, $i" "$(shown kernel "script -F ip,sym" --no-cache)" \
			"$(shown kernel "script -F ip,sym")"
	done
}

# That list itself, which is mapped, for what was not asked for before.
test_list()
{
	local words="report -s sym -g none --no-children" list

	first_of_running "$words"
	list=$(grep -la "kernel list [0-9]" "$kept"/*) || skip "needs the kernel's build-id"
	check "it is whole" $entry whole "$list"
	cp "$list" good
	# again: without what is kept of the addresses alone
	again() { rm -f $(grep -la "^list " "$kept"/*); shown kernel "$words"; }
	# Others may load modules and programs of BPF meanwhile, whose names the list made anew has, too.
	made_again() # NAME
	{
		$entry whole "$list" && grep -qa "$(</proc/sys/kernel/random/boot_id)" "$list" &&
			grep -qaF "$1" "$list" && ! grep -qaF "${1//?/x}" "$list"
	}
	same "it says the same" "$(cat expected)" "$(again)"
	name=$(sed -n 's/.*\[k\] \([a-z_]*\) *$/\1/p' expected | head -1)
	$entry rename "$list" "$name" "${name//?/x}"
	has "it is used" "\\[k\\] ${name//?/x}" "$(again)"
	has_not "not with --no-cache" "${name//?/x}" "$(shown kernel "$words" --no-cache)"
	"$PSTAT" top -a --once --stdio -d 0.2 -e cpu-clock >top 2>&1
	same "top finds it" 0 "$?"
	$entry rename "$list" "$(cat /proc/sys/kernel/random/boot_id)" "$(tr a-f0-9 0 </proc/sys/kernel/random/boot_id)"
	same "of another start it is not used" "$(cat expected)" "$(again)"
	check "but replaced" made_again "$name"
	for at in {0..1000..100}; do
		$entry flip good "$list" $at
		same "a byte changed at $at of 1000" "$(cat expected)" "$(again)"
	done
	bad=
	for at in {0..1000..100}; do
		$entry flip good "$list" $at right
		timeout 300 "$PSTAT" report -i "$tmp/kernel" --stdio -s sym,sym >said 2>&1 || bad+=" $at:$?"
		rm -f $(grep -la "^list " "$kept"/*)
	done
	same "nothing fails, whatever is in it" "" "$bad"
	head -c 100000 good >"$list"
	same "cut" "$(cat expected)" "$(again)"
	check "and made again" made_again "$name"
}

doctor_says() { "$PSTAT" doctor | grep -A 2 '^names cache' | tr -s ' \n' ' '; }

test_doctor()
{
	new_cache
	has "nothing yet" "^names cache ok $kept: nothing was kept yet" "$(doctor_says)"
	check_not "it makes nothing" test -e "$kept"
	filled
	n=$(ls "$kept" | wc -l)
	has "entries" "^names cache ok $kept: $n entr(y|ies), [0-9.]+ MB, and no more than 64 MB" "$(doctor_says)"
	chmod 777 "$kept"
	has "of others" "^names cache missing $kept: other users may write to it what to do: XDG_CACHE_HOME" "$(doctor_says)"
	rm -rf "$kept"
	echo x >"$kept"
	has "no folder" "^names cache missing $kept: Not a directory" "$(doctor_says)"
	has "nowhere" "^names cache missing there is neither" "$(env -u HOME -u XDG_CACHE_HOME bash -c "$(declare -f doctor_says); doctor_says")"
}

run_tests
