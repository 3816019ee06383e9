# SPDX-License-Identifier: MIT
# One CPU that counts the same in each run: a program with exactly a tenth more instructions than another.
. /lab/truth.sh

# of COMMAND ROW FIELD: of the table in x.csv. Fields: 4 runs, 5 mean, 8 min, 9 max, 11 to 13 change, 15 verdict.
of() { awk -F, -v command="\"$1\"" -v row="\"$2\"" -v n="$3" '$1 == command && $2 == row { print $n }' x.csv; }

test_a_tenth_more()
{
	fewer="$loop 100000" more="$loop 110002"
	run "$PSTAT" compare -r 10 -w 1 -e instructions:u,cycles:u --metrics ipc --export-csv x.csv "$fewer" "$more"
	same "status" 0 "$status"
	for field in 5 8 9; do
		same "the reference, field $field" 200040 "$(of "$fewer" instructions:u $field)"
		same "a tenth more, field $field" 220044 "$(of "$more" instructions:u $field)"
	done
	same "runs" 10 "$(of "$more" instructions:u 4)"
	for field in 11 12 13; do
		row "change of instructions:u (compare), field $field" 0.1 "$(of "$more" instructions:u $field)" -
		check "a tenth, field $field" awk -v x="$(of "$more" instructions:u $field)" \
			'BEGIN { exit !(x > 0.0999999999 && x < 0.1000000001) }'
	done
	same "instructions" slower "$(of "$more" instructions:u 15)"
	for field in 5 11; do
		row "ipc (compare), field $field" $((field == 5 ? 5 : 0))e-1 "$(of "$more" ipc $field)" -
	done
	check "half an instruction a cycle" awk -v x="$(of "$more" ipc 5)" 'BEGIN { exit !(x > 0.499 && x < 0.501) }'
	same "as before" same "$(of "$more" ipc 15)"
	same "cycles" slower "$(of "$more" cycles:u 15)"
}

run_tests
