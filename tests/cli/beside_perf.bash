#!/bin/bash
# SPDX-License-Identifier: MIT
# For report_vs_perf*.sh and script_vs_perf.sh: recordings of programs at their work, and the verdicts of a tool
# that compares what perf and pstat print of them.
. "${BASH_SOURCE[0]%/*}/vs_perf.bash"

CALLERS=$WORK/callers
export PSTAT PYTHONDONTWRITEBYTECODE=1

# perf names the vdso's functions where its cache has a copy.
private_cache()
{
	mkdir -p "$HOME"
	(perf_without_kernel; perf record -q --buildid-all -e cpu-clock:u -o "$HOME/data" true >/dev/null 2>&1)
	rm -f "$HOME/data"
}

# verdicts FILE TOOL ARGUMENT...: a check for each line of a tool that is made of verdicts.py.
verdicts()
{
	local file=$1 verdict options

	shift
	while IFS=$'\t' read -r verdict options <&3; do
		if [ "$verdict" = ok ]; then
			pass "${file##*/}: ${options:-no options}"
		else
			fail "${file##*/}: ${options:-no options}" "$(cat "$verdict" 2>&1)"
		fi
	done 3< <("$PYTHON" "$@" || echo "status"$'\t'"of $1")
}

# recorded FILE RECORDER OPTION... -- PROGRAM...: for some of its work ($recorded_ms of CPU time), in the middle.
recorded_ms=250
recorded()
{
	local file=$1 recorder=$2 options=() pid

	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$@" >said 2>&1 &
	pid=$!
	"$used" $pid 30
	[ -e /proc/$pid ] || fail "the program is at its work" "$(<said)"
	"$recorder" record -q -o "$file" "${options[@]}" -p $pid -- "$used" $pid $recorded_ms >/dev/null 2>record_err ||
		fail "$file is recorded" "$(<record_err)"
	kill $pid
	wait $pid 2>/dev/null
}

# ./host, which opens ./plugin.so while it runs, and then is longer in there than it was before.
build_host()
{
	cat >plugin.c <<-'END'
	volatile long plugin_sum;
	void plugin_work(long n) { for (long i = 0; i < n; i++) plugin_sum += i; }
	END
	cat >host.c <<-'END'
	#include <dlfcn.h>
	volatile long host_sum;
	void host_work(long n) { for (long i = 0; i < n; i++) host_sum += i; }
	int main(void)
	{
		void (*work)(long), *plugin;
		host_work(15000000);
		if (!(plugin = dlopen("./plugin.so", RTLD_NOW)) || !(work = dlsym(plugin, "plugin_work")))
			return 1;
		work(30000000);
		return 0;
	}
	END
	"${CC:-cc}" -O1 -g -shared -fPIC -o plugin.so plugin.c 2>cc_err &&
		"${CC:-cc}" -O1 -g -o host host.c -ldl 2>>cc_err || skip "needs a C compiler"
}
