# SPDX-License-Identifier: MIT
# For tests/long/packages_*.sh: packages are made, and installed in a bare root.
#
# They need root, the tools of their kind, and for a bare root debootstrap and a server of Debian's packages, which is one of
# those that apt knows here. The bare root of a suite is made once, in build/roots.

unset BUILD MAKEFLAGS MAKELEVEL SANITIZE DEVELOPER # what make was called with is not what is tested
need_root
need_mount
version=$(make -s -C "$ROOT" print-VERSION)
root=$tmp/root

# make_packages deb|rpm RELEASE FOLDER: $made, their names.
make_packages()
{
	run make -s -C "$ROOT" "$1" RELEASE="$2" DIST="$PWD/$3/dist" PACKAGES="$PWD/$3"
	[ "$status" -eq 0 ] || err=$(tail -n 30 "$tmp/.err" "$tmp/.out")
	same "make $1, release $2" 0 "$status"
	mapfile -t made < <(tail -n 20 <<<"$out" | grep "\.$1\$")
}

# bare_root SUITE: $root, a copy of a system that has only what is essential.
bare_root()
{
	local base=$ROOT/build/roots/$1 mirror lock

	need_cmd debootstrap
	mkdir -p "$base"
	exec {lock}>"$base.lock"
	flock "$lock"
	if [ ! -e "$base/.whole" ]; then
		mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1)
		[ "$mirror" ] || skip "needs a server of Debian's packages in the lists of apt"
		rm -rf "$base"
		mkdir -p "$base"
		debootstrap --variant=minbase "$1" "$base" "$mirror" >"$tmp/.debootstrap" 2>&1 ||
			skip "needs a system of Debian's suite $1: $(tail -n 1 "$tmp/.debootstrap")"
		cp -rL /etc/apt/apt.conf.d/. "$base/etc/apt/apt.conf.d/" 2>/dev/null
		echo 'APT::Get::Assume-Yes "true";' >"$base/etc/apt/apt.conf.d/90yes"
		touch "$base/.whole"
	fi
	exec {lock}>&-
	rm -rf "$root"
	cp -a "$base" "$root"
	cp -L /etc/hosts /etc/resolv.conf "$root/etc/" 2>/dev/null
	in_root sh -c 'apt-get update -q' >/dev/null 2>&1 || skip "needs a server of Debian's packages"
}

# A program, so that the mounts go with it.
cat >"$tmp/in_root" <<-'END_SH'
	#!/bin/sh
	set -e
	root=$1
	shift
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$(command -v chroot)" "$root" "$@"
END_SH
chmod +x "$tmp/in_root"
in_root() { "${own_mounts[@]}" "$tmp/in_root" "$root" "$@"; }

# All files of the root with their owners and modes, but for what package managers keep for themselves.
files_of_root()
{
	local own='proc|sys|dev|run|tmp|out|build|var/log|var/cache|var/lib/(apt|dpkg|rpm)|etc/(ld\.so\.cache|[a-z]*-)'

	(cd "$root" && find . -xdev -printf '%y %m %u:%g %l %p\n') | grep -Ev " \./($own)(/|\$)" | sort -k5
}

# What all packages of the program must do, wherever they were made.
installed_program_works()
{
	run in_root pstat stat -x, -e page-faults -- true
	has "it counts" '^[1-9][0-9]*,,page-faults,' "$err"
	run in_root pstat record -q -N -e page-faults -c 1 -o /tmp/data -- /bin/ls /
	run in_root pstat report -q --stdio -i /tmp/data
	has "it records and reports" '%  ls ' "$out"
	has "a manual page" '^\.TH PSTAT' "$(zcat -f "$root"/usr/share/man/man1/pstat-stat.1*)"
	check "completion of bash" bash -n "$root/usr/share/bash-completion/completions/pstat"
	has "the exporter's unit starts it" '^ExecStart=/usr/bin/pstat exporter' \
		"$(cat "$root"/usr/lib/systemd/system/pstat-exporter.service "$root"/lib/systemd/system/pstat-exporter.service 2>/dev/null)"
	same "which is not enabled" "" "$(find "$root/etc/systemd" -name 'pstat*' 2>/dev/null)"
}

# The module of Python, which is in FOLDER.
installed_module_works() # FOLDER
{
	run in_root python3 -c 'import pstat; print(pstat.version())'
	same "Python finds the module, and that the library" "$version" "$out"
	check "its byte code is made" ls "$root$1"/__pycache__/pstat.*.pyc
}

# A program is built with what is installed to build with, and runs by the shared library.
installed_library_works() # PKG_CONFIG_FOLDER
{
	local flags

	printf '#include <libpstat.h>\n#include <stdio.h>\nint main(void) { puts(pstat_version()); return 0; }\n' >version.c
	flags=$(PKG_CONFIG_PATH=$root$1 PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs pstat)
	# shellcheck disable=SC2086 # several flags
	check "a program is built with the library" "${CC:-cc}" -o "$root/tmp/version" version.c $flags
	run in_root /tmp/version
	same "and runs" "0 $version" "$status $out"
}

