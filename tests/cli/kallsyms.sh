#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat kallsyms and pstat check: perf's lines, and an exit status that says something.
#
# run: once
. "${0%/*}/../lib.sh"

# The places as the kernel's own list has them.
listed() { awk -v name="$1" '$3 == name { print $1 }' /proc/kallsyms; }

test_functions()
{
	local name

	[ -r /proc/kallsyms ] && ! head -1 /proc/kallsyms | grep -q '^0* ' || skip "needs a user who sees the kernel's addresses"
	for name in vfs_read schedule _stext; do
		run "$PSTAT" kallsyms $name
		same "$name: status" 0 "$status"
		same "$name: where it begins" "$(listed $name | sed 's/^0*/0x/')" \
			"$(sed -nE "s/^$name: \[kernel\] \[kernel.kallsyms\] (0x[0-9a-f]+)-0x[0-9a-f]+ \(\1-.*\)\$/\1/p" <<<"$out")"
	done
	run "$PSTAT" kallsyms vfs_read
	next=$(awk '{ print $1 }' /proc/kallsyms | sort -u | grep -A 1 "^$(listed vfs_read)\$" | tail -1 | sed 's/^0*/0x/')
	has "it ends where the next one begins" "-$next \\(.*-$next\\)\$" "$out"
	run "$PSTAT" kallsyms no_such_symbol vfs_read
	same "not found: status" 1 "$status"
	same "not found: said" "no_such_symbol: not found" "$(head -1 <<<"$out")"
	has "the others are printed" '^vfs_read: ' "$out"
}

test_hidden()
{
	[ "$(id -u)" -eq 0 ] && [ "$(</proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "needs root, and kptr_restrict below 2"
	setpriv --reuid 65534 --clear-groups head -1 /proc/kallsyms | grep -q '^0* ' ||
		skip "needs a user who does not see the kernel's addresses"
	run setpriv --reuid 65534 --clear-groups "$PSTAT" kallsyms vfs_read
	same "status" 125 "$status"
	same "nothing is printed" "" "$out"
	has "the reason" '^pstat: kallsyms: /proc/kallsyms: kernel addresses are hidden$' "$err"
	has "what to do" '^  .*sysctl kernel\.' "$err"
}

test_features()
{
	run "$PSTAT" check feature libelf,LibElf,HAVE_LIBELF_SUPPORT
	same "on: status" 0 "$status"
	same "perf's line, for each" 3 "$(grep -cFx '                libelf: [ on  ]  # HAVE_LIBELF_SUPPORT' <<<"$out")"
	run "$PSTAT" check feature libperl,libelf
	same "OFF: status" 1 "$status"
	has "OFF: the line says why" '^ +libperl: \[ OFF \]  # HAVE_LIBPERL_SUPPORT \( tip: .+ \)$' "$out"
	has "the others are looked at" 'libelf: \[ on' "$out"
	for words in "-q feature libelf" "feature -q libelf"; do
		# shellcheck disable=SC2086 # words are to be split
		run "$PSTAT" check $words
		same "$words: status" 0 "$status"
		same "$words: nothing is printed" "" "$out$err"
	done
	run "$PSTAT" check feature libpfm4
	same "as version has it" "$("$PSTAT" version --build-options | sed -nE 's/^ *libpfm4 *\[ (..).*/\1/p')" \
		"$(sed -E 's/.*\[ (..).*/\1/' <<<"$out")"
	fails_with 1 "^pstat: check: 'nope' is not a feature of perf" "$PSTAT" check feature nope,libelf
	fails_with 129 "^pstat: check: give the word 'feature'" "$PSTAT" check libelf
	fails_with 129 "^pstat: check: give one list of features" "$PSTAT" check feature
	fails_with 129 "^pstat: kallsyms: give the names" "$PSTAT" kallsyms
}

run_tests
