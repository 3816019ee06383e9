#!/bin/bash
# SPDX-License-Identifier: MIT
# TAB in real shells: each line is typed into bash, zsh and fish on a terminal, by completion.py. What is
# offered where is asked without a shell: pstat completion words.
#
# run: once
. "${0%/*}/../lib.sh"

# A folder with files to find, and pstat in a folder whose name has a blank.
mkdir -p "$tmp/there/folder/in side" "$tmp/there/my bin"
ln -s "$PSTAT" "$tmp/there/my bin/pstat"
touch "$tmp/there/notes file.data" "$tmp/there/a=b.data" "$tmp/there/folder/one.data" "$tmp/there/only.py"
touch "$tmp/there/hostile\$(touch ran);x"
printf '#!/bin/sh\n' >"$tmp/there/prog_one"
chmod +x "$tmp/there/prog_one"
ln -s "$PSTAT" "$tmp/there/zz_pstat_program"
export HOME=$tmp/there PATH=$tmp/there/my\ bin:$tmp/there:$PATH
unset BASH_ENV ENV PROMPT_COMMAND XDG_CONFIG_HOME XDG_DATA_HOME ZDOTDIR

# typed => becomes|  What ends a list that may go on, ^, is the shell's own: nothing, a comma, a blank.
tabs() # SHELL END SETUP... <cases
{
	local shell=$1 end=$2 cases typed want got name

	shift 2
	cases=$(cat)
	name="$shell${1:+ ($1)}"
	cd "$tmp/there" || return
	sed 's/ => .*//' <<<"$cases" >typed
	"$PYTHON" "$ROOT/tests/cli/completion.py" "$shell" "$@" <typed >got 2>driver.err ||
		fail "$name: the shell runs to the end" "$(<driver.err)"
	while IFS= read -r typed && IFS= read -r got <&3; do
		want=${typed#* => }
		want=${want%|}
		same "$name: ${typed%% => *}" "${want/^/$end}" "$got"
	done <<<"$cases" 3<got
	check "$name: no name was run" test ! -e ran
}

# Where all three shells agree.
common_cases()
{
	cat <<-'CASES'
	pstat rec => pstat record |
	pstat help buildid-l => pstat help buildid-list |
	pstat list trac => pstat list tracepoint |
	pstat completion fi => pstat completion fish |
	pstat nosuch => pstat nosuch|
	pstat nosuch no => pstat nosuch no|
	pstat only => pstat only|
	pstat --interval-p => pstat --interval-print |
	pstat stat --interval-p => pstat stat --interval-print |
	pstat stat report --inp => pstat stat report --input |
	pstat record --no-strict => pstat record --no-strict-freq |
	pstat record --threads=co => pstat record --threads=core |
	pstat record --threads=n => pstat record --threads=node |
	pstat record --threads=pa => pstat record --threads=package |
	pstat record --call-graph dw => pstat record --call-graph dwarf |
	pstat record --synth task,cg => pstat record --synth task,cgroup^|
	pstat record -k monotonic_ => pstat record -k monotonic_raw |
	pstat record -j any_call,ind_c => pstat record -j any_call,ind_call^|
	pstat record -u daem => pstat record -u daemon |
	pstat report --color=n => pstat report --color=never |
	pstat report --percentage abs => pstat report --percentage absolute |
	pstat report -s comm,symbol_f => pstat report -s comm,symbol_from^|
	pstat report -g caller,frac => pstat report -g caller,fractal^|
	pstat script -F comm,+srcl => pstat script -F comm,+srcline^|
	pstat script -F trace:comm,ti => pstat script -F trace:comm,ti|
	pstat stat -M ip => pstat stat -M ipc^|
	pstat -e page-f => pstat -e page-faults^|
	pstat stat record -e page-f => pstat stat record -e page-faults^|
	pstat --event=cs,page-f => pstat --event=cs,page-faults^|
	pstat -aecs,page-f => pstat -aecs,page-faults^|
	pstat record --max-size 10K => pstat record --max-size 10K |
	pstat report --time-quantum 10u => pstat report --time-quantum 10us |
	pstat report -i not => pstat report -i notes\ file.data |
	pstat report -i notes\ f => pstat report -i notes\ file.data |
	pstat report -i 'notes f => pstat report -i 'notes file.data' |
	pstat report --input=not => pstat report --input=notes\ file.data |
	pstat report -inot => pstat report -inotes\ file.data |
	pstat report -i ~/onl => pstat report -i ~/only.py |
	pstat report --symfs fol => pstat report --symfs folder/|
	pstat record --control fifo:folder/o => pstat record --control fifo:folder/one.data |
	pstat record --control fifo:hos => pstat record --control fifo:hostile\$\(touch\ ran\)\;x |
	pstat report -i hos => pstat report -i hostile\$\(touch\ ran\)\;x |
	pstat --pre zz_ps => pstat --pre zz_pstat_program |
	pstat record ./pro => pstat record ./prog_one |
	pstat record -g zz_ps => pstat record -g zz_pstat_program |
	pstat -- zz_ps => pstat -- zz_pstat_program |
	pstat -e cs zz_ps => pstat -e cs zz_pstat_program |
	pstat record -e cs:u -- zz_pstat_program -i onl => pstat record -e cs:u -- zz_pstat_program -i only.py |
	pstat record -- pstat rec => pstat record -- pstat record |
	pstat record -- pstat -e page-f => pstat record -- pstat -e page-faults^|
	./my\ bin/pstat rec => ./my\ bin/pstat record |
	CASES
}

tracepoint_cases()
{
	cat <<-'CASES'
	pstat -e cs,sche => pstat -e cs,sched:|
	pstat -e sched:sched_swi => pstat -e sched:sched_switch^|
	pstat --event=cs,sched:sched_swi => pstat --event=cs,sched:sched_switch^|
	pstat -e cs:u,sched:sched_swi => pstat -e cs:u,sched:sched_switch^|
	CASES
}

bash_setup='eval "$(pstat completion bash)"'
zsh_setup='fpath=("$HOME/functions" $fpath); pstat completion zsh >functions/_pstat; compinit -D -u'
fish_setup='pstat completion fish >functions/pstat.fish; set -p fish_complete_path $HOME/functions'
mkdir -p "$tmp/there/functions"

bash_cases()
{
	common_cases
	cat <<-'CASES'
	pstat report -i a= => pstat report -i a=b.data |
	pstat report --symfs onl => pstat report --symfs onl|
	pstat -e {cs,page-f => pstat -e \{cs,page-faults|
	pstat -e \{cs,page-f => pstat -e \{cs,page-faults|
	pstat -e '{cs:u,page-f => pstat -e '{cs:u,page-faults'|
	pstat $HOM => pstat $HOME/|
	CASES
}

test_bash() { bash_cases | tabs bash '' "$bash_setup"; }
test_bash_unset_variables() { bash_cases | tabs bash '' "$bash_setup" 'set -u'; }
test_bash_no_break() { bash_cases | tabs bash '' "$bash_setup" "COMP_WORDBREAKS=\$' \\t\\n'"; }
test_bash_more_breaks() { bash_cases | tabs bash '' "$bash_setup" "COMP_WORDBREAKS=\$' \\t\\n\"><=;|&(:@/'"; }
test_bash_tracepoints()
{
	need_tracefs
	tracepoint_cases | tabs bash '' "$bash_setup"
	tracepoint_cases | tabs bash '' "$bash_setup" "COMP_WORDBREAKS=\$' \\t\\n'"
}

# The bash-completion package gives the command's own completion by the index of its word.
test_bash_completion_package()
{
	local offset='_command_offset() { COMPREPLY=("word_$1"); }'

	tabs bash '' "$bash_setup" "$offset" <<-'CASES'
	pstat record -e sched:x --output=y -- prog ar => pstat record -e sched:x --output=y -- prog word_10 |
	pstat record prog => pstat record word_2 |
	pstat -i -- 'my prog' x => pstat -i -- 'my prog' word_3 |
	CASES
	tabs bash '' "$bash_setup" "$offset" "COMP_WORDBREAKS=\$' \\t\\n'" <<-'CASES'
	pstat record -e sched:x --output=y -- prog ar => pstat record -e sched:x --output=y -- prog word_6 |
	CASES
}

# Without it, the function that the command has is called as bash would.
test_bash_own_completion()
{
	tabs bash '' "$bash_setup" '_own() { COMPREPLY=("$1_${#COMP_WORDS[@]}_$2_$3_${COMP_LINE// /_}"); }' \
		'complete -F _own prog_one' <<-'CASES'
	pstat -e cs:u -- prog_one one tw => pstat -e cs:u -- prog_one one prog_one_3_tw_one_prog_one_one_tw |
	CASES
}

test_zsh()
{
	need_cmd zsh
	common_cases | tabs zsh , "$zsh_setup"
	tabs zsh , "$zsh_setup" <<-'CASES'
	pstat report -i a= => pstat report -i a=b.data |
	pstat -e {cs,page-f => pstat -e {cs,page-faults,|
	pstat -e '{cs:u,page-f => pstat -e '{cs:u,page-faults,|
	pstat report --percent	-- of filtered samples, or of all => pstat report --percent|
	CASES
	has "help beside the names" '--percentage +-- of filtered samples, or of all' "$(<screen.4)"
}

test_zsh_sourced()
{
	need_cmd zsh
	common_cases | tabs zsh , 'source <(pstat completion zsh)' 'setopt no_unset'
}

test_zsh_tracepoints()
{
	need_cmd zsh
	need_tracefs
	tracepoint_cases | tabs zsh , "$zsh_setup"
}

test_fish()
{
	need_cmd fish
	common_cases | tabs fish ' ' "$fish_setup"
	tabs fish ' ' "$fish_setup" <<-'CASES'
	pstat report --symfs onl => pstat report --symfs onl|
	pstat -e {cs,page-f => pstat -e {cs,page-faults |
	pstat -e '{cs:u,page-f => pstat -e '{cs:u,page-faults' |
	CASES
	run fish --private -c 'pstat completion fish | source; complete -C "pstat report --percent"'
	has "help beside the names" $'^--percentage\tof filtered samples, or of all' "$out"
}

test_fish_tracepoints()
{
	need_cmd fish
	need_tracefs
	tracepoint_cases | tabs fish ' ' "$fish_setup"
}

# ---- what is offered ----

# The words for a line whose last word is the last argument.
offered() { "$PSTAT" completion words zsh "$@" | tail -n +3 | cut -f1; }
kept() { "$PSTAT" completion words zsh "$@" | sed -n 2p; }
kind() { "$PSTAT" completion words zsh "$@" | head -n 1; }

test_commands_only()
{
	same "pstat TAB: the commands of pstat -h" "$("$PSTAT" -h | sed -n 's/^    \([a-z][a-z-]*\) .*/\1/p' | sort)" \
		"$(offered '' | sort)"
	same "and no files" words "$(kind '')"
	same "a word that is none of them" "" "$(offered nosuch '')"
	same "no program either" words "$(kind nosuch '')"
	has "pstat -TAB: options of stat" '^--interval-print$' "$(offered -)"
	has "and pstat's own" '^--version$' "$(offered -)"
	has_not "which no command has" '^--version$' "$(offered stat -)"
}

# Each row of -h: its names are offered, and what its argument says it is.
test_each_option()
{
	local command line names argument name choice

	for command in stat record report script evlist buildid-list buildid-cache list doctor version "stat report"; do
		"$PSTAT" $command -h | sed -n 's/^    \(-.*\)/\1/p' | while IFS= read -r line; do
			line=${line%%  *}
			argument=$(sed -n 's/^[^<]*<\(.*\)>.*/\1/p' <<<"$line")
			names=$(grep -oE -e '--?[a-z][a-z0-9-]*|-[a-zA-Z]' <<<"${line%%<*}")
			for name in $names; do
				offered $command - | grep -qx -e "$name" || echo "pstat $command: $name is not offered"
			done
			case $argument in
			file) [ "$(kind $command "$name=")" = files ] || echo "pstat $command $name: no files" ;;
			directory) [ "$(kind $command "$name=")" = directories ] || echo "pstat $command $name: no folders" ;;
			*' '* | *size*) ;;
			*'|'*)
				for choice in $(sed 's/\[[^]]*\]//g; s/|/ /g' <<<"$argument"); do
					offered $command "$name=" | grep -qx -e "$choice" ||
						echo "pstat $command $name: $choice is not offered"
				done
				;;
			esac
		done >>wrong
	done
	same "all options of -h, and what they take" "" "$(<wrong)"
	has "which were some" '--call-graph' "$(offered record -)"
}

test_values()
{
	has "pids" "^$$\$" "$(offered record -p '')"
	has "with the names of processes" "^$$"$'\t'"$(cat /proc/$$/comm)" "$("$PSTAT" completion words fish record -p "")"
	has "the last pid of a list" "^$$\$" "$(offered record -p 1,)"
	has "threads" "^$$\$" "$(offered record -t '')"
	has "users" '^root$' "$(offered record -u '')"
	has "CPUs" '^0$' "$(offered stat -C '')"
	has "the end of a range" '^0$' "$(offered stat -C 0-)"
	has "registers" '^(SP|sp)$' "$(offered record --user-regs=)"
	has "units of sizes" '^10K$' "$(offered record --switch-output=10)"
	has "units of times" '^10ms$' "$(offered record --switch-output=10)"
	has "a word for it" '^signal$' "$(offered record --switch-output=)"
	has "the highest frequency" '^max$' "$(offered record -F '')"
	has "no units without a number" '^signal$' "$(offered record --switch-output=x)"
	same "no words where anything goes" "" "$(offered stat -x '')"
	same "nor files" words "$(kind stat -x '')"
	same "an option that there is not" "" "$(offered stat --nosuch=)"
	same "names of libpfm4" "$("$PSTAT" list --names pfm 2>/dev/null | sort)" \
		"$(offered stat --pfm-events '' | sort)"
}

# A machine of files: what others name gets into a line as one word, and never onto the terminal as it is.
test_machine()
{
	need_fake
	mkdir -p proc/7/task/8 'cgroups/one/below' 'cgroups/ev il$(x)' "cgroups/"$'esc\e[31m' sys/devices/system/cpu
	printf 'na\033me\n' >proc/7/comm
	printf 'thread\n' >proc/7/task/8/comm
	printf 'cgroup2 %s/cgroups cgroup2 rw 0 0\n' "$PWD" >proc/mounts
	echo 0-1,5 >sys/devices/system/cpu/online
	export FAKE_PROCFS=$PWD/proc FAKE_SYSFS=$PWD/sys PSTAT=$PSTAT_FAKE
	same "CPUs that are online" "0 1 5" "$(offered record -C '' | paste -sd' ')"
	same "cgroups, and one to go into" 'ev il$(x),one,one/' "$(offered record -G '' | sort | paste -sd,)"
	same "what is below" one/below "$(offered stat --for-each-cgroup ,one/)"
	same "as bash must have it" 'ev\ il\$\(x\)' "$("$PSTAT" completion words bash 'pstat record -G e' e | tail -n +2)"
	same "not in quotes, where it cannot be" "" "$("$PSTAT" completion words bash "pstat record -G 'e" e | tail -n +2)"
	same "names of tasks are printable" $'7\tna\\x1bme' "$("$PSTAT" completion words fish record -p '' | tail -n +3)"
	same "threads" 8 "$(offered record -t '')"
}

test_events()
{
	local all

	all=$(offered stat -e '')
	same "all that list names" "" "$("$PSTAT" list --names hw sw cache tool | grep -vxF -e "$all")"
	has_not "no placeholders" '[.][.][.]' "$all"
	has "in a group" '^page-faults$' "$(offered stat -e '{cs,')"
	has "behind a group" '^page-faults$' "$(offered stat -e '{cs,faults},')"
	same "modifiers behind a colon" "cs:u" "$(offered stat -e cs: | head -n 1)"
	same "of a group" "}:u" "$(offered stat -e '{cs,faults}:' | head -n 1)"
	has "more of them" '^cs:uk$' "$(offered stat -e cs:u)"
	has_not "none twice" '^cs:uu$' "$(offered stat -e cs:u)"
	same "a comma ends an event" "cs," "$(kept stat -e cs,na)"
	same "but not between its terms" "cs," "$(kept stat -e 'cs,cpu/event=1,na')"
}

test_command()
{
	same "its first word" "command 3" "$("$PSTAT" completion words zsh record -g '' | head -n 2 | paste -sd' ')"
	same "behind the word stat" "record report" "$(offered stat '' | paste -sd' ')"
	same "not behind --" "" "$(offered stat -- '')"
	same "no command for report" words "$(kind report '')"
	same "nor for stat report" words "$(kind stat report '')"
	same "but for stat record" command "$(kind stat record '')"
	same "an option of the command is not pstat's" command "$(kind stat ls --ev)"
}

test_wrong_words()
{
	fails_with 129 'name the shell' "$PSTAT" completion words nosuch x
	fails_with 129 'name the shell' "$PSTAT" completion words
	fails_with 129 'name the shell' "$PSTAT" completion
	fails_with 129 'name the shell' "$PSTAT" completion bash zsh
	run "$PSTAT" completion words bash
	same "no words" "0" "$status$out"
	run "$PSTAT" completion words bash "" ""
	same "an empty line" "0" "$status$out"
	run "$PSTAT" completion words zsh
	same "none of zsh's" "0" "$status$out"
}
run_tests
