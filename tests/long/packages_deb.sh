#!/bin/bash
# SPDX-License-Identifier: MIT
# The life of the packages that make deb makes: made, in two folders alike, found right by lintian, installed in a bare
# root, run, upgraded, removed. Nothing is left of them then. See packages.bash.
. "${0%/*}/../lib.sh"
. "${0%/*}/packages.bash"

# setpriv itself would start programs of root alone: a shell starts them.
as_nobody() # GROUP COMMAND...
{
	in_root setpriv --reuid 65534 --regid "$1" --clear-groups sh -c 'exec "$@"' sh "${@:2}"
}

# Debian's names of the groups' settings, as README.Debian has them.
rights_of_a_group()
{
	in_root apt-get install -q libcap2-bin >/dev/null 2>&1
	in_root addgroup --quiet --system pstat
	in_root dpkg-statoverride --update --add root pstat 0750 /usr/bin/pstat
	in_root dpkg-reconfigure pstat
}
capabilities='cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf=ep'

test_made()
{
	local kind

	need_cmd dpkg-buildpackage
	need_cmd dh
	make_packages deb 1 first
	same "seven packages" "libpstat-dev libpstat0 libpstat0-dbgsym pstat pstat-dbgsym pstat-exporter python3-pstat" \
		"$(printf '%s\n' "${made[@]##*/}" | sed 's/_.*//' | sort | paste -sd' ')"
	make_packages deb 2 second
	for kind in pstat_ libpstat0_ libpstat-dev_; do
		dpkg-deb -x first/deb/"$kind"*.deb "$kind.first"
		dpkg-deb -x second/deb/"$kind"*.deb "$kind.second"
		check "$kind: made in another folder, its files have the same bytes" \
			diff -r --no-dereference -x changelog.Debian.gz "$kind.first" "$kind.second"
	done
	if command -v lintian >/dev/null; then
		check "lintian has no complaint" lintian --fail-on error,warning --tag-display-limit 0 --allow-root first/deb/*-1_*.changes
	else
		point ok "lintian has no complaint" "needs lintian, which is not installed"
	fi
	touch "$tmp/made"
	mkdir "$tmp/deb"
	cp first/deb/*.deb second/deb/*.deb "$tmp/deb"
}

test_life()
{
	local suite before

	[ -e "$tmp/made" ] || skip "needs the packages"
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	bare_root "$suite"
	mkdir -p "$root/build/deb" "$root/out"
	cp "$tmp"/deb/*-1_*.deb "$root/build/deb"
	cp "$tmp"/deb/*-2_*.deb "$root/out"
	# What they need comes first, so that what remains at the end is theirs.
	in_root apt-get satisfy -q libcap2-bin python3 "$(for file in "$root"/build/deb/{pstat,libpstat0}_*.deb; do
		dpkg-deb -f "$file" Depends Recommends | sed 's/^[^:]*: //'; done | paste -sd,)" >/dev/null 2>&1
	before=$(files_of_root)
	run in_root sh -c "cd / && $(sed -n 's/^    make deps deb && sudo \(.*\)/\1/p' "$ROOT/README")"
	same "installed as README says" 0 "$status"
	installed_program_works
	has_not "with all its libraries, but for the one that is only suggested" 'not usable' \
		"$(in_root pstat version --build-options | grep -v libdebuginfod)"
	installed_library_works "/usr/lib/$(gcc -print-multiarch)/pkgconfig"
	installed_module_works /usr/lib/python3/dist-packages
	same "no capability that nobody asked for" "" "$(in_root getcap /usr/bin/pstat)"

	rights_of_a_group
	same "the group's capabilities" "/usr/bin/pstat $capabilities" "$(in_root getcap /usr/bin/pstat)"
	run as_nobody "$(in_root getent group pstat | cut -d: -f3)" pstat stat -a -x, -e context-switches -- true
	has "a member counts all CPUs" '^[1-9][0-9]*,,context-switches,' "$err"
	run as_nobody 65534 pstat stat true
	same "others may not" 126 "$status"
	run in_root sh -c 'dpkg -i /out/*.deb'
	same "upgraded" 0 "$status"
	same "to the other" "$version-2" "$(in_root dpkg-query -W -f '${Version}' pstat)"
	same "the group's capabilities are kept" "/usr/bin/pstat $capabilities" "$(in_root getcap /usr/bin/pstat)"
	installed_program_works
	in_root sh -c 'dpkg-statoverride --remove /usr/bin/pstat && delgroup --quiet pstat'

	run in_root sh -c 'dpkg -r $(dpkg-query -W -f "\${Package}\n" "*pstat*")'
	same "removed" 0 "$status"
	run in_root sh -c 'dpkg -P $(dpkg-query -W -f "\${Package}\n" "*pstat*")'
	same "purged: dpkg has nothing of them" "" "$(in_root dpkg-query -W -f '${Package} ${Status}\n' "*pstat*" 2>/dev/null; ls "$root/var/lib/dpkg/info" |
		grep pstat)"
	same "and nothing is left" "$before" "$(files_of_root)"
}

# Made for one suite, they are installed on the newest.
test_newest_suite()
{
	[ -e "$tmp/made" ] || skip "needs the packages"
	bare_root sid
	mkdir -p "$root/out"
	cp "$tmp"/deb/*-1_*.deb "$root/out"
	run in_root sh -c 'apt-get install -q --no-install-recommends /out/pstat_*.deb /out/pstat-exporter_*.deb /out/libpstat0_*.deb'
	same "installed" 0 "$status"
	installed_program_works
}
run_tests
