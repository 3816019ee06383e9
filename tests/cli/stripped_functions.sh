#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions of stripped programs: the same recording is read with the file that has the names and with its
# stripped copy (which has the same build-id). Row by row the numbers must be the same.
#
# run: once
. "${0%/*}/beside_perf.bash"
cd "$tmp" || exit 1

cat >work.c <<'END_C'
volatile unsigned sum;
static __attribute__((noinline)) void first(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i * i; }
static __attribute__((noinline)) void second(unsigned n) { for (unsigned i = 0; i < n; i++) sum ^= i / (n - i + 1); }
__attribute__((noinline, visibility("default"))) void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
	first(2 * n);
	second(n);
	sum++;
}
END_C
cat >main.c <<'END_C'
void work(unsigned n);
int main(void) { for (;;) work(100000); }
END_C
need_paranoid 2
mkdir -p "names$PWD" "stripped$PWD"
"${CC:-cc}" -O1 -fno-omit-frame-pointer -Wl,--build-id -shared -fPIC -o libwork.so work.c 2>cc_err &&
	"${CC:-cc}" -O1 -fno-omit-frame-pointer -Wl,--build-id -Wl,-rpath,"$PWD" -o busy main.c ./libwork.so 2>>cc_err ||
	skip "needs a C compiler"
for file in libwork.so busy; do
	cp "$file" "names$PWD/"
	strip -o "stripped$PWD/$file" "$file"
done
recorded data "$PSTAT" -F 4000 -e cpu-clock:u -g -- ./busy
export HOME=$tmp

# rows TREE OPTION...: what report says with the files of this tree
rows() { "$PSTAT" report -q -i data --symfs "$1" -g none --no-children --dsos libwork.so "${@:2}" 2>said; }

# The same, only how many samples each row has.
counts() { rows "$1" -F sample,sym "${@:2}" | awk 'NF { print $1 }'; }

same "as many rows, with the same samples" "$(counts names)" "$(counts stripped)"
has "there are at least two functions" '^[2-9]' "$(counts stripped | wc -l)"
has "the exported function has its name" '\[\.\] work' "$(rows stripped -F sample,sym)"
has "the others have the file's, and where they begin" '\[\.\] \[libwork\.so\+0x[0-9a-f]+\]' "$(rows stripped -F sample,sym)"
has "that names are missing is still told" "stripped" "$("$PSTAT" report -i data --symfs stripped 2>&1 >/dev/null)"

# Where first begins, by the symbol table of the whole file; its only segment with code is mapped as it lies.
offset=$("$PYTHON" - "names$PWD/libwork.so" first <<'END_PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, size, n = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(n)]
symtab = next(s for s in sections if s[1] == 2)
strings = sections[symtab[6]][4]
for i in range(symtab[5] // 24):
    name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, symtab[4] + i * 24)
    if data[strings + name:].split(b"\0", 1)[0].decode() == sys.argv[2]:
        text = next(s for s in sections if s[3] <= value < s[3] + s[5] and s[2] & 4)
        print("0x%x" % (value - text[3] + text[4]))
END_PY
)
has "the place is the function's start in the file" "\\[libwork\\.so\\+$offset\\]" "$(rows stripped -F sample,sym)"
same "one can ask for it" "$(counts names -S first)" "$(counts stripped -S "[libwork.so+$offset]")"
same "-U hides what has no name" "work" "$(rows stripped -F sym -U | sed 's/.*\] //;/^$/d;s/ *$//')"

# Folded stacks and script: the names in the whole file's output replaced give the stripped one's.
renames=()
while read -r name place; do
	renames+=(-e "s/\\b$name\\b/[$place]/")
done < <(paste -d ' ' <("$PSTAT" script -i data --symfs names -F ip,sym 2>/dev/null | awk 'NF > 1 { print $2 }') \
	<("$PSTAT" script -i data --symfs stripped -F ip,sym 2>/dev/null | awk 'NF > 1 { print $2 }') |
	sort -u | sed -n 's/^\([a-z]*\) \[\(.*\)\]$/\1 \2/p')
has "some names are replaced" '^[2-9]' "${#renames[@]}"
same "folded stacks" "$("$PSTAT" report -i data --symfs names --folded 2>/dev/null | sed "${renames[@]}" | sort)" \
	"$("$PSTAT" report -i data --symfs stripped --folded 2>/dev/null | sort)"
same "script, with offsets in the function" \
	"$("$PSTAT" script -i data --symfs names 2>/dev/null | sed "${renames[@]}" | grep libwork)" \
	"$("$PSTAT" script -i data --symfs stripped 2>/dev/null | grep libwork)"
has "a function begins at 0" '"symbol":"\[libwork\.so\+0x[0-9a-f]*\]","offset":[0-9]' \
	"$("$PSTAT" script -j -i data --symfs stripped 2>/dev/null)"

# And perf's way is an option. (Addresses in chains are offsets in perfs before 7: script_vs_perf.sh.)
for command in "report --stdio -g none --no-children -s dso,sym" "script -F comm,sym,ip,symoff,dso -G"; do
	# shellcheck disable=SC2086 # words
	same "as perf: ${command%% *} --no-bounds" \
		"$(perf $command -i data --symfs "$PWD/stripped" --no-inline 2>/dev/null | grep libwork | sed 's/ *$//')" \
		"$("$PSTAT" $command -i data --symfs stripped --no-inline --no-bounds 2>/dev/null | grep libwork | sed 's/ *$//')"
done
done_testing
