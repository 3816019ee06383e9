/*
 * The page of a flame graph: what is shown, and what keys and the mouse do. All that is from the recording becomes
 * text, by textContent, value or fillText; nothing is made markup of. The rooms of the page keep their sizes whatever
 * is pointed at.
 */
"use strict";

(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const $ = id => document.getElementById(id);
	const picture = $("picture"), scroll = $("scroll"), tip = $("tip");
	const ask = { merged: false, weight: "samples", from: 0, to: Infinity, lane: -1 };
	/* shape: graph, inverted or sandwich (of the function with this number of nameNumbers) */
	const state = { event: null, boxes: null, times: null, zoom: 0, focus: 0, hover: -1, history: [], found: null,
		icicle: false, view: null, frameMs: 0, shape: "graph", number: -1, color: "kind", colors: new Map(),
		linked: true };
	const wide = () => Math.max(100, scroll.clientWidth);
	const SHAPES = {
		graph: () => flameBoxes(state.event, ask),
		inverted: zoom => flameInverted(state.event, ask, zoom, wide()),
		sandwich: zoom => flameSandwich(state.event, ask, state.number, zoom, wide()),
		chart: zoom => flameChart(state.event, ask, zoom, wide()),
	};

	const unit = () => ask.weight === "samples" ? "samples" : state.event.raw.is_time ? "ns" : "events";
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const strip = new FlameStrip($("strip"), $("timeline"), ask, () => css("--ink"), chooseTimes);
	const table = new FlameTable($("rows"), document.querySelectorAll("#functions button"), $("rows_note"),
		number => number < 0 ? showGroup(number) : turnTo("sandwich", number));

	/* ---- the picture ---- */

	function look() {
		return { by: state.color, colors: state.colors, ink: css("--ink"), merged: css("--merged"), found: state.found,
			focus: state.focus, label: i => state.boxes.heads ? timeText(state.boxes.total(i)) :
				percent(state.boxes.total(i), state.boxes.all) };
	}

	function draw() {
		const begun = performance.now(), width = scroll.clientWidth, height = scroll.clientHeight;
		state.view = flameView(state.boxes, state.zoom, width, height, state.icicle);
		$("spacer").style.height = state.view.full - height + "px";
		new FlamePainter(preparePen(picture, width, height), state.boxes, state.view, look()).draw(scroll.scrollTop);
		state.frameMs = performance.now() - begun;
	}

	/* Shows the edge where the root is. */
	function toRoot() {
		draw();
		scroll.scrollTop = state.icicle ? 0 : scroll.scrollHeight;
		if (state.boxes.middle)
			scroll.scrollTop = topOfLevel(state.view, state.boxes.middle) - state.view.height / 2;
		draw();
	}

	/* What is shown, as a file of its own. */
	function pictureText() {
		const { width, height } = state.view, pen = new SvgPen(width, height, css("--page"));
		new FlamePainter(pen, state.boxes, state.view, look()).draw(scroll.scrollTop);
		return pen.text();
	}

	const savePicture = () => saveSvg(pictureText(), "flamegraph.svg");

	/* ---- what a box says ---- */

	const tell = i => tellBox(state.boxes, i, state.zoom, unit());

	/* Each line is one line, however long the name is. */
	function say() {
		const lines = tell(state.hover >= 0 ? state.hover : state.focus), room = Math.floor(($("status").clientWidth - 20) / 8);
		$("status").textContent = lines.map(line => shortenName(line, Math.max(20, room))).join("\n");
	}

	function pointed(mouse) {
		const view = state.view, place = picture.getBoundingClientRect();
		const level = levelAt(view, mouse.clientY - place.top + scroll.scrollTop);
		const x = view.from + (mouse.clientX - place.left) / view.scale;
		return level >= 0 ? state.boxes.at(level, x) : -1;
	}

	/* The whole name, where the box has no room for it: above or below its row, so that the box stays in sight. */
	function showTip(mouse) {
		const i = state.hover, boxes = state.boxes, view = state.view;
		const wide = i < 0 ? 0 : (Math.min(boxes.end[i], view.from + view.wide) - Math.max(boxes.start[i], view.from)) * view.scale;
		tip.hidden = i < 0 || (boxes.name(i).length + 2) * 7.3 < wide;
		if (tip.hidden)
			return;
		const y = picture.getBoundingClientRect().top + topOfLevel(view, boxes.level[i]) - scroll.scrollTop;
		const below = window.innerHeight - y - ROW - 8, above = y - 8;
		tip.style.maxHeight = Math.max(below, above) + "px";
		tip.textContent = boxes.name(i).length > 1000 ? boxes.name(i).slice(0, 1000) + DOTS : boxes.name(i);
		tip.style.left = Math.max(4, Math.min(mouse.clientX + 12, window.innerWidth - tip.offsetWidth - 4)) + "px";
		tip.style.top = (below >= tip.offsetHeight || below >= above ? y + ROW + 4 : y - tip.offsetHeight - 4) + "px";
	}

	async function copyName() {
		const name = state.boxes.name(state.hover >= 0 ? state.hover : state.focus);
		await copyText(name);
		$("found").textContent = "copied: " + shortenName(name, 60);
	}

	/* ---- zoom and focus ---- */

	function inView(i) {
		const y = topOfLevel(state.view, state.boxes.level[i]);
		if (y < scroll.scrollTop)
			scroll.scrollTop = y;
		else if (y + ROW > scroll.scrollTop + state.view.height)
			scroll.scrollTop = y + ROW - state.view.height;
	}

	function focus(i) {
		if (i < 0)
			return;
		const view = state.view, boxes = state.boxes;
		state.focus = i;
		state.hover = -1;
		tip.hidden = true;
		if (boxes.end[i] <= view.from || boxes.start[i] >= view.from + view.wide)
			zoomTo(i, true);
		inView(i);
		draw();
		say();
	}

	function zoomTo(i, remember) {
		if (i < 0 || i === state.zoom)
			return;
		if (remember)
			state.history.push({ shape: state.shape, number: state.number, path: state.boxes.path(state.zoom) });
		state.zoom = i;
		state.focus = i;
		state.hover = -1;
		tip.hidden = true;
		if (state.boxes.width)
			rebuild();
		$("back").disabled = !state.history.length;
		toRoot();
		if (state.boxes.heads)
			inView(i);
		say();
		keepLink();
	}

	/* A view that is laid out for its width may have the box only when it is laid out for this path. */
	function zoomToPath(path) {
		if (!state.boxes.width) {
			zoomTo(state.boxes.find(path), false);
			return;
		}
		rebuild(path);
		toRoot();
		if (state.boxes.heads)
			inView(state.zoom);
	}

	function back() {
		const last = state.history.pop();
		if (last && (last.shape !== state.shape || last.number !== state.number))
			show(last);
		if (last)
			zoomToPath(last.path);
		$("back").disabled = !state.history.length;
	}

	/* ---- views ---- */

	/* Another view, or another function's: the function in focus, where none is named. */
	function turnTo(shape, number) {
		const names = nameNumbers(state.event), frame = state.boxes.frame[state.focus];
		if (shape === "sandwich" && number === undefined)
			number = frame >= 0 ? names.of[frame] : Math.max(-1, table.rows[0]?.number ?? -1);
		if (shape === state.shape && (number ?? -1) === state.number)
			return;
		state.history.push({ shape: state.shape, number: state.number, path: state.boxes.path(state.zoom) });
		show({ shape, number: number ?? -1 });
		$("back").disabled = false;
	}

	function show({ shape, number }) {
		state.shape = $("shape").value = shape;
		state.number = number;
		state.boxes = null;
		$("merged").disabled = shape !== "graph";
		rebuild();
		toRoot();
		say();
	}

	function showGroup(frame) { /* the flame graph has a box for each group, unless they are merged */
		$("merged").checked && $("merged").click();
		turnTo("graph");
		zoomTo(state.boxes.frame.indexOf(frame, 1), true);
	}

	function list() {
		const apart = hasGroups(state.event) && $("rows_of").value === "groups";
		$("functions").hidden = !$("list").checked;
		$("rows_of_label").hidden = !hasGroups(state.event);
		if ($("list").checked)
			table.set((apart ? flameGroups : flameFunctions)(state.event, ask), apart ? "groups" : "functions", grouped,
				value => percent(value, state.boxes.all), flamePattern($("search").value));
	}

	/* ---- a link that holds what is shown ---- */

	function keepLink() {
		if (state.linked)
			return;
		const link = new URLSearchParams(), set = (key, value, usual) => value !== usual && link.set(key, value);
		set("event", $("event").selectedIndex, 0);
		set("view", state.shape, "graph");
		set("function", state.number, -1);
		set("zoom", state.boxes.path(state.zoom).join("."), "");
		set("search", $("search").value, "");
		set("time", ask.to === Infinity ? "" : ask.from + "-" + ask.to, "");
		set("lane", ask.lane, -1);
		set("merged", ask.merged, false);
		history.replaceState(null, "", "#" + link);
	}

	/* Does what the link says; whatever it has that is not there is left out. */
	function follow() {
		const link = new URLSearchParams(location.hash.slice(1)), number = key => Number(link.get(key) ?? -1);
		const time = /^(\d+)-(\d+)$/.exec(link.get("time") ?? "");
		state.linked = true;
		$("event").selectedIndex = data.events[number("event")] ? number("event") : 0;
		showEvent(Math.max(0, $("event").selectedIndex));
		$("search").value = link.get("search") ?? "";
		$("merged").checked = ask.merged = link.get("merged") === "true";
		ask.lane = state.times.lanes > number("lane") ? Math.max(-1, Math.trunc(number("lane")) || 0) : -1;
		if (!link.has("lane"))
			ask.lane = -1;
		if (time)
			strip.choose(Number(time[1]), Number(time[2]));
		if (Object.hasOwn(SHAPES, link.get("view") ?? "") && (link.get("view") !== "chart" || hasChart()))
			show({ shape: link.get("view"), number: Math.trunc(number("function")) });
		else
			rebuild();
		zoomToPath((link.get("zoom") ?? "").split(".").filter(part => part).map(Number));
		state.linked = false;
	}

	/* ---- search ---- */

	function search() {
		const text = $("search").value, pattern = flamePattern(text), boxes = state.boxes;
		state.found = pattern ? flameSearch(boxes, pattern) : null;
		const found = state.found;
		$("found").textContent = found ? (boxes.heads ? timeText(found.total) + " of all threads, " :
			grouped(found.total) + " " + unit() + ", ") +
			percent(found.total, boxes.all) + " of all, in " + grouped(found.n) + " places" : text ? "not an expression" : "";
		draw();
		list();
		keepLink();
	}

	function next(by) {
		const n = state.boxes.n;
		if (!state.found || !state.found.n)
			return;
		let i = state.focus;
		do
			i = (i + by + n) % n;
		while (!state.found.hit[i]);
		focus(i);
	}

	/* ---- what is asked changes ---- */

	function chooseTimes() {
		rebuild();
		const ns = state.event.raw.bucket_ns, sec = n => (n * ns / 1e9).toFixed(6) + " s";
		$("all_times").disabled = ask.to === Infinity && ask.lane < 0;
		if (ask.to !== Infinity)
			$("status").textContent = "From " + sec(ask.from) + " to " + sec(ask.to + 1) + " after the first sample: " +
				grouped(state.boxes.all) + " " + unit();
	}

	/* Lays out a slice more and draws it, as long as there is more. The root's edge stays in sight. */
	function goOn(boxes) {
		if (boxes !== state.boxes)
			return;
		const { scrollTop, scrollHeight, clientHeight } = scroll;
		const edge = boxes.middle || (state.icicle ? scrollTop < 1 : scrollTop + clientHeight >= scrollHeight - 1);
		if (boxes.step())
			setTimeout(goOn, 0, boxes);
		else
			search();
		if (edge)
			toRoot();
		else
			draw();
	}

	/* The same place is shown as before, where it is still there; or that of a path. */
	function rebuild(path) {
		const zoom = path ?? (state.boxes ? state.boxes.path(state.zoom) : []);
		const at = path ?? (state.boxes ? state.boxes.path(state.focus) : []);
		state.boxes = SHAPES[state.shape](zoom);
		if (state.boxes.step())
			setTimeout(goOn, 0, state.boxes);
		state.zoom = state.boxes.find(zoom);
		state.focus = state.boxes.find(at);
		state.hover = -1;
		state.found = null;
		tip.hidden = true;
		strip.draw();
		search();
		say();
	}

	/* Else `chart` says why there is none. */
	const hasChart = () => typeof state.event.raw.chart === "object";

	function showEvent(number) {
		const raw = data.events[number];
		state.event = flameEvent(raw);
		state.colors = new Map();
		strip.set(state.event);
		state.times = strip.times;
		state.boxes = null;
		state.history = [];
		state.shape = $("shape").value = "graph";
		state.number = -1;
		$("merged").disabled = false;
		const over = $("shape").querySelector("[value=chart]");
		over.disabled = !hasChart();
		over.textContent = hasChart() ? "flame chart: threads over time" : "no flame chart: " + raw.chart;
		ask.from = 0;
		ask.to = Infinity;
		ask.lane = -1;
		$("weight").value = ask.weight = raw.is_time ? "period" : "samples";
		$("back").disabled = true;
		$("timeline").hidden = $("all_times").hidden = raw.buckets < 2;
		$("all_times").disabled = true;
		$("merged_label").hidden = raw.groups.length < 2;
		$("weight_label").hidden = typeof raw.rows.period === "number";
		rebuild();
		toRoot();
	}

	function toggle(name) {
		$(name).checked = !$(name).checked;
		$(name).dispatchEvent(new Event("change"));
	}

	function choose(name, by) {
		do
			$(name).selectedIndex = ($(name).selectedIndex + by) % $(name).options.length;
		while ($(name).options[$(name).selectedIndex].disabled);
		$(name).dispatchEvent(new Event("change"));
	}

	const KEYS = {
		ArrowUp: () => focus(state.boxes.onLevel(state.focus, state.icicle ? -1 : 1)),
		ArrowDown: () => focus(state.boxes.onLevel(state.focus, state.icicle ? 1 : -1)),
		ArrowLeft: () => focus(state.boxes.beside(state.focus, -1)),
		ArrowRight: () => focus(state.boxes.beside(state.focus, 1)),
		Enter: () => zoomTo(state.focus, true),
		Escape: back,
		Backspace: back,
		Home: () => zoomTo(0, true),
		"/": () => $("search").focus(),
		n: () => next(1),
		N: () => next(-1),
		i: () => toggle("icicle"),
		m: () => toggle("merged"),
		c: copyName,
		v: () => choose("shape", 1),
		f: () => turnTo("sandwich"),
		t: () => toggle("list"),
		k: () => choose("color", 1),
		s: savePicture,
		p: () => window.print(),
		d: () => $("about").open = !$("about").open,
		"?": () => $("help_button").click(),
	};

	function followKeys() {
		document.addEventListener("keydown", key => {
			if (key.ctrlKey || key.altKey || key.metaKey || !Object.hasOwn(KEYS, key.key))
				return;
			if (["INPUT", "SELECT", "BUTTON", "SUMMARY"].includes(key.target.tagName) && key.key !== "Escape")
				return;
			if (key.target === $("search")) {
				$("search").value = "";
				search();
				picture.focus();
			} else {
				KEYS[key.key]();
			}
			key.preventDefault();
		});
		$("search").addEventListener("keydown", key => key.key === "Enter" && (next(1), picture.focus()));
	}

	function followMouse() {
		picture.addEventListener("mousemove", mouse => {
			state.hover = pointed(mouse);
			showTip(mouse);
			say();
		});
		picture.addEventListener("mouseleave", () => {
			state.hover = -1;
			tip.hidden = true;
			say();
		});
		picture.addEventListener("click", mouse => {
			const i = pointed(mouse);
			zoomTo(i === state.zoom ? -1 : i, true);
		});
	}

	function followControls() {
		$("search").addEventListener("input", search);
		$("back").addEventListener("click", back);
		$("whole").addEventListener("click", () => zoomTo(0, true));
		$("all_times").addEventListener("click", () => strip.all());
		$("copy").addEventListener("click", copyName);
		$("svg").addEventListener("click", savePicture);
		$("print").addEventListener("click", () => window.print());
		$("shape").addEventListener("change", () => turnTo($("shape").value));
		[$("list"), $("rows_of")].forEach(control => control.addEventListener("change", list));
		$("color").addEventListener("change", () => {
			state.color = $("color").value;
			state.colors = new Map();
			legend();
			draw();
		});
		window.addEventListener("hashchange", follow);
		$("event").addEventListener("change", () => showEvent($("event").selectedIndex));
		$("icicle").addEventListener("change", () => {
			state.icicle = $("icicle").checked;
			toRoot();
		});
		$("merged").addEventListener("change", () => {
			ask.merged = $("merged").checked;
			state.history = [];
			rebuild();
		});
		$("weight").addEventListener("change", () => {
			ask.weight = $("weight").value;
			rebuild();
		});
		$("help_button").addEventListener("click", () => {
			$("help").hidden = !$("help").hidden;
			$("help_button").setAttribute("aria-expanded", String(!$("help").hidden));
		});
		scroll.addEventListener("scroll", draw);
		new ResizeObserver(() => {
			strip.draw();
			if (state.boxes.width && state.boxes.width !== wide())
				rebuild();
			toRoot();
			say();
		}).observe(scroll);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (strip.draw(), draw()));
	}

	/* ---- what the page says of the recording ---- */

	const legend = () => drawLegend($("legend"), data.events, state, css("--merged"));

	/* One line; the rest unfolds. */
	function describe() {
		const lost = data.caption.filter(line => line.startsWith("Lost: "));
		$("title").textContent = document.title = $("title").title = data.title;
		$("summary").textContent = data.caption.slice(0, 1).concat(lost).join("; ");
		for (const line of data.caption) {
			const item = document.createElement("li");
			item.textContent = line;
			$("caption").append(item);
		}
		data.events.forEach(event => $("event").append(new Option(event.name)));
		$("event_label").hidden = data.events.length < 2;
		const compared = data.events.some(event => event.diff);
		document.body.classList.toggle("compared", compared);
		$("shape_label").hidden = $("list_label").hidden = $("color_label").hidden = compared;
		for (const key of compared ? ["v", "f", "t", "k"] : [])
			delete KEYS[key];
		legend();
	}

	describe();
	if (data.events.length) {
		followKeys();
		followMouse();
		followControls();
		follow();
		/* For tests: what is shown, as numbers. */
		window.pstatFlamegraph = { state, ask, tell, draw, pictureText, follow };
	} else {
		for (const id of ["tools", "timeline", "main", "legend"])
			$(id).hidden = true;
		$("status").textContent = "There are no samples to draw.";
	}
})();
