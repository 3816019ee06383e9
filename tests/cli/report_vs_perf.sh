#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat report` and `perf report` on the same recordings print the same text: samples, periods, percentages,
# names and chains. What pstat does otherwise by intent is listed in report_vs_perf.py. And of programs that
# know what they do, the report says what they did.
#
# Programs are recorded while they are at their work, by -p: at their start there are calls that do not
# return, whose return addresses perf takes for the next function ("return addresses" in the manual).
#
# run: once
. "${0%/*}/report_vs_perf.bash"

chains=("" --no-children "-g none" "-g caller" "-g callee --no-children" "-g folded" "-g flat --no-children"
	"-g fractal,1 --no-children" "-g count,2 -G" "-g period,0.5,callee"
	"--ignore-callees level[56] --no-children" "--ignore-callees level5 -g callee")
columns=("-s sym,overhead -g none" "-s overhead_us,sym -g none" "-s overhead_children,sym -g none"
	"-s sym,overhead --no-children -g none" "--no-children -s pid" "-s cpu" "-s dso" "-s comm,sym" "-n" "--show-total-period -g none" "-t ,"
	"-F overhead,sample,period,comm,sym" "--show-cpu-utilization -g none" "-s +cpu -g none --percent-limit 1"
	"-w 9,9,12 -g none" "--hierarchy" "--hierarchy -s dso,sym,cpu -g none")
filters=("--percent-limit 1 -g none" "--no-children -S burn" "--no-children -S burn,leaf -g none"
	"--no-children --dsos callers" "--no-children --comms callers" "--no-children --symbol-filter eve"
	"--no-children --percentage relative -S leaf" "-U -g none" "--time 10%-50%" "--time 10%/3,50%/2 -g none"
	"--no-children -C 0,1" "--no-children --max-stack 3" "-p level7 -s parent --no-children -g none"
	"--no-children -p level7 -x -g none")

test_a_deep_program()
{
	need_paranoid 2
	recorded deep "$PSTAT" -F 10000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	alike deep "${chains[@]}" "${columns[@]}" "${filters[@]}"
}

test_a_recursive_program()
{
	local depth caller call

	need_paranoid 2
	recorded recursive "$PSTAT" -F 5000 -e cpu-clock:u -g -- "$CALLERS" recursive 20000
	alike recursive "" --no-children "-g caller,0.5"
	# Most of them: before a function has its frame the one that called it is not in the chain.
	depth=$("$PSTAT" report -i recursive --folded | sed -n 's/;burn \([0-9]*\)$/;\1/p' |
		awk -F ';' '{ n = 0; for (i = 1; i < NF; i++) n += $i == "recurse"; of[n] += $NF; all += $NF }
			END { for (n in of) if (of[n] > all * 0.9) print n }')
	same "recurse calls itself twenty times" 21 "$depth"
	# perf gives the line to which the call returns: return addresses.
	"$PSTAT" report -i recursive -g address,callee --no-children -s sym | grep -o '[a-z]* callers.c:.*' |
		sort -u >lines
	while read -r caller call; do
		check "$caller at the line of $call" grep -qx \
			"$caller callers.c:$(grep -nF "$call" "$ROOT/tests/work/callers.c" | cut -d : -f 1)" lines
	done <<-'END'
	recurse burn(100000)
	recurse recurse(depth - 1)
	recursive recurse(frames)
	END
	has "one row for all of them" '^1$' "$("$PSTAT" report -i recursive -g none -s sym | grep -c recurse)"
}

# Copies of stacks have as many frames as are asked for, also more than perf's 127.
test_two_hundred_frames()
{
	need_paranoid 2
	recorded tall "$PSTAT" -F 500 -e cpu-clock:u --call-graph dwarf,raw,32768 -- "$CALLERS" recursive 20000 200
	alike tall "--no-children -S burn --max-stack 250" "--no-children -S burn --max-stack 150" "--no-children -S burn"
	check "all of it is main's" awk -v all="$(share tall main --max-stack 250)" 'BEGIN { exit !(all > 99) }'
	run "$PSTAT" report -i tall --max-stack 199
	has "less is told" 'they have more frames than are shown' "$err"
}

# share FILE FUNCTION [OPTION...]: with what it calls, in percent.
share()
{
	"$PSTAT" report -i "$1" "${@:3}" --children -g none -F overhead_children,sym -t : |
		awk -F ': *' -v name="[.] $2" '{ sub(/ *$/, "", $2) } $2 == name { print $1 + 0 }'
}

test_known_shares()
{
	local one two n

	need_paranoid 2
	recorded known "$PSTAT" -F 8000 -e cpu-clock:u -g -- "$CALLERS" known 20000 10000
	alike known "" --no-children "--no-children -s sym,srcline -S burn,two_thirds -g none"
	one=$(share known one_third) two=$(share known two_thirds)
	# Within five standard deviations of so many samples.
	n=$("$PSTAT" report -i known -g none -F sample,comm --no-children -q | awk '$1 { print $1 }')
	check "two_thirds takes two thirds of the time: $two, $one, $n samples" \
		awk -v one="${one:-0}" -v two="${two:-0}" -v n="${n:-0}" 'BEGIN {
			off = two / (one + two) - 2 / 3
			exit !(n >= 50 && off * off < 25 * 2 / 9 / n)
		}'
	has_not "-j: frames that are functions have no line" '"line": ' "$("$PSTAT" report -i known -g function -s srcline -j)"
	has "-j: frames that are addresses have theirs" '"symbol": "burn".* "line": ' "$("$PSTAT" report -i known -g address -j)"
	check "all is known's" awk -v all="$(share known known)" 'BEGIN { exit !(all > 99) }'
}

test_threads()
{
	need_paranoid 2
	recorded threads "$PSTAT" -F 5000 -e cpu-clock:u -g -- "$CALLERS" deep 20000 4
	alike threads "" --no-children "-s pid" "-s pid,sym --no-children" "-s cpu -g none" "--hierarchy -s pid,sym"
	same "four rows" 4 "$("$PSTAT" report -i threads -g none -s pid -q | grep -c callers)"
}

test_templates()
{
	need_paranoid 2
	need_cmd g++
	cat >shop.cc <<-'END'
	#include <algorithm>
	#include <array>
	#include <ctime>
	namespace shop {
	template <typename T, unsigned long N> struct basket {
		std::array<T, N> items{};
		static inline __attribute__((always_inline)) T price(T x) { return x * x / T(7) + T(1); }
		__attribute__((noinline)) T total(long n)
		{
			T sum{};
			for (long i = 0; i < n; i++)
				sum += price(items[i % N] += T(i));
			return sum;
		}
	};
	template <typename F> __attribute__((noinline)) double each(F f, long n)
	{
		double sum = 0;
		for (long i = 0; i < n; i++)
			sum += f(i);
		return sum + 1;
	}
	}
	int main()
	{
		shop::basket<double, 64> a;
		shop::basket<unsigned, 16> b;
		double sum = 0;
		while (clock() < 20 * CLOCKS_PER_SEC)
			sum += shop::each([&](long i) { return a.total(2000 + i) + double(b.total(1000)) + 1; }, 500);
		return sum == 1;
	}
	END
	g++ -std=c++11 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o shop shop.cc 2>cc_err ||
		skip "needs a C++ compiler that works"
	recorded templates "$PSTAT" -F 5000 -e cpu-clock:u -g -- ./shop
	alike templates "" --no-children "-s sym --no-children -v -g none" "--no-demangle" \
		"--no-children -s srcfile -g none"
	run "$PSTAT" report -i templates -g none -s sym
	has "types are in the names" '\[\.\] shop::basket<double, 64ul?>::total$' "$out"
	has "inlined functions are callers" '\[\.\] shop::basket<(double, 64|unsigned int, 16)ul?>::price \(inlined\)' "$out"
	has_not "but not with --no-inline" inlined "$("$PSTAT" report -i templates --no-inline)"
}

test_rust()
{
	need_paranoid 2
	need_cmd rustc
	cat >fruit.rs <<-'END'
	mod fruit {
	    pub trait Price { fn price(&self, n: u64) -> u64; }
	    pub struct Apple(pub u64);
	    pub struct Pear<T>(pub T);
	    impl Price for Apple {
	        #[inline(never)]
	        fn price(&self, n: u64) -> u64 { (0..n).fold(self.0, |a, i| (a ^ i).wrapping_mul(31).rotate_left(7)) }
	    }
	    impl Price for Pear<u64> {
	        #[inline(never)]
	        fn price(&self, n: u64) -> u64 { (0..n * 2).fold(self.0, |a, i| (a ^ i).wrapping_mul(17).rotate_left(5)) }
	    }
	}
	use fruit::Price;
	#[inline(never)]
	fn all(items: &[&dyn Price], n: u64) -> u64 { items.iter().map(|i| i.price(n)).fold(1, |a, b| a ^ b) }
	fn main() {
	    let start = std::time::Instant::now();
	    let (apple, pear) = (fruit::Apple(3), fruit::Pear(5u64));
	    let mut sum = 0u64;
	    while start.elapsed().as_secs() < 20 {
	        for _ in 0..100 { sum = sum.wrapping_add(all(&[&apple, &pear], 20000)); }
	    }
	    std::process::exit((sum == 1) as i32)
	}
	END
	HOME=$user_home rustc -O -C force-frame-pointers=yes -o fruit fruit.rs >cc_err 2>&1 || skip "needs a Rust compiler that works"
	recorded rust "$PSTAT" -F 5000 -e cpu-clock:u -g -- ./fruit
	alike rust "--no-children" "-s sym --no-children -g none" "--no-demangle -g none --no-children"
	has "a method of a trait" '\[\.\] <fruit::fruit::Pear<u64> as fruit::fruit::Price>::price' \
		"$("$PSTAT" report -i rust -g none -s sym)"
}
run_tests
