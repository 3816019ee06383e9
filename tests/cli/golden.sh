#!/bin/bash
# The golden recordings (tests/golden, made by make_recordings.c): what report and script say about them,
# byte for byte, by the lines of tests/golden/cases. GOLDEN_UPDATE=1 writes those expected outputs that are
# not there yet.
. "${0%/*}/../lib.sh"
cd "$ROOT/tests/golden" || exit 1
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=

# golden RECORDING EXPECTED COMMAND [ARGUMENT...]
golden()
{
	local recording=$1 expected=$2 said

	shift 2
	run "$PSTAT" "$@" -i "$recording" --symfs symfs --kallsyms kallsyms
	if [ "$status" -eq 125 ] && [[ $err == *zstd* ]]; then
		point ok "$recording: $*" "needs libzstd"
		return
	fi
	if [[ $recording == tracepoints* && $err == *libtraceevent* ]]; then
		point ok "$recording: $*" "needs libtraceevent"
		return
	fi
	said=$tmp/.out
	[[ $expected == *.notes ]] && said=$tmp/.err
	[ -e "$expected" ] || [ -z "${GOLDEN_UPDATE:-}" ] || cp "$said" "$expected"
	if [ "$status" -eq 0 ] && cmp -s "$expected" "$said"; then
		pass "$recording: $*"
	else
		fail "$recording: $*" "status $status, $(diff -a -u "$expected" "$said" | cat -v | head -60)
stderr: $(cat -v "$tmp/.err")"
	fi
}

while read -r recording expected command; do
	[[ $recording == '#'* || -z $recording ]] && continue
	# shellcheck disable=SC2086 # words
	golden "$recording" "$expected" $command
done <cases

# Nothing lies there that no case reads. (arm64 is another test's.)
for file in *; do
	case $file in
	*.data) grep -q "^$file " cases || fail "$file is in a case" ;;
	*.[ch] | cases | symfs | kallsyms | arm64) ;;
	*) grep -q "^[^#].* $file " cases || fail "$file is in a case" ;;
	esac
done

# The recordings are what their source says, to the byte; but packed ones differ with the version of libzstd.
made()
{
	local made=$tmp/made file

	mkdir "$made"
	run "$BUILD/tests/golden/make_recordings" "$made"
	if [ "$status" -ne 0 ] && [[ $err == *zstd* ]]; then
		point ok "make_recordings makes the same files" "needs libzstd"
		return
	fi
	for file in *.data symfs kallsyms; do
		[ "$file" = compressed.data ] || diff -r "$file" "$made/$file"
	done >"$tmp/differ" 2>&1
	diff <(ls "$made") <(printf '%s\n' *.data symfs kallsyms | sort) >>"$tmp/differ"
	same "make_recordings makes the same files" "" "$(<"$tmp/differ")"
	golden "$made/compressed.data" plain.report report
}
made
done_testing
