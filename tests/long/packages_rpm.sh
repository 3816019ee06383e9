#!/bin/bash
# SPDX-License-Identifier: MIT
# The life of the packages that make rpm makes: made, found right by rpmlint, installed in a bare root, run, upgraded,
# removed. Nothing is left of them then. See packages.bash.
. "${0%/*}/../lib.sh"
. "${0%/*}/packages.bash"

rpm_there() { rpm --root "$root" --dbpath /var/lib/rpm "$@"; }
test_rpm()
{
	local suite before modules=/usr/lib/python3/dist-packages

	need_cmd rpmbuild
	need_cmd eu-strip
	make_packages rpm 1 first
	make_packages rpm 2 second
	if command -v rpmlint >/dev/null; then
		check "rpmlint has no complaint" rpmlint -c "$ROOT/src/packaging/rpmlint.toml" first/rpm/RPMS/*/*-1.*.rpm
	else
		point ok "rpmlint has no complaint" "needs rpmlint, which is not installed"
	fi
	same "each library that the program loads is named" "" "$("$ROOT/src/packaging/loaded_libraries" "$PSTAT" |
		while read -r name; do grep -Fq "$name()" "$ROOT/src/packaging/pstat.spec.in" || echo "$name"; done)"

	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	bare_root "$suite"
	in_root apt-get install -q libdw1 python3 >/dev/null 2>&1
	# What every distribution of RPM has: folders of its package filesystem and of Python, and a linker that looks into
	# /usr/lib64.
	mkdir -p "$root/usr/lib64/pkgconfig" "$root"/usr/share/{licenses,man/man3} "$root/usr/src/debug" "$root/var/lib/rpm" \
		"$root$modules/__pycache__"
	rpm --eval '%{_libdir}' >"$root/etc/ld.so.conf.d/rpm.conf"
	rpm_there --initdb
	before=$(files_of_root)
	run rpm_there -i --nodeps first/rpm/RPMS/*/*-1.*.rpm
	same "installed" 0 "$status"
	in_root ldconfig
	installed_program_works
	installed_library_works "$(rpm --eval '%{_libdir}')/pkgconfig"
	installed_module_works "$modules"
	run rpm_there -U --nodeps second/rpm/RPMS/*/*-2.*.rpm
	same "upgraded" 0 "$status"
	same "to the other" "$version-2" "$(rpm_there -q --qf '%{VERSION}-%{RELEASE}' pstat)"
	installed_program_works
	run rpm_there -e pstat pstat-exporter pstat-libs pstat-devel python3-pstat pstat-debuginfo
	same "removed" 0 "$status"
	same "and nothing is left" "$before" "$(files_of_root)"
}
run_tests
