#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat profile beside bcc's profile, of the same program in the same seconds: the same stacks, and as many samples of
# each function, within what chance makes of two samplings.
. "${0%/*}/../lib.sh"

need_root
need_cmd profile-bpfcc
need_mount
headers=$(find /usr/src -maxdepth 1 -name 'linux-headers-*-amd64' | sort | tail -n 1)

# bcc finds the kernel's headers by the kernel's name; any will do, for the program that samples has no kernel types.
with_headers()
{
	[ ! -d "/lib/modules/$(uname -r)/build" ] || exec "$@"
	[ -n "$headers" ] || return 77
	# shellcheck disable=SC2016
	exec unshare -m sh -c 'at=/lib/modules/$(uname -r)
		mount -t tmpfs none /lib/modules && mkdir "$at" && ln -s "$0" "$at/build" &&
		ln -s "${0%-amd64}-common" "$at/source" && exec "$@"' "$headers" "$@"
}

# Stacks that end in a function; bcc has a line for each address in it.
stacks_of() { sed -n "s/;$2;burn [0-9]*\$//p" "$1" | sort -u; }

# of FILE FUNCTION: samples of stacks that have it.
of() { awk -v f="$2" '$0 ~ ";" f ";" { n += $NF } END { print n + 0 }' "$1"; }

test_beside_bcc()
{
	"$WORK/callers" known 120000 &
	program=$!
	(with_headers profile-bpfcc -f -F 499 -p $program 20 >bcc 2>said) &
	bcc=$!
	for engine in rings bpf; do
		"$PSTAT" profile --engine $engine -q -f -F 499 -p $program 10 >$engine
	done
	wait $bcc || skip "bcc's profile does not run here: $(tail -n 1 said)"
	kill $program
	wait $program 2>/dev/null
	for engine in rings bpf; do
		same "$engine: the same stack" "$(stacks_of bcc two_thirds)" "$(stacks_of $engine two_thirds)"
		set -- "$(of bcc one_third)" "$(of bcc two_thirds)" "$(of $engine one_third)" "$(of $engine two_thirds)"
		check "there are samples: $*" test "$2" -gt 50 -a "$4" -gt 50
		check "shares of $engine and bcc are the same, within 6 sigma: $*" awk -v a="$1" -v b="$2" -v c="$3" -v d="$4" \
			'BEGIN { x = a / (a + b) - c / (c + d); exit !(x * x < 36 * 2 / 9 * (1 / (a + b) + 1 / (c + d))) }'
	done
}

run_tests
