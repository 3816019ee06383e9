#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings of the guest, reported on this machine, of another architecture, with the guest's files (--symfs):
# guest/report.sh makes them and has perf read them there, reports.py compares here.
. "${0%/*}/../lib.sh"
cd "$ROOT" || exit 1
export LAB=${LAB:-build/lab}

# The guest's own results first.
while IFS= read -r line; do
	case $line in
	"1..0 # SKIP "*) skip "${line#*SKIP }" ;;
	"ok "*) pass "${line#*- }" ;;
	"not ok "*) fail "${line#*- }" ;;
	"#"*) echo "$line" ;;
	esac
done < <("$PYTHON" tests/lab/boot files report || echo "not ok - boot ends with status $?")

while IFS=$'\t' read -r verdict name; do
	if [ "$verdict" = ok ]; then
		pass "$name"
	elif [ "$verdict" = skip ]; then
		point ok "reports.py" "$name"
	else
		fail "$name" "$(cat "$verdict" 2>&1)"
	fi
done < <("$PYTHON" tests/lab/reports.py "$PSTAT" "$LAB" || echo "status"$'\t'"of tests/lab/reports.py")
done_testing
