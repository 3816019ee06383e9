#!/bin/bash
# SPDX-License-Identifier: MIT
# make dist: the files that git has, and the same bytes each time, also from a tree that was unpacked from them.
#
# run: once
. "${0%/*}/../lib.sh"
unset MAKEFLAGS MAKELEVEL SOURCE_DATE_EPOCH
export XZ_OPT=-0 # it takes a second less, and is as deterministic
need_cmd git
need_cmd make
need_cmd xz
git -C "$ROOT" ls-files --error-unmatch Makefile >"$tmp/.git_says" 2>&1 ||
	skip "needs the tree of a git repository: $(head -n 1 "$tmp/.git_says")"
git -C "$ROOT" ls-files --deleted | grep -q . && skip "needs all files that git has"

version=$(sed -n 's/^#define PSTAT_VERSION "\(.*\)"/\1/p' "$ROOT/src/util/util.h")
name=pstat-$version
cd "$tmp" || exit 1
run make -s -C "$ROOT" dist DIST="$tmp/first"
same "it says which file it made" "$tmp/first/$name.tar.xz" "$out"
same "the files are those that git has" "$(git -C "$ROOT" -c core.quotePath=false ls-files | sort)" \
	"$(tar tf "first/$name.tar.xz" | sed "s,^$name/,," | sort)"
same "they belong to root, and only their owner may change them" "" \
	"$(tar tvf "first/$name.tar.xz" --numeric-owner | grep -v -e '^-rw-r--r-- 0/0 ' -e '^-rwxr-xr-x 0/0 ' -e '^l.* 0/0 ')"

(umask 077 && tar xf "first/$name.tar.xz" --no-same-permissions)
sums() { (cd "$1" && git -C "$ROOT" ls-files -z | xargs -0 cksum); }
same "unpacked, they are what they were" "$(sums "$ROOT")" "$(sums "$name")"
mkdir -p "$name/build/cc" "$name/src/x/__pycache__"
touch "$name/build/cc/made" "$name/pstat" "$name/config.mk" "$name/src/x.o" "$name/src/x/__pycache__/x.pyc"
run make -s -C "$name" dist DIST="$tmp/second"
check "a tree without git, in which something was built, makes the same bytes" cmp "first/$name.tar.xz" "second/$name.tar.xz"
SOURCE_DATE_EPOCH=86400 run make -s -C "$name" dist DIST="$tmp/third"
same "the time of all is SOURCE_DATE_EPOCH" "1970-01-02 00:00" \
	"$(TZ=UTC tar tvf "third/$name.tar.xz" | awk '{ print $4, $5 }' | sort -u)"
done_testing
