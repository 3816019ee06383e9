#!/bin/bash
# Split DWARF in a package (.dwp) is not read, and says so; nor does any library open it: what lies in its place is a
# pipe, which would wait for ever.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"

cat >"$tmp/app.c" <<'C'
static volatile unsigned sink;
static inline __attribute__((always_inline)) void inlined(unsigned n) { while (n--) sink = sink * 3 / 2 + n; }
__attribute__((noinline)) void outer(void) { inlined(30000000); }
int main(void) { outer(); }
C
cd "$tmp" && "${CC:-cc}" -O1 -g -gsplit-dwarf -o app app.c 2>cc_err && ls ./*.dwo >/dev/null 2>&1 ||
	skip "needs a compiler with -gsplit-dwarf"
run "$PSTAT" record -q -o x -e cpu-clock:u -F 2000 -g -- ./app
same "recorded" 0 "$status"
export HOME=$tmp

"$PSTAT" report -i x >before 2>said
has "before: the inlined function of the .dwo file" '\] inlined' "$(cat before)"
has_not "before: nothing is missing" 'in a package' "$(cat said)"

mkfifo app.dwp
timeout 60 "$PSTAT" report -i x >after 2>said
same "ends by itself" 0 $?
has_not "no inlined function" '\] inlined' "$(cat after)"
has "the function is still there" 'outer' "$(cat after)"
has "it is told why" 'app .*split debug information in a package is not read: .*/app\.dwp' "$(cat said)"
has "lines, which are not in it, are there" 'app\.c:[23]' "$("$PSTAT" report -i x -s srcline 2>/dev/null)"
done_testing
