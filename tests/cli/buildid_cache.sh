#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat buildid-cache, beside perf's, in a home of its own: what one adds the other lists, finds and removes; and what
# is wrong in the cache is refused.
#
# rights: test_pstat_adds_perf_reads test_a_container test_where test_doctor test_wrong
. "${0%/*}/../lib.sh"

new_home()
{
	unset PERF_BUILDID_DIR PERF_CONFIG
	HOME=$PWD/home-$1
	mkdir -p "$HOME"
	export HOME
}

id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

# A program of its own, with a build-id: two of them differ.
program()
{
	need_cmd cc
	echo "int main(int n, char **v) { volatile long i = $2; for (; i; i--); return n > 9 && v; }" >source.c
	cc -g -O0 -Wl,--build-id -o "$1" source.c || skip "needs a compiler whose linker makes build-ids"
}

same_lists()
{
	same "$1" "$(perf buildid-cache -l)" "$("$PSTAT" buildid-cache -l 2>/dev/null)"
}

test_pstat_adds_perf_reads()
{
	need_perf
	new_home ours
	program prog 1
	run "$PSTAT" buildid-cache -v -a "prog,$(command -v ls)"
	same "status" 0 "$status"
	has "says so" "^added $(id_of prog) $PWD/prog$" "$out"
	same_lists "perf lists the same"
	has "the program is there" "^$(id_of prog) $PWD/prog$" "$(perf buildid-cache -l)"
	same "the layout" "../..$PWD/prog/$(id_of prog)" "$(readlink "$HOME/.debug/.build-id/$(id_of prog | cut -c1-2)/$(id_of prog | cut -c3-)")"
	same "private" "700 700" "$(stat -c %a "$HOME/.debug" "$HOME/.debug/$PWD/prog/$(id_of prog)/elf" | xargs)"
	perf buildid-cache -r prog
	same_lists "perf has removed it"
	perf buildid-cache -P
	same "perf has removed all" "" "$("$PSTAT" buildid-cache -lv)"
}

test_perf_adds_pstat_reads()
{
	need_perf
	new_home theirs
	program prog 1
	perf buildid-cache -a "prog,$(command -v ls)"
	same_lists "pstat lists the same"
	run "$PSTAT" buildid-cache -v -r prog
	same "removed" "removed $(id_of prog) $PWD/prog" "$out"
	same_lists "perf knows"
	run "$PSTAT" buildid-cache -v -p "$(command -v ls)"
	same "purged: status" 0 "$status"
	has "purged" '^removed [0-9a-f]{40} /.*/ls$' "$out"
	same "nothing is left" "" "$(perf buildid-cache -l)$(find "$HOME/.debug" -type f)"
}

# The file of a recording is deleted, and another one is put in its place: its names come out of the cache.
test_names_of_what_is_gone()
{
	local id

	need_perf
	need_paranoid 2
	new_home gone
	program prog 100000000
	id=$(id_of prog)
	"$PSTAT" record -N -q -e cpu-clock:u -o rec ./prog 2>/dev/null
	same "-M: it is missing" "$id $PWD/prog" "$("$PSTAT" buildid-cache -M rec | grep prog)"
	"$PSTAT" buildid-cache -a prog
	same "-M: it is not missing" "" "$("$PSTAT" buildid-cache -M rec | grep prog)"
	perf buildid-cache -M rec | sort >theirs
	same "-M: as perf has it" "" "$("$PSTAT" buildid-cache -M rec | grep -vxFf theirs)"
	program prog 5
	has "replaced: named out of the cache" 'prog +.*\[\.\] main' "$("$PSTAT" report -i rec -s dso,symbol 2>/dev/null)"
	has "perf finds it there, too" 'main' "$(perf report -i rec --stdio -s symbol 2>/dev/null)"
	rm prog
	has "deleted: named out of the cache" 'prog +.*\[\.\] main' "$("$PSTAT" report -i rec -s dso,symbol 2>/dev/null)"
	run "$PSTAT" buildid-cache -l
	has_not "-l, as perf: not what is gone" prog "$out"
	has "but that is said" '1 more in .*: their files were removed' "$err"
	has "-lv lists it" "^$id $PWD/prog  elf  [0-9.]+ MB  [0-9-]{10}  stays$" "$("$PSTAT" buildid-cache -l -v)"
	# An entry that lies.
	program other 7
	cp other "$HOME/.debug/$PWD/prog/$id/elf"
	run "$PSTAT" report -i rec -s dso,symbol
	has_not "a lying entry is not used" '\] main' "$out"
	has "and is told of" "$id/elf: its build-id is $(id_of other | cut -c1-12)" "$err"
	same "-M: it is missing again" "$id $PWD/prog" "$("$PSTAT" buildid-cache -M rec | grep prog)"
	run "$PSTAT" buildid-cache -v -p "$PWD/prog"
	same "-p knows it by its name" "removed $id $PWD/prog" "$out"
}

test_update()
{
	new_home update
	program prog 1
	"$PSTAT" buildid-cache -a prog
	echo junk >"$HOME/.debug/$PWD/prog/$(id_of prog)/elf"
	run "$PSTAT" buildid-cache -v -u prog
	same "updated" "updated $(id_of prog) $PWD/prog" "$out"
	same "it is the file again" "" "$(cmp prog "$HOME/.debug/$PWD/prog/$(id_of prog)/elf" 2>&1)"
}

# Kernel modules are packed as a whole: their build-id is that of what is in them.
test_packed()
{
	local end tool id

	new_home packed
	program prog 1
	id=$(id_of prog)
	for end in xz:xz gz:gzip zst:zstd; do
		tool=${end#*:} end=${end%:*}
		command -v $tool >/dev/null || continue
		$tool -c prog >mod.ko.$end
		run "$PSTAT" buildid-cache -v -a mod.ko.$end
		same "$end: added" "0 added $id $PWD/mod.ko.$end" "$status $out$err"
		same "$end: as it is" "" "$(cmp mod.ko.$end "$HOME/.debug/$PWD/mod.ko.$end/$id/elf" 2>&1)"
		same "$end: listed" "$id $PWD/mod.ko.$end" "$("$PSTAT" buildid-cache -l)"
		run "$PSTAT" buildid-cache -v -r mod.ko.$end
		same "$end: removed" "0 removed $id $PWD/mod.ko.$end" "$status $out$err"
	done
	need_cmd gzip
	gzip -c source.c >text.ko.gz
	fails_with 125 'text.ko.gz: it has no build-id, or is no ELF file' "$PSTAT" buildid-cache -a text.ko.gz
	head -c 300 mod.ko.gz >cut.ko.gz
	fails_with 125 'cut.ko.gz: it has no build-id, or is no ELF file' "$PSTAT" buildid-cache -a cut.ko.gz
	head -c 300000000 /dev/zero | gzip -1 >bomb.ko.gz
	fails_with 125 'bomb.ko.gz: it has no build-id, or is no ELF file' "$PSTAT" buildid-cache -a bomb.ko.gz
	same "none of them is there" "" "$(find "$HOME/.debug" -type f)"
}

test_a_container()
{
	local pid

	need_cmd unshare
	unshare -rm --propagation unchanged true 2>/dev/null || skip "needs namespaces, which may not be made here"
	new_home container
	program prog 1
	mkdir -p root/bin root/proc
	cp prog root/bin/inside
	mkfifo hold
	unshare -rm --propagation unchanged sh -c 'mount --bind root root 2>/dev/null; echo up >hold; read -r x <hold' &
	read -r x <hold
	pid=$!
	run "$PSTAT" buildid-cache --target-ns "$pid" -v -a "$PWD/root/bin/inside"
	echo done >hold
	wait "$pid"
	[ "$status" -eq 0 ] || case $err in *"permission denied"* | *"no right"*) skip "needs the right to see another namespace's files" ;; esac
	same "added" "added $(id_of prog) $PWD/root/bin/inside" "$out"
}

test_where()
{
	new_home where
	program prog 1
	printf '[buildid]\n\tdir = %s/there\n' "$PWD" >"$HOME/.perfconfig"
	"$PSTAT" buildid-cache -a prog
	check "buildid.dir of perf's configuration" [ -f "there/$PWD/prog/$(id_of prog)/elf" ]
	check_not "not at home" [ -e "$HOME/.debug" ]
	"$PSTAT" buildid-cache --buildid-dir here -a prog
	check "--buildid-dir" [ -f "here/$PWD/prog/$(id_of prog)/elf" ]
	same "listed there" "$(id_of prog) $PWD/prog" "$("$PSTAT" buildid-cache --buildid-dir here -l)"
	fails_with 125 '^pstat: buildid-cache: none/none: cannot be created: No such file' \
		"$PSTAT" buildid-cache --buildid-dir none/none -a prog
}

test_others()
{
	need_root
	new_home others
	program prog 1
	mkdir -m 1777 shared
	mkdir shared/cache
	chown 12345 shared/cache
	fails_with 125 '^pstat: buildid-cache: shared/cache: it belongs to user 12345, not to you or root' \
		"$PSTAT" buildid-cache --buildid-dir shared/cache -a prog
	same "nothing was written" "" "$(ls -A shared/cache)"
	run "$PSTAT" buildid-cache -f --buildid-dir shared/cache -a prog
	same "-f: status" 0 "$status"
}

doctor_says() { "$PSTAT" doctor | grep -A 2 '^build-id cache' | tr -s ' \n' ' '; }

test_doctor()
{
	new_home doctor
	program prog 1
	has "nothing yet" "^build-id cache ok $HOME/.debug: nothing was kept yet" "$(doctor_says)"
	"$PSTAT" buildid-cache -a prog
	has "one" "^build-id cache ok $HOME/.debug: 1 entry, 0\.0[0-9]+ MB; of recordings of pstat 0, 0\.000 MB, and by default no more than 2048 MB" \
		"$(doctor_says)"
	echo >file
	PERF_BUILDID_DIR=$PWD/file
	export PERF_BUILDID_DIR
	has "no folder" "^build-id cache missing $PWD/file: Not a directory" "$(doctor_says)"
	printf '[buildid]\ndir = /dev/null\n' >"$HOME/.perfconfig"
	unset PERF_BUILDID_DIR
	has "switched off" "^build-id cache missing there is no .HOME, or" "$(doctor_says)"
}

test_wrong()
{
	new_home wrong
	fails_with 129 '^pstat: buildid-cache: nothing is asked for' "$PSTAT" buildid-cache
	fails_with 129 "^pstat: buildid-cache: 'x' is not an option" "$PSTAT" buildid-cache -l x
	fails_with 129 '^pstat: buildid-cache: -l cannot be combined' "$PSTAT" buildid-cache -l -P
	fails_with 125 '^pstat: buildid-cache: nothere: no such file' "$PSTAT" buildid-cache -a nothere
	mkfifo fifo
	fails_with 125 '^pstat: buildid-cache: fifo: not a regular file' "$PSTAT" buildid-cache -a fifo
	fails_with 125 '^pstat: buildid-cache: /etc/passwd: it has no build-id' "$PSTAT" buildid-cache -a /etc/passwd
	fails_with 125 ': not in the cache' "$PSTAT" buildid-cache -p /no/such
	run "$PSTAT" buildid-cache --buildid-dir none -l
	same "no folder: nothing to list" "0 " "$status $out$err"
}

run_tests
