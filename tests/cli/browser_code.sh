#!/bin/bash
# SPDX-License-Identifier: MIT
# The code of a function in the browser of pstat report, and of pstat annotate, which begins there: each key of it, beside
# what pstat annotate prints of the same.
#
# run: once
. "${0%/*}/screen.bash"
need_capstone
need_paranoid 2

cd "$tmp" && cat >work.c <<'END_C'
static inline __attribute__((always_inline)) unsigned mix(unsigned a)
{
	a ^= a >> 3; /* MIX */
	a *= 2654435761u;
	return a ^ a >> 15;
}
__attribute__((noinline)) void never(void)
{
	__asm__ volatile("nop" : : : "memory");
}
__attribute__((noinline)) unsigned leaf(unsigned a)
{
	for (int i = 0; i < 40; i++)
		a = a * 31 ^ a >> 7; /* LEAF */
	return a;
}
__attribute__((noinline)) unsigned hot(const char *p, unsigned n)
{
	unsigned h = 0;

	for (unsigned i = 0; i < n; i++) {
		if (p[i] == 'a')
			h += mix(h + p[i]); /* CALL */
		else
			h ^= leaf(h) / (1 + i);
	}
	if (h == 1)
		never();
	return h;
}
static char text[4000];
int main(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = i % 97 ? 'a' : 'b';
	for (unsigned rounds = 0; rounds < 60000 || sum == 1; rounds++) {
		__asm__ volatile("" : : : "memory");
		sum += hot(text, sizeof(text));
	}
}
END_C
"${CC:-cc}" -O2 -g -fno-omit-frame-pointer -o work work.c 2>cc_err || skip "needs a C compiler"
"$PSTAT" record -q -g -e cpu-clock:u -c 1000000 -o data -- ./work >/dev/null 2>record_err ||
	skip "needs a recording: $(<record_err)"

# see LINES COLUMNS STEP... -- OPTION...: in the code of hot.
see()
{
	local steps words

	split_steps "${@:3}"
	on "$1" "$2" ready 'until hot' 'keys a' 'until ^hot  .Esc' "${steps[@]}" -- \
		"$PSTAT" report -i ../data --no-children -s sym "${words[@]}"
}
# The lines of a screen without title, status and empty lines.
lines() { sed '1d;/^. help  q quit/,$d;/^percentages$/d;/^sums of periods$/d;/^numbers of samples$/d' | grep -v '^ *$'; }
# code OPTION...: what annotate prints of it.
code() { "$PSTAT" annotate -i ../data "$@" 2>/dev/null | tr '\t' ' ' | sed 's/ *$//' | grep -v '^$'; }
# The line that is selected: what all keys but those for numbers leave of it.
no_numbers() { sed 's/^[^:]*: *//'; }

# nth FILE N...: these lines, in this order.
nth()
{
	local file=$1 n

	for n in "${@:2}"; do
		tail -n "+$n" "$file" | head -n 1
	done
}

# beside NAME STEPS REGEX OPTION...: with the keys the view is what annotate prints with these options.
beside()
{
	local name=$1 keys=$2 seen=$3

	shift 3
	see 300 250 "keys $keys" "until $seen" show --
	same "$name" "$(code "$@" hot)" "$(lines <<<"$out")"
}

test_prefix()
{
	local elsewhere=(--prefix "$PWD/elsewhere" --prefix-strip 99)

	mkdir elsewhere
	sed 's/MIX/MOVED/' ../work.c >elsewhere/work.c
	see 300 250 'until MOVED' show -- "${elsewhere[@]}"
	same "source below another folder" "$(code --stdio2 "${elsewhere[@]}" hot)" "$(lines <<<"$out")"
}

test_switches()
{
	beside "as annotate prints it" "H" "^hot" --stdio2
	beside "s: without source" "s" "^hot" --stdio2 --no-source
	beside "s twice" "s s" "MIX" --stdio2
	beside "t: periods" "t" "sums of periods" --stdio2 --show-total-period
	beside "t twice: samples" "t t" "numbers of samples" --stdio2 -n
	beside "t three times" "t t t" "percentages" --stdio2
	beside "p: of all" "p" "percentages" --stdio2 --percent-type global-period
	beside "b: of samples" "b" "percentages" --stdio2 --percent-type local-hits
	beside "p and b" "p b" "percentages" --stdio2 --percent-type global-hits
	beside "k: sums by line" "k" "Sorted summary" --stdio2 -l
	beside "l: folders" "k l" "Sorted summary" --stdio2 -l -P
	beside "o: bytes" "o" "^hot" --stdio2 --asm-raw
	beside "j: no arrows" "j" "^hot" --stdio
	beside "T: types of data" "T" "data-type: " --stdio2 --code-with-type
	beside "T twice" "T T" "^hot" --stdio2
	see 300 250 'until ^hot' show -- --percent-type global-hits
	same "--percent-type" "$(code --stdio2 --percent-type global-hits hot)" "$(lines <<<"$out")"
	see 300 250 'keys p b' 'until percentages' show -- --percent-type global-hits
	same "--percent-type, and p and b" "$(code --stdio2 hot)" "$(lines <<<"$out")"
	[ "$(uname -m)" = x86_64 ] || return
	beside "i: intel" "i" "^hot" --stdio2 -M intel
	see 300 250 show -- -M intel
	same "-M intel" "$(code --stdio2 -M intel hot)" "$(lines <<<"$out")"
	see 300 250 'keys i' show -- -M intel
	same "-M intel, and i" "$(code --stdio2 hot)" "$(lines <<<"$out")"
	fails_with 129 "'bsd' is not att or intel" "$PSTAT" report -i ../data -M bsd
}

# Each fault is one sample, at the instruction that writes: 48 of one member, and 24 of another.
faults_by_type()
{
	cat >touch.c <<-'END_C'
	#define _DEFAULT_SOURCE
	#include <stddef.h>
	#include <sys/mman.h>
	enum { N = 48, APART = 1 << 16 };
	struct wide {
		long first;
		char gap[APART - sizeof(long)];
		long second;
		char rest[APART - sizeof(long)];
	};
	__attribute__((noinline)) void touch(struct wide *v)
	{
		for (long i = 0; i < N; i++) {
			v[i].first = i;
			if (i % 2)
				v[i].second = i;
		}
	}
	int main(void)
	{
		const size_t bytes = N * sizeof(struct wide);
		void *v = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (v == MAP_FAILED)
			return 1;
		madvise(v, bytes, MADV_NOHUGEPAGE);
		touch(v);
	}
	END_C
	"${CC:-cc}" -O0 -g -o touch touch.c
	"$PSTAT" record -q -e page-faults:u -c 1 -o faults.data -- ./touch
}

test_types_of_data()
{
	local key types

	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86-64 or arm64" ;;
	esac
	faults_by_type
	types=$("$PSTAT" annotate -q -i faults.data --data-type=wide | tr '\t' ' ' | sed 's/ *$//' | grep -v '^$')
	has "two of three are of the one member" '^ *66\.67 +0 +0x8 +long( int)? first;' "$types"
	has "one of the other" '^ *33\.33 +0x10000 +0x8 +long( int)? second;' "$types"
	for key in sym type; do
		on 60 200 ready 'until touch|struct wide' 'keys D' 'until Annotate type' show 'keys Esc' 'gone Annotate type' 'line wide|touch' -- \
			"$PSTAT" report -i faults.data -s "$key" -S touch
		same "D in a row by $key" "$types" "$(lines <<<"$out" | sed '/^Annotate data type stats/,$d')"
		has "$key: and back" '%  (\[\.\] touch|struct wide)$' "$(tail -1 <<<"$out")"
	done
	on 60 200 ready 'keys D' 'until is no type' 'line is no type' -- "$PSTAT" report -i ../data -s type -S hot
	has "a row without a type" '^\(unknown\) is no type of data' "$out"
}

test_plain_terminals_have_no_arrows()
{
	LC_ALL=C see 300 250 show --
	same "plain" "$(code --stdio hot)" "$(lines <<<"$out")"
	LC_ALL=C see 300 250 'keys j' 'until [v^>] *[a-z]' show --
	same "asked for, they are of ASCII" "$(code --stdio2 hot | sed 's/←/</g;s/→/>/g;s/↑/^/g;s/↓/v/g;s/▶/>/g')" "$(lines <<<"$out")"
}

test_hot_instructions()
{
	# Heaviest first, those equally heavy from top to bottom: as the keys go.
	code --stdio2 hot | grep -E '^ +[0-9.]+ : ' | grep -v '^ *0.00 ' | sort -s -k1,1rn >hottest
	check "there are some" test "$(wc -l <hottest)" -gt 3
	see 40 200 selected 'keys Tab' selected 'keys Tab' selected 'keys BackTab' selected 'keys End' selected 'keys H' selected --
	same "H is where it begins" "$(sed -n 1p hottest)" "$(sed -n 1p <<<"$out")"
	same "Tab, Tab, Shift-Tab" "$(nth hottest 2 3 2)" "$(sed -n 2,4p <<<"$out")"
	same "End" "$(code --stdio2 hot | tail -1)" "$(sed -n 5p <<<"$out")"
	same "H" "$(sed -n 1p hottest)" "$(sed -n 6p <<<"$out")"
	see 40 200 'keys BackTab' selected 'keys Tab' selected --
	same "around" "$(nth hottest "$(wc -l <hottest)" 1)" "$out"
	see 8 200 selected show --
	has "it is in sight where lines are few" "$(sed -n '1s/.*: *\([0-9a-f]*:\).*/\1/p' hottest)" "$out"
}

test_moving()
{
	code --stdio2 hot >all
	see 12 200 'keys Home' selected 'keys Down' selected 'keys Down' selected 'keys Up' selected 'keys End' selected 'keys Up' selected --
	same "Home, Down, Down, Up, End, Up" "$(nth all 1 2 3 2 $((n = $(wc -l <all))) $((n - 1)))" "$out"
	see 12 200 'keys Home PgDn' selected 'keys Space' selected 'keys PgUp' selected --
	same "pages of ten lines" "$(nth all 11 21 11)" "$out"
	see 12 200 'click 5' selected 'wheel down' selected 'wheel up' selected 'keys Home' 'until Percent' 'click 3' selected --
	same "a click selects the third line" "$(sed -n 2p all)" "$(tail -1 <<<"$out")"
	same "the wheel" "$(sed -n 1p <<<"$out")" "$(sed -n 3p <<<"$out")"
	see 20 60 'keys Home' 'until Percent' 'keys Right' 'gone Percent' 'keys Left' 'until Percent' 'keys Left' 'gone ^hot' 'until Overhead' 'keys q' end --
	has "Right, Left, and Left to the table" '^status 0$' "$out"
}

# A jump within the function: where it goes.
test_along_jumps_and_calls()
{
	local jump from to

	jump=$(code --stdio2 hot | grep -E -m1 '<hot\+0x[0-9a-f]+>$')
	from=$(no_numbers <<<"$jump" | sed 's/:.*//') to=$(sed 's/.* \([0-9a-f]*\) <hot+.*/\1/' <<<"$jump")
	see 40 200 'keys Home /' 'until ^Search for' "type  $from:" 'keys Enter' 'gone ^Search' selected 'keys Enter' selected --
	same "the jump" "$jump" "$(sed -n 1p <<<"$out")"
	has "where it goes" ":   $to:" "$(sed -n 2p <<<"$out")"
	see 40 200 'keys Home /' 'until ^Search for' 'type <leaf>' 'keys Enter' 'gone ^Search' 'keys Enter' 'until ^leaf  .Esc' show 'keys Esc' \
		'until ^hot  .Esc' selected 'keys Esc' 'until Overhead' 'keys q' end --
	same "into what is called" "$(code --stdio2 leaf | head -30)" "$(sed '/^. help/,$d' <<<"$out" | lines | head -30)"
	has "and back to the call" '<leaf>$' "$(tail -2 <<<"$out" | head -1)"
	see 40 200 'keys Home /' 'until ^Search for' 'type <never>' 'keys Enter' 'gone ^Search' 'keys Enter' 'until ^never  .Esc' show 'keys q' \
		'until ^hot' --
	has "into a function that has no samples" ' 0\.00 : .*nop' "$out"
	see 40 200 'keys Home Enter' 'until not a jump or call' 'line not a jump' --
	has "where there is none" "this is not a jump or call with a known target" "$out"
}

test_from_function_to_function()
{
	see 40 200 'keys <' 'until no other' 'keys >' 'until ^leaf  .Esc' 'keys <' 'until ^hot  .Esc' 'keys > q' 'until Overhead' 'keys q' end --
	same "> and <, and back to the table at once" "status 0" "$out"
	annotated 40 200 'until ^hot  .Esc' 'keys >' 'until no other' 'keys q q' end -- --percent-limit 50
	same "not below --percent-limit" "status 0" "$out"
	# Those whose code can't be had are passed over: after each other come the functions that are printed.
	"$PSTAT" record -q -e cpu-clock -F 5000 -o both -- sh -c '../work; ls -lR /usr >/dev/null; true' >/dev/null 2>&1 || skip "needs a recording"
	"$PSTAT" annotate --stdio -i both 2>/dev/null | sed -n 's/^ *: [0-9a-f]\{16\} <\(.*\)>:$/\1/p' | head -4 >printed
	check "there are some: $(tr '\n' ' ' <printed)" test "$(wc -l <printed)" -ge 2
	shown() { sed -n "$1p" printed | sed 's/[][().+*?^$|\\]/./g'; }
	on 40 200 "until ^$(shown 1)  .Esc" 'keys >' "until ^$(shown 2)  .Esc" 'keys <' "until ^$(shown 1)  .Esc" 'keys q' 'until Overhead' \
		'keys q' end -- "$PSTAT" annotate -i both
	same "in the order of annotate" "status 0" "$out"
}

test_search()
{
	see 40 200 'keys Home /' 'until ^Search for:' 'type MIX' 'keys Enter' 'gone ^Search' selected 'keys /' 'until ^Search for: MIX' \
		'keys CtrlU' 'type CALL' 'keys Enter' 'gone ^Search' selected 'keys n' selected 'keys N' selected 'keys / x Esc' selected --
	has "/" 'MIX' "$(sed -n 1p <<<"$out")"
	has "another text" 'CALL' "$(sed -n 2p <<<"$out")"
	has "n: the next one" 'CALL' "$(sed -n 3p <<<"$out")"
	same "N: the one before" "$(sed -n 2p <<<"$out")" "$(sed -n 4p <<<"$out")"
	same "Esc: nothing is searched for" "$(sed -n 4p <<<"$out")" "$(sed -n 5p <<<"$out")"
	see 40 200 'keys n' 'until says what' 'keys /' 'until ^Search' 'type xyzzy' 'keys Enter' 'until nowhere' 'line nowhere' --
	has "it is nowhere" "^'xyzzy' is nowhere in it" "$out"
}

test_help_and_notes()
{
	see 140 120 'keys ?' 'until ^Keys' show 'keys q' 'until ^hot' 'keys h' 'until ^Keys' 'keys Esc' 'until ^hot' 'keys !' 'until ^Losses' 'keys Esc' \
		'until ^hot' 'keys F1' 'until ^Keys' --
	has "the keys of the code come first" '^Enter  *goes to the target of a jump' "$(sed -n 2p <<<"$out")"
	has "its keys" '^H  *the hottest instruction$' "$out"
	has "the keys that it shares" '^Home  *the first row$' "$out"
	has_not "keys of rows" 'unfolds' "$out"
	same "what was changed stays so" "$(code --stdio2 --no-source leaf)" "$(see 300 250 'keys s' 'keys >' 'until ^leaf' show -- ; lines <<<"$out")"
}

test_to_a_file()
{
	see 40 200 'keys s P' 'until ^Print to the new file: hot.annotation' 'keys Enter' 'until written to hot.annotation' 'keys P' 'until ^Print' 'keys Enter' \
		'until exists' 'line exists' --
	has "a file that is there stays" 'hot.annotation: File exists' "$out"
	same "P" "$(code --stdio2 --no-source hot)" "$(grep -v '^$' hot.annotation)"
}

test_inlined_functions()
{
	see 40 200 'keys q' 'until Overhead' 'keys e' 'until mix .inlined' 'keys Down' selected 'keys a' 'until ^hot  .Esc' 'keys q' 'until Overhead' \
		'keys s' 'until  symbol: hot' 'line %.*hot' --
	has "a: what is inlined is shown where it is" 'mix \(inlined\)' "$(head -1 <<<"$out")"
	has "s: and its samples are that function's" '%  \[\.\] hot' "$out"
}

# annotated LINES COLUMNS STEP... -- WORD...: pstat annotate itself.
annotated()
{
	local steps words

	split_steps "${@:3}"
	on "$1" "$2" "${steps[@]}" -- "$PSTAT" annotate -i ../data "${words[@]}"
}

test_annotate_begins_there()
{
	annotated 300 250 'until ^hot  .Esc' show 'keys >' 'until ^leaf  .Esc' 'keys q' 'until Overhead' show 'keys q' end modes --
	same "the function with most samples" "$(code --stdio2 hot)" "$(sed '/^. help/,$d' <<<"$out" | lines)"
	has "behind it the table of functions" '^ *[+ ] *[0-9.]+% +work +\[\.\] leaf' "$out"
	same "and it leaves" "status 0
$clean" "$(tail -2 <<<"$out")"
	annotated 300 250 'until ^leaf  .Esc' show -- leaf
	same "the one that was named" "$(code --stdio2 leaf)" "$(lines <<<"$out")"
	annotated 300 250 'until ^leaf  .Esc' show -- -S leaf -n --no-source --asm-raw
	same "with options" "$(code --stdio2 -S leaf -n --no-source --asm-raw)" "$(lines <<<"$out")"
	annotated 300 250 'until ^hot  .Esc' show -- -l -P --percent-type global-hits -M intel
	same "with others" "$(code --stdio2 -l -P --percent-type global-hits -M intel hot)" "$(lines <<<"$out")"
}

# The rows behind the code have callers, of which there may be as many as with report.
test_callers_behind_the_code()
{
	local steps=('until ^hot  .Esc' 'keys Esc' 'until . leaf' 'keys E' 'until % mix .inlined.$' show)

	annotated 40 120 "${steps[@]}" -- hot
	has "all of them" ' main$' "$(grep -v '\[\.\]' <<<"$out")"
	annotated 40 120 "${steps[@]}" -- --max-stack 1 hot
	has_not "--max-stack 1" ' main$' "$(grep -v '\[\.\]' <<<"$out")"
}

test_annotate_of_what_is_not_there()
{
	annotated 40 160 'until no samples' 'line no samples' 'keys Down' 'gone no samples' 'keys q' end -- leav
	has "a name that is like another one" "no samples in a function 'leav'; did you mean leaf\?" "$out"
	has "the table is there" "status 0" "$out"
	annotated 40 160 'until inlined' 'line inlined' -- mix
	has "what is inlined" "no samples in a function 'mix'; it was inlined into hot and maybe others" "$out"
	on 40 160 'until no file with' 'line no file with' -- "$PSTAT" annotate -i "$ROOT/tests/golden/kernel_and_module.data" \
		--kallsyms "$ROOT/tests/golden/kallsyms"
	has "code that is not to be had" '^schedule: no file with its code was found; use -k with' "$out"
}

test_annotate_printed_all_the_same()
{
	on 300 200 end show -- "$PSTAT" annotate -i ../data --stdio hot
	has "--stdio" '^ Percent .*for cpu-clock' "$out"
	on 300 200 end show -- "$PSTAT" annotate -i ../data --stdio2 hot
	has "--stdio2" '^ Percent .*for cpu-clock' "$out"
	TERM=dumb on 300 200 end show -- "$PSTAT" annotate -i ../data --no-source hot
	has "TERM=dumb" '^ Percent .*for cpu-clock' "$out"
	run "$PSTAT" annotate -i ../data --tui hot
	has "not a terminal" '^ Percent .*for cpu-clock' "$out"
	has "and why" "^pstat: --tui: it needs a terminal, and nothing that is only printed: printed as with --stdio$" "$err"
	fails_with 129 "two ways to show it" "$PSTAT" annotate -i ../data --tui --stdio hot
}

# A branch recording's table is of branches: spin is where ten of them go to.
test_cycles()
{
	local golden=$ROOT/tests/golden

	on 60 78 ready 'until ^spin  .Esc' 'line IPC Cycle' 'line Average' 'line 11d0' -- "$PSTAT" annotate \
		-i "$golden/code_blocks.data" --symfs "$golden/symfs" --kallsyms "$golden/kallsyms" spin
	has "columns" '^ Percent   IPC Cycle [|]' "$out"
	has "of all of the function" 'Average IPC: 1.11, IPC Coverage: 26.6%' "$out"
	has "where the runs end" ' 1.11    13 :   11d0:' "$out"
}

# The manual's picture is what the browser shows.
test_the_picture_in_the_manual()
{
	cp "$ROOT/tests/golden/arm64/group.data" burn.data
	on 16 78 ready 'keys a' 'until ^burn  .Esc' show -- "$PSTAT" report -i burn.data --symfs "$ROOT/tests/golden/arm64/symfs"
	same "man/pstat-annotate.1" "$(picture pstat-annotate.1 'In the browser')" "$out"
}

test_colours()
{
	NO_COLOR='' see 40 200 attributes -- --color always
	has "hot: red" '(^| )31( |$)' "$out"
	has "source: blue" '(^| )34( |$)' "$out"
	see 40 200 attributes --
	has_not "NO_COLOR" '(^| )3[0-9]( |$)' "$out"
}

test_sizes()
{
	local size

	for size in '5 20' '3 10' '1 1' '200 500'; do
		# shellcheck disable=SC2086 # words
		on $size 'keys a' 'keys Down End PgUp Right Left H Tab BackTab Enter > < s t p b k l i o j T' \
			'keys / m o v Enter n N P Esc ? q ! q Home Enter' 'size 24 80' 'until hot|leaf|never' 'size 4 30' 'keys H' 'size 24 80' \
			'until hot|leaf|never' 'keys q q q q q q q q' end modes -- "$PSTAT" report -i ../data --no-children -s sym
		same "$size: all goes on" "status 0
$clean" "$out"
	done
}
run_tests
