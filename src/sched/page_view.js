/*
 * The page: what is shown, and what keys and the mouse do. All that is from the recording becomes text, by textContent
 * or fillText; nothing is made markup of.
 */
"use strict";

(() => {
	const data = JSON.parse(document.getElementById("data").textContent), model = new SchedModel(data);
	const $ = id => document.getElementById(id), picture = $("picture"), scroll = $("scroll"), tip = $("tip");
	const LEAST_SPAN = 100; /* ns */
	const state = { rows: "cpus", from: 0, to: model.length, selected: -1, hover: -1, found: null, list: [], history: [],
		drag: null, frameMs: 0 };
	let busy = { columns: [], width: 0 }, asked = false;

	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	/* Few CPUs have high rows. */
	const rowHeight = () => state.rows === "tasks" ? TASK_ROW :
		Math.max(CPU_ROW, Math.min(3 * CPU_ROW, Math.floor((scroll.clientHeight - AXIS) / model.nCpus)));
	const group = () => state.rows === "cpus" ? model.byCpu : model.byTask;
	const keyOf = run => state.rows === "cpus" ? model.cpu[run] : model.task[run];
	const topOf = index => AXIS + index * rowHeight() - scroll.scrollTop;
	const rowOf = run => state.list.indexOf(keyOf(run));
	const timeAt = x => state.from + (x - GUTTER) / (scroll.clientWidth - GUTTER) * (state.to - state.from);

	function look() {
		const names = ["page", "ink", "quiet", "line", "faint", "ready", "blocked", "asleep", "select"];
		return { ...Object.fromEntries(names.map(name => [name, css("--" + name)])), hit: state.found?.hit ?? null,
			selected: state.selected };
	}

	/* ---- drawing ---- */

	function drawRow(painter, key, y) {
		const height = rowHeight() - (state.rows === "cpus" ? 8 : 6);
		const share = part => (100 * part / model.length).toFixed(1) + " %";
		if (state.rows === "cpus")
			painter.cpuRow(key, y, height);
		else
			painter.taskRow(key, y, height);
		const mine = state.selected >= 0 && keyOf(state.selected) === key;
		if (state.rows === "cpus")
			painter.label("CPU " + key, model.byCpu.n(key) ? share(model.busy[key]) : "no switch", y, height, mine);
		else
			painter.label(model.name(key), state.label(key), y, height, mine);
	}

	function draw() {
		const begun = performance.now(), width = scroll.clientWidth, height = scroll.clientHeight;
		const gap = state.rows === "cpus" ? 4 : 3;
		asked = false;
		$("spacer").style.height = Math.max(0, AXIS + state.list.length * rowHeight() + 4 - height) + "px";
		const pen = preparePen(picture, width, height), painter = new SchedPainter(pen, model, state.from, state.to, width, look());
		pen.fillStyle = painter.look.page;
		pen.fillRect(0, 0, width, height);
		pen.textBaseline = "middle";
		pen.font = SMALL;
		painter.grid(height);
		for (let i = Math.max(0, Math.floor(scroll.scrollTop / rowHeight())); i < state.list.length && topOf(i) < height; i++)
			drawRow(painter, state.list[i], topOf(i) + gap);
		if (painter.selected)
			painter.frame(...painter.selected);
		if (state.selected >= 0)
			painter.arrow(state.selected, run => {
				const row = rowOf(run);
				return row < 0 ? null : topOf(row) + rowHeight() / 2;
			});
		drawLosses(painter, height);
		painter.axis();
		drawSpan(painter, height);
		drawStrip(painter.look);
		state.frameMs = performance.now() - begun;
	}

	function drawLosses(painter, height) {
		for (const [time] of data.lost) {
			if (time < state.from || time > state.to)
				continue;
			painter.pen.fillStyle = painter.look.ready;
			painter.pen.fillRect(painter.x(time), AXIS, 1, height);
		}
	}

	/* The span that is being selected, with its length. */
	function drawSpan(painter, height) {
		if (!state.drag || state.drag.moves || state.drag.place !== picture)
			return;
		const { pen, look } = painter, x0 = painter.x(Math.min(state.drag.begin, state.drag.end));
		const x1 = painter.x(Math.max(state.drag.begin, state.drag.end));
		pen.globalAlpha = 0.2;
		pen.fillStyle = look.select;
		pen.fillRect(x0, AXIS, x1 - x0, height);
		pen.globalAlpha = 1;
		pen.fillText(duration(Math.abs(state.drag.end - state.drag.begin)), x0 + 4, height - 10);
	}

	function drawStrip(look) {
		const width = $("timeline").clientWidth, pen = preparePen($("strip"), width, STRIP), scale = width / model.length;
		if (busy.width !== width)
			busy = { columns: busyColumns(model, width), width };
		pen.fillStyle = look.page;
		pen.fillRect(0, 0, width, STRIP);
		pen.fillStyle = look.asleep;
		for (let x = 0; x < width; x++)
			pen.fillRect(x, STRIP - busy.columns[x] * (STRIP - 4), 1, STRIP);
		const x0 = state.from * scale, x1 = Math.max(x0 + 2, state.to * scale);
		pen.fillStyle = look.page;
		pen.globalAlpha = 0.6;
		pen.fillRect(0, 0, x0, STRIP);
		pen.fillRect(x1, 0, width - x1, STRIP);
		pen.globalAlpha = 1;
		pen.strokeStyle = look.select;
		pen.lineWidth = 2;
		pen.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), STRIP - 2);
		pen.font = SMALL;
		pen.textBaseline = "top";
		pen.fillStyle = look.ink;
		pen.fillText("busy CPUs of " + model.nCpus + " over " + duration(model.length), 6, 4);
	}

	/* As soon as the browser draws: many events make one picture. */
	function redraw() {
		if (!asked)
			requestAnimationFrame(draw);
		asked = true;
	}

	function drawLegend() {
		const room = $("legend"), names = look();
		const bar = (color, top, height) => pen => {
			pen.fillStyle = color;
			pen.fillRect(0, top, 26, height);
		};
		room.textContent = "";
		if (state.rows === "tasks") {
			addSwatch(room, "runs", bar(taskColor(0, false), 1, 12));
			addSwatch(room, "waits for a CPU", bar(names.ready, 4, 6));
			addSwatch(room, "is blocked (D)", bar(names.blocked, 5, 4));
			addSwatch(room, "sleeps", bar(names.asleep, 6.5, 1));
		} else {
			for (const task of model.tasks("run").slice(0, 6))
				addSwatch(room, model.name(task).slice(0, 30), bar(taskColor(model.rankOf[task], false), 1, 12));
			addSwatch(room, "idle", bar(names.faint, 1, 12));
		}
		addSwatch(room, "not known", pen => crossOut(pen, 0, 26, 1, 12, names.quiet));
	}

	/* ---- what is shown ---- */

	function remember() {
		state.history.push({ rows: state.rows, from: state.from, to: state.to });
		if (state.history.length > 200)
			state.history.shift();
		$("back").disabled = false;
	}

	/* Shows this time, or as much of it as there is. */
	function show(from, to) {
		const span = Math.min(model.length, Math.max(LEAST_SPAN, to - from)), middle = (from + to) / 2;
		state.from = Math.max(0, Math.min(model.length - span, middle - span / 2));
		state.to = state.from + span;
		redraw();
	}

	function zoom(factor, at) {
		const time = at ?? (state.from + state.to) / 2, span = Math.max(LEAST_SPAN, (state.to - state.from) * factor);
		const part = (time - state.from) / (state.to - state.from);
		show(time - part * span, time + (1 - part) * span);
	}

	const pan = part => show(state.from + part * (state.to - state.from), state.to + part * (state.to - state.from));

	function back() {
		const last = state.history.pop();
		$("back").disabled = !state.history.length;
		if (!last)
			return;
		if (last.rows !== state.rows)
			turnTo(last.rows);
		show(last.from, last.to);
	}

	function turnTo(rows) {
		const by = $("order").value, sums = { wait: model.waitTime, worst: model.worst }[by] ?? model.runTime;
		state.rows = $("rows").value = rows;
		state.label = task => duration(sums[task]);
		state.list = rows === "cpus" ? Array.from({ length: model.nCpus }, (_, i) => i) : model.tasks(by);
		if (rows === "tasks" && state.found && state.found.tasks)
			state.list = state.list.filter(task => state.found.hit[task]);
		$("order_label").hidden = rows === "cpus";
		scroll.scrollTop = 0;
		drawLegend();
		if (state.selected >= 0)
			toRow(rowOf(state.selected));
		redraw();
	}

	function toRow(row) {
		if (row < 0)
			return;
		const y = topOf(row) - AXIS, height = scroll.clientHeight - AXIS;
		if (y < 0)
			scroll.scrollTop += y;
		else if (y + rowHeight() > height)
			scroll.scrollTop += y + rowHeight() - height;
	}

	/* ---- the selected run ---- */

	const say = () => $("status").textContent = state.selected >= 0 ? model.tell(state.selected).join("\n") :
		model.n ? "Select a run: click it, or use the arrow keys." : "Nothing ran in this recording.";

	function select(run) {
		if (run < 0)
			return;
		state.selected = run;
		const begin = model.begin[run], end = model.end[run], span = state.to - state.from;
		if (end < state.from || begin > state.to)
			show((begin + end) / 2 - span / 2, (begin + end) / 2 + span / 2);
		toRow(rowOf(run));
		say();
		redraw();
	}

	function zoomTo(run) {
		if (run < 0)
			return;
		const span = 6 * Math.max(model.end[run] - model.begin[run], LEAST_SPAN), middle = (model.begin[run] + model.end[run]) / 2;
		remember();
		show(middle - span / 2, middle + span / 2);
	}

	/* The run beside the selected one in its row; without one the first that is shown. */
	function beside(step) {
		const all = group(), key = state.selected >= 0 ? keyOf(state.selected) : state.list[0];
		if (key === undefined)
			return;
		let at = model.firstAfter(all, key, state.selected >= 0 ? model.begin[state.selected] : state.from);
		while (state.selected >= 0 && at < all.n(key) && all.run(key, at) !== state.selected)
			at++;
		at += state.selected >= 0 ? step : 0;
		if (at >= 0 && at < all.n(key))
			select(all.run(key, at));
	}

	/* The run of the next row, that has one, nearest in time. */
	function above(step) {
		const all = group(), time = state.selected >= 0 ? model.begin[state.selected] : state.from;
		let row = state.selected >= 0 ? rowOf(state.selected) + step : 0;
		for (; row >= 0 && row < state.list.length; row += step) {
			const key = state.list[row], n = all.n(key);
			if (n) {
				select(all.run(key, Math.min(n - 1, model.firstAfter(all, key, time))));
				return;
			}
		}
	}

	/* ---- the mouse ---- */

	function runUnder(mouse) {
		const place = picture.getBoundingClientRect(), x = mouse.clientX - place.left, y = mouse.clientY - place.top;
		const row = Math.floor((y - AXIS + scroll.scrollTop) / rowHeight());
		if (x < GUTTER || y < AXIS || row < 0 || row >= state.list.length)
			return -1;
		const key = state.list[row], all = group(), near = (state.to - state.from) / (scroll.clientWidth - GUTTER);
		const exact = model.runAt(all, key, timeAt(x)), after = model.firstAfter(all, key, timeAt(x) - near);
		if (exact >= 0 || after === all.n(key))
			return exact;
		return model.begin[all.run(key, after)] <= timeAt(x) + near ? all.run(key, after) : -1;
	}

	function showTip(mouse) {
		tip.hidden = state.hover < 0 || state.drag !== null;
		if (tip.hidden)
			return;
		tip.textContent = model.tell(state.hover).join("\n");
		const y = mouse.clientY + 18;
		tip.style.left = Math.max(4, Math.min(mouse.clientX + 12, window.innerWidth - tip.offsetWidth - 4)) + "px";
		tip.style.top = (y + tip.offsetHeight < window.innerHeight ? y : mouse.clientY - tip.offsetHeight - 10) + "px";
	}

	const timeUnder = (mouse, place) => place === picture ? timeAt(mouse.clientX - place.getBoundingClientRect().left) :
		(mouse.clientX - place.getBoundingClientRect().left) / place.clientWidth * model.length;

	function drag(mouse) {
		const drag = state.drag, time = timeUnder(mouse, drag.place);
		drag.far ||= Math.abs(mouse.clientX - drag.x) > 4;
		if (drag.moves)
			show(state.from + drag.begin - time, state.to + drag.begin - time);
		drag.end = Math.max(0, Math.min(model.length, drag.moves ? timeUnder(mouse, drag.place) : time));
		if (drag.place !== picture && drag.far)
			show(Math.min(drag.begin, drag.end), Math.max(drag.begin, drag.end));
		redraw();
	}

	function drop(mouse) {
		const drag = state.drag, span = state.to - state.from;
		state.drag = null;
		if (!drag)
			return;
		if (drag.place !== picture && !drag.far) {
			show(drag.begin - span / 2, drag.begin + span / 2);
		} else if (drag.place === picture && !drag.far) {
			select(runUnder(mouse));
		} else if (drag.place === picture && !drag.moves) {
			remember();
			show(Math.min(drag.begin, drag.end), Math.max(drag.begin, drag.end));
		}
		redraw();
	}

	for (const place of [picture, $("strip")]) {
		place.addEventListener("pointerdown", mouse => {
			const begin = timeUnder(mouse, place), inside = place !== picture || begin >= state.from;
			if (mouse.button > 1 || !inside)
				return;
			if (place !== picture)
				remember();
			const moves = mouse.shiftKey || mouse.button === 1;
			state.drag = { place, begin, end: begin, x: mouse.clientX, far: false, moves };
			if (mouse.isTrusted)
				place.setPointerCapture(mouse.pointerId);
			tip.hidden = true;
			picture.focus();
		});
		place.addEventListener("pointermove", mouse => {
			if (state.drag) {
				drag(mouse);
			} else if (place === picture) {
				state.hover = runUnder(mouse);
				showTip(mouse);
			}
		});
		place.addEventListener("pointerup", drop);
	}
	picture.addEventListener("pointerleave", () => tip.hidden = true);
	picture.addEventListener("dblclick", mouse => zoomTo(runUnder(mouse)));
	picture.addEventListener("wheel", mouse => {
		const x = mouse.clientX - picture.getBoundingClientRect().left;
		if (x < GUTTER)
			return;
		mouse.preventDefault();
		tip.hidden = true;
		if (mouse.shiftKey || Math.abs(mouse.deltaX) > Math.abs(mouse.deltaY))
			pan(Math.sign(mouse.deltaX || mouse.deltaY) * 0.1);
		else
			zoom(mouse.deltaY > 0 ? 1.25 : 0.8, timeAt(x));
	}, { passive: false });

	/* ---- search ---- */

	function search() {
		let found = null, said = "";
		try {
			found = model.search($("search").value);
			if (found)
				said = grouped(found.tasks) + " tasks, " + grouped(found.runs) + " runs, " + duration(found.time);
		} catch {
			said = "not an expression";
		}
		state.found = found;
		$("found").textContent = said;
		turnTo(state.rows);
	}

	function nextFound(isBack) {
		if (!state.found)
			return;
		const time = state.selected >= 0 && state.found.hit[model.task[state.selected]] ? model.begin[state.selected] :
			isBack ? state.to : state.from - 1;
		select(model.nextFound(state.found.hit, time, isBack));
	}

	/* ---- keys ---- */

	const KEYS = {
		"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), a: () => pan(-0.3), d: () => pan(0.3),
		Home: () => {
			remember();
			show(0, model.length);
		},
		Escape: back, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), ArrowUp: () => above(-1),
		ArrowDown: () => above(1), Enter: () => zoomTo(state.selected),
		w: () => state.selected >= 0 && select(model.wakingRun(state.selected)),
		t: () => turnTo(state.rows === "cpus" ? "tasks" : "cpus"), v: () => turnTo(state.rows === "cpus" ? "tasks" : "cpus"),
		n: () => nextFound(false), N: () => nextFound(true), "/": () => $("search").focus(),
		"?": () => $("help_button").click(),
		PageDown: () => scroll.scrollTop += scroll.clientHeight - AXIS,
		PageUp: () => scroll.scrollTop -= scroll.clientHeight - AXIS,
	};

	document.addEventListener("keydown", key => {
		if (key.target === $("search")) {
			if (key.key === "Escape") {
				$("search").value = "";
				search();
			}
			if (key.key === "Enter")
				nextFound(key.shiftKey);
			if (key.key === "Escape" || key.key === "Enter")
				picture.focus();
			return;
		}
		if (!KEYS[key.key] || key.ctrlKey || key.altKey || key.metaKey || /SELECT|SUMMARY|BUTTON/.test(key.target.tagName ?? ""))
			return;
		key.preventDefault();
		KEYS[key.key]();
	});

	$("search").addEventListener("input", search);
	$("rows").addEventListener("change", () => turnTo($("rows").value));
	$("order").addEventListener("change", () => turnTo(state.rows));
	$("back").addEventListener("click", back);
	$("whole").addEventListener("click", KEYS.Home);
	$("help_button").addEventListener("click", () => {
		$("help").hidden = !$("help").hidden;
		$("help_button").setAttribute("aria-expanded", String(!$("help").hidden));
		redraw();
	});
	$("about").addEventListener("toggle", redraw);
	scroll.addEventListener("scroll", redraw);
	window.addEventListener("resize", redraw);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		drawLegend();
		redraw();
	});

	$("title").textContent = document.title = data.title;
	$("summary").textContent = data.caption[0];
	for (const line of data.caption.slice(1)) {
		const item = document.createElement("li");
		item.textContent = line;
		$("caption").append(item);
	}
	turnTo("cpus");
	say();
	draw();
	window.pstatSched = { state, model, draw };
})();
