#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat probe: a program that says how often and with what it was called, built with and without optimization; what the
# kernel counted and fetched at probes in it is the same. Probes are the whole machine's: names have this shell's pid,
# and what a test leaves is removed when it ends.
#
# run: once
# rights: test_without_rights test_definitions test_patterns test_texts test_words test_kernel_functions test_refused
. "${0%/*}/../lib.sh"

group=pstat_probe_$$

cat >"$tmp/called.c" <<'C'
/* called N: N calls of outer(), with other arguments each, half of them by a thread, and N by a child. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
struct name { const char *text; int length; };
struct item { struct item *next; struct name name; unsigned kind : 3, rest : 5; short numbers[3]; };
int total = 40;
static inline __attribute__((always_inline)) int inner(int value)
{
	int two = value + value;
	__asm__ volatile("" : "+r"(two));
	return two;
}
__attribute__((noinline)) int outer(const char *text, int length, struct item *item)
{
	int sum = length;
	__asm__ volatile("" : "+r"(sum) : "r"(item) : "memory");
	total++;
	sum += text[0] * item->numbers[2];
	return inner(sum) + item->numbers[1];
}
__attribute__((noinline)) static void call(int i, int said)
{
	struct item next = { 0, { "follows", 7 }, 5, 0, { 0, 0, 0 } };
	struct item item = { &next, { "leads", 5 }, i, 0, { -i, 10 * i, 0 } };
	char text[16];
	int before = total, value;
	snprintf(text, sizeof(text), "call-%d", i);
	value = outer(text, i * 3 - 4, &item);
	if (said)
		printf("text=\"%s\" length=%d kind=%d b=%d next=\"%s\" total=%d value=%d\n", text, i * 3 - 4, i & 7,
		       10 * i, next.name.text, before, value);
}
static void *half(void *n)
{
	for (int i = 0; i < *(int *)n / 2; i++)
		call(i, 1);
	return 0;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t thread;
	pthread_create(&thread, 0, half, &n);
	pthread_join(thread, 0);
	for (int i = n / 2; i < n; i++)
		call(i, 1);
	fflush(stdout);
	if (argc > 2 && !fork()) {
		for (int i = 0; i < n; i++)
			call(i, 0);
		_exit(0);
	}
	wait(0);
	return 0;
}
C

# build: $tmp/plain without optimization, $tmp/fast with it.
build()
{
	cd "$tmp" || exit 1
	[ -x fast ] && return
	"${CC:-cc}" -O0 -g -pthread -o plain called.c 2>cc_err && "${CC:-cc}" -O2 -g -pthread -o fast called.c 2>>cc_err ||
		skip "needs a C compiler"
}

# Needs a kernel that probes programs, and lets this user set probes.
need_probes()
{
	need_root
	need_uprobes
	need_tracefs
	[ -w /sys/kernel/tracing/uprobe_events ] || skip "needs tracefs on /sys/kernel/tracing, writable"
	trap '"$PSTAT" probe -q --del "$group*:*" 2>/dev/null' EXIT
}

# line PATTERN: its number in the source, counted from the line of the function, FROM.
line_of() { awk -v from="$1" -v what="$2" 'index($0, from) { n = NR } n && index($0, what) { print NR - n; exit }' "$tmp/called.c"; }

test_counts()
{
	local line

	need_probes
	build
	line=$(line_of 'int outer(' 'sum += text')
	for program in plain fast; do
		run "$PSTAT" probe -x ./$program -a "$group:outer=outer" -a "$group:outer=outer%return" -a "$group:inner=inner"
		same "$program: they are set" 0 "$status"
		has "$program: the first is named" "^  $group:outer +\(on outer in $tmp/$program\)" "$out"
		run "$PSTAT" stat -x, -o counts -e "$group:outer,$group:outer__return,$group:inner" ./$program 6 child
		same "$program: calls, returns and copies, of threads and a child" \
			"12 $group:outer 12 $group:outer__return 12 $group:inner" \
			"$(awk -F, 'NF > 3 { printf "%s%s %s", sep, $1, $3; sep = " " }' counts)"
		run "$PSTAT" probe --list "$group:*"
		has "$program: the list has the function" "^  $group:outer +\(on outer@.*called\.c in $tmp/$program\)" "$out"
		has "$program: and the return" "^  $group:outer__return \(on outer%return@.*called\.c in $tmp/$program\)" "$out"
		run "$PSTAT" probe --del "$group:*"
		same "$program: each event is removed once" 3 "$(grep -c '^Removed event: ' <<<"$out")"
		same "$program: none is left" "" "$("$PSTAT" probe -l "$group:*")"
	done
	# A compiler that optimizes may take a line apart.
	run "$PSTAT" probe -q -x ./plain -a "$group:line=outer:$line"
	run "$PSTAT" stat -x, -o counts -e "$group:line" ./plain 6 child
	has "a line counts once each time" "^12,,$group:line," "$(<counts)"
	has "the list has the line" "^  $group:line +\(on outer:$line@" "$("$PSTAT" probe --list "$group:line")"
}

# A probe of the program's own, as sys/sdt.h makes them, with a semaphore: the program says how often it was up.
test_usdt()
{
	need_probes
	build
	cat >ticks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
volatile unsigned short up __attribute__((section(".probes"), used));
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]), seen = 0;
	for (int i = 0; i < n; i++) {
		__asm__ volatile("990:\tnop\n"
				 "\t.pushsection .note.stapsdt,\"\",%%note\n\t.balign 4\n"
				 "\t.4byte 992f-991f, 994f-993f, 3\n"
				 "991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"
				 "993:\t.8byte 990b, 0, up\n"
				 "\t.asciz \"app\"\n\t.asciz \"tick\"\n\t.asciz \"-4@%0 -4@%1\"\n994:\t.balign 4\n"
				 "\t.popsection" : : "r"(i * 3 - 4), "r"(n));
		seen += up;
	}
	printf("%d\n", seen);
}
C
	"${CC:-cc}" -O2 -no-pie -o ticks ticks.c 2>cc_err || skip "needs an assembler for notes" "$(<cc_err)"
	same "it is listed" "%sdt_app:tick" "$("$PSTAT" probe -x ./ticks -F '%*')"
	fails_with 125 "ticks has no probe '%sdt_app:tock' of its own\$" "$PSTAT" probe -x ./ticks -D %app:tock
	fails_with 125 "ticks has no probe '%tock' of its own\$" "$PSTAT" probe -x ./ticks -D %tock
	for text in %tick '%t*' '%*:tick' sdt_app:tick; do
		has "$text" "^p:sdt_app/tick $PWD/ticks:0x[0-9a-f]*\([^ ]*\) arg1=" "$("$PSTAT" probe -x ./ticks -D "$text")"
	done
	fails_with 125 "plain has no probes of its own\$" "$PSTAT" probe -x ./plain -D %app:tick
	same "no probe: the semaphore is down" 0 "$(./ticks 5)"
	run "$PSTAT" probe -q -x ./ticks "$group:tick=%sdt_app:tick"
	same "it is set" "0 " "$status $err"
	run "$PSTAT" record -q -o ticks.data -e "$group:tick" ./ticks 5
	same "a probe: the semaphore is up" 5 "$out"
	same "its arguments" "-4 5, -1 5, 2 5, 5 5, 8 5, " \
		"$("$PSTAT" script -i ticks.data -F event,trace | sed -n 's/.* arg1=\(.*\) arg2=\(.*\)/\1 \2,/p' | tr '\n' ' ')"
	run "$PSTAT" stat -x, -o counts -e probe:./ticks:%app:tick ./ticks 7
	has "in one step" "^7,,probe_app:tick," "$(<counts)"
	run "$PSTAT" stat -x, -o counts -e 'probe:./ticks:%ti*' ./ticks 7
	has "in one step, of any provider" "^7,,probe_app:tick," "$(<counts)"
}

# Two that differ in their provider are two events, unless they were given one name.
test_usdt_providers()
{
	need_probes
	{
		echo 'int main(void) {'
		for provider in one two; do
			printf '%s\n' '__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",%note\n.balign 4\n"' \
				'".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"' \
				"\"993: .8byte 990b, 0, 0\\n.asciz \\\"$provider\\\"\\n.asciz \\\"tick\\\"\\n\"" \
				'".asciz \"\"\n994: .balign 4\n.popsection");'
		done
		echo '}'
	} >two.c
	"${CC:-cc}" -O2 -no-pie -o two two.c 2>cc_err || skip "needs an assembler for notes" "$(<cc_err)"
	same "both" "p:sdt_one/tick p:sdt_two/tick" "$("$PSTAT" probe -x ./two -D %tick | cut -d ' ' -f 1 | xargs)"
	fails_with 125 "'tick' matches several functions, which cannot have one name, 'x'" "$PSTAT" probe -x ./two -D x=%tick
	run "$PSTAT" stat -x, -o counts -e 'probe:./two:%tick' ./two
	same "in one step" "1 probe_one:tick 1 probe_two:tick" "$(awk -F, 'NF > 3 { print $1, $3 }' counts | xargs)"
}

# perf's word for memory of the program: that of a variable always is, and the kernel's own words are told so.
test_user_memory()
{
	build
	same "a variable" "$("$PSTAT" probe -x ./plain -D 'outer text:string')" \
		"$("$PSTAT" probe -x ./plain -D 'outer text@user:string')"
	same "words of the kernel" "t=+u8(+u0(%di)):string" \
		"$("$PSTAT" probe -x ./plain -D 'outer t=+8(+0(%di))@user:string' | sed 's/.* //')"
}

# Threads and processes that end in any order: Linux mixes up whose event is whose, and the counts are right.
test_exact()
{
	local run

	need_probes
	cat >ends.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int n;
__attribute__((noinline)) void parse(int i) { __asm__ volatile("" : : "r"(i) : "memory"); }
static void *work(void *unused)
{
	for (int i = 0; i < n; i++)
		parse(i);
	return unused;
}
int main(int argc, char **argv)
{
	n = atoi(argv[argc - 1]);
	for (int child = 0; child < 3; child++) {
		pthread_t threads[4];

		if (fork())
			continue;
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], 0, work, 0);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], 0);
		if (!fork())
			_exit((work(0), 0));
		wait(0);
		_exit(0);
	}
	while (wait(0) > 0)
		;
	work(0);
}
C
	"${CC:-cc}" -O2 -pthread -o ends ends.c || skip "needs a compiler"
	for run in {1..8}; do
		"$PSTAT" stat -x, -o counts -e probe:./ends:parse ./ends 1000
		same "run $run" 16000 "$(sed -n 's/,,probe_ends:parse,.*//p' counts)"
	done
}

# left PID: the probes that the pstat of this pid has in the kernel.
left() { grep -o "pstat_$1_[^ ]*" /sys/kernel/tracing/uprobe_events; }

test_in_one_step()
{
	local pid

	need_probes
	build
	"$PSTAT" stat -x, -o counts -e "probe:./plain:outer,{probe:$tmp/plain:outer%return:u,probe:./fast:inner}" \
		-e "probe:./plain:[ch]al[fl]:u" ./plain 6 child >/dev/null 2>said &
	pid=$!
	wait $pid
	same "status" 0 $?
	same "calls and returns, of threads and a child; a pattern is an event for each function" \
		"12 probe_plain:outer 12 probe_plain:outer__return 0 probe_fast:inner 12 probe_plain:call 1 probe_plain:half" \
		"$(awk -F, 'NF > 3 { printf "%s%s %s", sep, $1, $3; sep = " " }' counts)"
	same "none is left" "" "$(left $pid)"
	run "$PSTAT" record -q -o step.data -e 'probe:./plain:outer text:string' ./plain 6
	same "samples with arguments" "$(sed 's/ .*//' <<<"$out")" \
		"$("$PSTAT" script -i step.data -F event,trace | sed -n 's/.*probe_plain:outer: .*text_string=/text=/p')"
	fails_with 129 "plain has no function 'uoter'" "$PSTAT" stat -e probe:./plain:outer,probe:./plain:uoter true
	fails_with 129 "probe:./plain: a function is missing: probe:FILE:FUNCTION" "$PSTAT" stat -e probe:./plain true
	"$PSTAT" stat -e probe:./plain:outer ./nowhere 2>/dev/null &
	pid=$!
	wait $pid
	same "none is left of a command that was not found" "" "$(left $pid)"
}

# run_held SIGNAL: a run that has begun gets the signal; sets pid.
run_held()
{
	rm -f ready
	"$PSTAT" stat -e probe:./plain:outer bash -c 'echo >ready; exec sleep 1000' >/dev/null 2>&1 &
	pid=$!
	until [ -s ready ] || ! kill -0 $pid 2>/dev/null; do :; done
	has "SIG$1: the probe has pstat's pid" "^pstat_${pid}_plain/outer$" "$(left $pid)"
	child=$(pgrep -P $pid)
	kill -s "$1" $pid
	wait $pid 2>/dev/null
}

test_signals_in_one_step()
{
	local pid child

	need_probes
	need_cmd pgrep
	build
	for signal in TERM INT HUP; do
		run_held $signal
		same "SIG$signal: it is removed" "" "$(left $pid)"
	done
	run_held KILL
	kill "$child"
	has "SIGKILL: it is left, and listed" "^  pstat_${pid}_plain:outer \(on outer@" "$("$PSTAT" probe -l "pstat_${pid}_*:*")"
	until "$PSTAT" probe -q -d "pstat_${pid}_*:*" 2>said || ! grep -q measures said; do :; done
	same "and removed by --del" "" "$(left $pid)$(<said)"
}

# The program's own lines, of what was sampled.
sampled()
{
	"$PSTAT" script -i "$1" -F event,trace | sed -nE \
		"s/^ *$group:outer: .*(text=.*) length=(.*) kind=(.*) b=(.*) next=(.*) total=(.*)\$/\1 length=\2 kind=\3 b=\4 next=\5 total=\6/p"
}

test_arguments()
{
	local program

	need_probes
	build
	for program in plain fast; do
		run "$PSTAT" probe -q -x ./$program "$group:outer=outer" text=text:string length item-\>kind \
			b=item-\>numbers[1] next=item-\>next-\>name.text:string total
		same "$program: they are set" "0 " "$status $err"
		run "$PSTAT" probe -q -x ./$program -a "$group:back=outer%return value=\$retval:s32"
		run "$PSTAT" record -q -o $program.data -e "$group:outer,$group:back__return" ./$program 6
		same "$program: they are what it was called with" "$(sed 's/ value=.*//' <<<"$out")" "$(sampled $program.data)"
		same "$program: and what it returned" "$(sed 's/.* value=//' <<<"$out")" \
			"$("$PSTAT" script -i $program.data -F event,trace | sed -n 's/.*back__return:.* value=//p')"
		"$PSTAT" probe -q --del "$group:*"
	done
}

test_definitions()
{
	build
	run "$PSTAT" probe -x ./plain -D outer
	has "no rights are needed" "^p:probe_plain/outer $tmp/plain:0x[0-9a-f]+\$" "$out"
	same "a name of one's own" "p:g/e" "$("$PSTAT" probe -x ./plain -D g:e=outer | cut -d' ' -f1)"
	same "a copy in each caller" 1 "$("$PSTAT" probe -x ./fast -D inner | wc -l)"
	run "$PSTAT" probe -x ./plain -V outer
	for variable in 'char\* text' 'int length' 'struct item\* item' 'int sum'; do
		has "variables: $variable" "^		${variable% *}	${variable##* }\$" "$out"
	done
	run "$PSTAT" probe -x ./plain -L outer:"$(line_of 'int outer(' 'int sum')"-"$(line_of 'int outer(' 'asm')"
	has "lines with code" "^ +$(line_of 'int outer(' 'int sum')  	int sum = length;" "$out"
	run "$PSTAT" probe -x ./plain -F 'o*er'
	same "functions" outer "$out"
	need_perf
	need_tracefs # perf mounts it, for all tests
	perf probe -h 2>&1 | grep -q -- --exec || skip "needs a perf with perf probe"
	for words in outer outer%return 'ou*r' 'outer length' 'outer text=text:string item->name.length' 'e=outer+0'; do
		perf probe -q -x ./plain -D "$words" >theirs 2>/dev/null || skip "needs a perf that reads this program"
		same "as perf: $words" "$(<theirs)" "$("$PSTAT" probe -x ./plain -D "$words")"
	done
}

# functions PROGRAM PLACE...: the events of a definition, sorted: compilers differ in where they put functions.
functions()
{
	local program=$1
	shift
	"$PSTAT" probe -x "$program" -D "$@" | cut -d' ' -f1 | sort | xargs
}

test_patterns()
{
	build
	same "each function has its event" "p:probe_plain/call p:probe_plain/half" "$(functions ./plain '[ch]al[lf]')"
	same "with what is read" "$("$PSTAT" probe -x ./plain -D 'outer length')" "$("$PSTAT" probe -x ./plain -D 'o?ter length')"
	same "at lines" "p:probe_plain/call_L1 p:probe_plain/half_L1" "$(functions ./plain '[ch]al[lf]:1')"
	same "one name for one function" "p:probe_plain/e" "$(functions ./plain 'e=ou*')"
	same "copies, too" "p:probe_fast/inner" "$(functions ./fast 'inn*')"
	fails_with 125 "'inner' is inlined wherever it is called, and --no-inlines leaves copies out" \
		"$PSTAT" probe -x ./fast --no-inlines -D inner
	fails_with 125 "'\[ch\]al\[lf\]' matches several functions, which cannot have one name, 'e'" \
		"$PSTAT" probe -x ./plain -D 'e=[ch]al[lf]'
	fails_with 125 "plain has no function that 'x\*y' matches" "$PSTAT" probe -x ./plain -D 'x*y'
	# The table of symbols alone.
	"${CC:-cc}" -O0 -pthread -o symbols called.c || skip "needs a C compiler"
	same "without debug information" "p:probe_symbols/call p:probe_symbols/half" "$(functions ./symbols '[ch]al[lf]')"
	same "filters" "call outer" "$("$PSTAT" probe -x ./plain -F '(c*l|o*r|half)&!ha*' | xargs)"
	same "of variables" "length" "$("$PSTAT" probe -x ./plain -V outer --filter 'le*' | sed -n 's/^		.*	//p')"
	fails_with 125 "'a\|' is no filter: " "$PSTAT" probe -x ./plain -F 'a|'
	# Where variables have a value: those that have one at the place are the same.
	"$PSTAT" probe -x ./fast -V outer >here
	"$PSTAT" probe -x ./fast -V outer --range >ranges
	same "ranges" "$(sed -n 's/^		//p' here)" "$(sed -nE 's/^		\[VAL\]	(.*)	@<outer\+\[0-.*/\1/p' ranges | sort)"
	has "of all code where it is in memory" '^		\[VAL\]	int	length	@<outer\+\[0-[0-9]+\]>$' \
		"$("$PSTAT" probe -x ./plain -V outer --range)"
	# Each function's description is in a file of its own.
	if "${CC:-cc}" -O0 -g -gsplit-dwarf -pthread -o split called.c 2>/dev/null && [ "$(echo *.dwo)" != '*.dwo' ]; then
		fails_with 125 "split: its debug information is in .dwo files, which are not read for probes: lines " \
			"$PSTAT" probe -x ./split -L outer
		same "functions are known" "p:probe_split/outer" "$(functions ./split outer)"
	fi
	command -v "${CXX:-c++}" >/dev/null || skip "needs a C++ compiler"
	printf 'namespace ns { struct box { int n; int sum() const; }; int box::sum() const { return n; } }\nint main() { return ns::box().sum(); }\n' >b.cc
	"${CXX:-c++}" -O0 -g -o box b.cc || skip "needs a C++ compiler"
	has "names of C++ are listed as people write them" '^ns::box::sum$' "$("$PSTAT" probe -x ./box -F)"
	same "and match" "p:probe_box/sum" "$(functions ./box 'ns::box::s*')"
}

# Lines by their text, which is that of the source as it is now.
test_texts()
{
	build
	defined() { "$PSTAT" probe -x ./plain -D "$1" | sed 's/^p:probe_plain.//'; }
	same "of a function" "$(defined "outer:$(line_of 'int outer(' 'sum += text')" | cut -d' ' -f2)" \
		"$(defined 'outer;sum+=text[[]*' | cut -d' ' -f2)"
	has "blanks in front, and what is read" "^outer [^ ]+ length=" "$(defined 'outer@called.c;*text[[]0]* length')"
	same "of a source file: an event for each function" "half main" \
		"$(defined 'called.c;return0;' | cut -d' ' -f1 | sort -u | xargs)"
	same "or of the name that is given" "e" "$(defined 'e=called.c;return0;' | cut -d' ' -f1 | uniq)"
	same "that of the function, not of its copy" inner "$(defined 'called.c;returntwo;' | cut -d' ' -f1 | uniq)"
	for program in plain fast; do
		fails_with 125 "no code begins at a line of 'outer' that matches 'returntwo;'\$" \
			"$PSTAT" probe -x ./$program -D 'outer;returntwo;'
	done
	mkdir moved
	sed 's/total++;/total++; \/\/ one more/' called.c >moved/called.c
	same "sources below another directory" "$(defined 'outer;total++;')" \
		"$("$PSTAT" probe -x ./plain -s moved -D 'outer;*onemore' | sed 's/^p:probe_plain.//')"
	fails_with 125 "called.c: no end of this path can be read in moved/none\$" \
		"$PSTAT" probe -x ./plain -s moved/none -D 'outer;total++;'
}

# Words that perf's manual has beside the usual ones.
test_words()
{
	build
	same "the file in front" "$("$PSTAT" probe -x ./plain -D outer)" "$("$PSTAT" probe -D outer "$tmp/plain")"
	same "letters with a backslash" "$("$PSTAT" probe -x ./plain -D outer)" "$("$PSTAT" probe -x ./plain -D 'out\er')"
	has "types of the variable's size" \
		' length_x=[^ ]*:x32 length_u=[^ ]*:u32 length=[^ ]*:x32 text_x=[^ ]*:x64 text_s=[^ ]*:s8$' \
		"$("$PSTAT" probe -x ./plain -D 'outer length:x length:u item->name.length:x text:x text[0]:s')"
}

# Functions of the running kernel and its modules, and patterns of them; nothing is set.
test_kernel_functions()
{
	local hidden=

	awk '$1 !~ /^0+$/ { shown = 1; exit } END { exit !shown }' /proc/kallsyms 2>/dev/null || hidden=1
	if [ "$hidden" ]; then
		fails_with 125 "kallsyms: " "$PSTAT" probe -F 'vfs_*'
		skip "needs /proc/kallsyms with addresses"
	fi
	LC_ALL=C awk '$2 ~ /^[tTwW]$/ && $3 ~ /^vfs_re/ { print $3 }' /proc/kallsyms | LC_ALL=C sort -u >functions
	check "there are some" test -s functions
	same "they are listed" "$(<functions)" "$("$PSTAT" probe -F 'vfs_re*')"
	same "and match" "$(grep -v '\.cold' functions | sed 's/.*/&+0/')" "$("$PSTAT" probe -D 'vfs_re*' | cut -d' ' -f2)"
	fails_with 125 "the kernel has no function that 'no_such_\*' matches" "$PSTAT" probe -D 'no_such_*'
}

test_refused()
{
	build
	refuses() { fails_with 125 "^pstat: probe: $1" "$PSTAT" probe -x ./"$2" -D "$3"; }
	refuses "$tmp/plain has no function 'uoter'\$" plain uoter
	has "what was meant" "^  did you mean 'outer'\?\$" "$err"
	refuses "'inner' is inlined wherever it is called: such copies have no return\$" fast inner%return
	refuses "'nothing' at 0x[0-9a-f]+: no variable of that name is in scope there\$" plain 'outer nothing'
	refuses "'item->nothing' at .*: the structure has no member 'nothing'\$" plain 'outer item->nothing'
	refuses "'item.next' at .*: the value before '.next' is a pointer: use ->\$" plain 'outer item.next'
	refuses "'length->x' at .*: the value before '->x' is no pointer\$" plain 'outer length->x'
	refuses "'item->name' at .*: it is a structure: name a member\$" plain 'outer item->name'
	refuses "'length:string' at .*: it is no pointer and no array" plain 'outer length:string'
	refuses "'length': where a function returns, its variables are gone" plain 'outer%return length'
	refuses '\$retval is known where a function returns: outer%return$' plain 'outer $retval'
	refuses "no code begins at line 1 of called.c: the next line with code is [0-9]+\$" plain called.c:1
	refuses "outer\+9999 is outside: the function has [0-9]+ bytes\$" plain outer+9999
	refuses "0x1 is not in an executable part of " plain 0x1
	refuses "'a{64}' has 64 letters: the kernel takes 63" plain "$(printf 'a%.0s' {1..64})=outer"
	"${CC:-cc}" -O2 -pthread -s -Wl,--build-id=none -o stripped called.c || skip "needs a linker that strips"
	refuses "$tmp/stripped has no function 'outer'" stripped outer
	refuses "$tmp/stripped: it has no debug information: lines and source files are not known\$" stripped outer:1
	fails_with 125 "^pstat: probe: ./called.c: " "$PSTAT" probe -x ./called.c -D outer
	fails_with 125 "^pstat: probe: ./nowhere: No such file" "$PSTAT" probe -x ./nowhere -D outer
	fails_with 129 "^pstat: probe: give one thing to do" "$PSTAT" probe -x ./plain
	fails_with 129 "^pstat: probe: give one thing to do" "$PSTAT" probe -l -d x
}

test_middle_of_an_instruction()
{
	build
	# On x86-64 the first instruction of a function at -O0 is of one byte or of four (endbr64); of arm64 all are of four.
	for offset in 1 2 3; do
		"$PSTAT" probe -x ./plain -D outer+$offset >/dev/null 2>said && continue
		grep -q 'cannot be told' said && skip "needs capstone"
		has "+$offset" "^pstat: probe: outer\+$offset is in the middle of an instruction\$" "$(<said)"
		return
	done
	fail "the middle of an instruction is refused" "offsets 1, 2 and 3 were taken"
}

test_all_or_none()
{
	need_probes
	build
	run "$PSTAT" probe -x ./plain -a "$group:good=outer" -a "$group:bad=outer x=%nothing"
	same "status" 125 "$status"
	has "the kernel's own reason" "^pstat: probe: the kernel refuses 'p:$group/bad .*x=%nothing': [a-z].*\$" "$err"
	same "none is left" "" "$("$PSTAT" probe -l "$group:*")"
	run "$PSTAT" probe -q -x ./plain -a "$group:good=outer"
	fails_with 125 "^pstat: probe: $group:good is there already\$" "$PSTAT" probe -x ./plain -a "$group:good=outer"
	run "$PSTAT" probe -x ./plain -f "$group:good=outer"
	has "--force gives it a number" "^  $group:good_1 " "$out"
	run "$PSTAT" probe -n --del "$group:*"
	same "--dry-run removes none" 2 "$("$PSTAT" probe -l "$group:*" | wc -l)"
	fails_with 125 "^pstat: probe: no probe matches '$group:none'\$" "$PSTAT" probe -d "$group:none"
}

# A recorder that is killed leaves the probe as it was: it can be removed.
test_killed()
{
	need_probes
	build
	"$PSTAT" probe -q -x ./plain "$group:killed=outer"
	"$PSTAT" record -q -o killed.data -e "$group:killed" -a 2>/dev/null &
	until [ -s killed.data ] || ! kill -0 $! 2>/dev/null; do :; done
	fails_with 125 "^pstat: probe: the kernel refuses '-:$group/killed': somebody measures with this event\$" \
		"$PSTAT" probe -d "$group:killed"
	kill -9 $!
	wait $! 2>/dev/null
	until "$PSTAT" probe -q -d "$group:killed" 2>said || ! grep -q measures said; do :; done
	same "it is removed" "" "$(cat said)$("$PSTAT" probe -l "$group:*")"
}

test_without_rights()
{
	need_unprivileged
	build
	[ -w /sys/kernel/tracing/uprobe_events ] && skip "needs a user who may not set probes"
	fails_with 125 "^pstat: probe: (tracefs is not mounted|.*/uprobe_events: this user may not use it|this kernel)" \
		"$PSTAT" probe -x ./plain -a "$group:outer=outer"
	fails_with 125 "^pstat: probe: " "$PSTAT" probe --list
}

test_read_only()
{
	need_probes
	need_mount
	build
	run "${own_mounts[@]}" bash -c 'mount -o remount,bind,ro /sys/kernel/tracing && "$1" probe -x ./plain -a "$2:outer=outer"' \
		- "$PSTAT" "$group"
	same "status" 125 "$status"
	has "why" "^pstat: probe: /sys/kernel/tracing is mounted read-only\$" "$err"
	has "what to do" "^  sudo mount -o remount,rw /sys/kernel/tracing\$" "$err"
}

run_tests
