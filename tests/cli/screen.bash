#!/bin/bash
# SPDX-License-Identifier: MIT
# For tests that press keys and read the screen: pstat on a pseudo terminal, driven by pty_screen.py (which says what
# steps there are).
. "${BASH_SOURCE[0]%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS='' TERM=xterm LC_ALL=C.UTF-8 PSTAT_PAGER=cat SCREEN_STDERR=$tmp/stderr
unset COLUMNS LINES
# What the step `modes` prints of a terminal that was given back.
clean="modes as before, screen as before, cursor shown, mouse off"

"$PSTAT" version --build-options | grep -q '^ *ncurses *\[ on *\].*terminals$' ||
	skip "needs ncurses, which this pstat is without, or which is not installed"

need_capstone()
{
	"$PSTAT" version --build-options | grep -q '^ *capstone *\[ on *\] *disassembly, for pstat annotate$' ||
		skip "needs capstone, which this pstat is without, or which is not installed"
}

# split_steps STEP... -- WORD...: the ones are $steps, the others $words.
split_steps()
{
	steps=()
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	words=("$@")
}

# on LINES COLUMNS STEP... -- COMMAND...: $out is what the steps print; it fails where one can't be done.
on()
{
	run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" "$@"
	[ "$status" = 0 ] || fail "the steps: $*" "$out$err"
}

# picture PAGE HEADING: the screen behind a heading of a page in man/, as it is printed.
picture()
{
	"$PYTHON" - "$ROOT/man/$1" "$2" <<-'END_PY'
		import re, sys
		page = open(sys.argv[1], encoding="utf-8").read()
		text = re.split(r"^\.S[HS] \"?%s\"?$" % re.escape(sys.argv[2]), page, flags=re.M)[1]
		text = re.search(r"^\.nf\n(.*?)^\.fi$", text, re.M | re.S).group(1)
		text = re.sub(r"\\\[u([0-9A-F]+)\]", lambda m: chr(int(m.group(1), 16)), text)
		sys.stdout.write(text.replace("\\-", "-").replace("\\e", "\\"))
	END_PY
}
