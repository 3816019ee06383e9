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
	const state = { event: null, boxes: null, times: null, zoom: 0, focus: 0, hover: -1, history: [], found: null,
		icicle: false, view: null, frames: 0, frameMs: 0 };

	const grouped = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
	const percent = (part, all) => all ? (100 * part / all).toFixed(2) + " %" : "0 %";
	const unit = () => ask.weight === "samples" ? "samples" : state.event.raw.is_time ? "ns" : "events";
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const strip = new FlameStrip($("strip"), $("timeline"), ask, () => css("--ink"), chooseTimes);

	/* ---- the picture ---- */

	function look() {
		return { by: "kind", ink: css("--ink"), merged: css("--merged"), found: state.found, focus: state.focus,
			label: i => percent(state.boxes.total(i), state.boxes.all) };
	}

	function draw() {
		const begun = performance.now(), width = scroll.clientWidth, height = scroll.clientHeight;
		state.view = flameView(state.boxes, state.zoom, width, height, state.icicle);
		$("spacer").style.height = state.view.full - height + "px";
		new FlamePainter(preparePen(picture, width, height), state.boxes, state.view, look()).draw(scroll.scrollTop);
		state.frames++;
		state.frameMs = performance.now() - begun;
	}

	/* Shows the edge where the root is. */
	function toRoot() {
		draw();
		scroll.scrollTop = state.icicle ? 0 : scroll.scrollHeight;
		draw();
	}

	/* ---- what a box says ---- */

	function differenceLine(diff) {
		const signed = part => (part < 0 ? "" : "+") + percent(part, 1);
		return diff.look + ": before " + percent(diff.before, 1) + ", now " + percent(diff.now, 1) + " of all: " +
			signed(diff.now - diff.before) + " (" + signed(diff.low) + " to " + signed(diff.high) + ")";
	}

	function tell(i) {
		const boxes = state.boxes, total = boxes.total(i), zoom = state.zoom, up = boxes.up[i];
		const lines = [boxes.name(i) + (boxes.kind(i) ? " (" + boxes.kind(i) + ")" : "")];
		const parts = [percent(total, boxes.all) + " of all"];
		if (up > 0)
			parts.push(percent(total, boxes.total(up)) + " of its caller");
		if (zoom && i > zoom && boxes.start[i] < boxes.end[zoom] && up !== zoom)
			parts.push(percent(total, boxes.total(zoom)) + " of what is zoomed into");
		lines.push(grouped(total) + " " + unit() + ", " + parts.join(", ") + "; itself " + grouped(boxes.self[i]) + ", " +
			percent(boxes.self[i], boxes.all) + " of all");
		const diff = boxes.diff(i);
		if (diff)
			lines.push(differenceLine(diff));
		if (boxes.file(i))
			lines.push("in " + boxes.file(i) + (boxes.source(i) ? ", mostly at " + boxes.source(i) : ""));
		return lines;
	}

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
		try {
			await navigator.clipboard.writeText(name);
		} catch {
			const field = document.createElement("textarea");
			field.value = name;
			document.body.append(field);
			field.select();
			document.execCommand("copy");
			field.remove();
		}
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
			state.history.push(state.boxes.path(state.zoom));
		state.zoom = i;
		state.focus = i;
		state.hover = -1;
		tip.hidden = true;
		$("back").disabled = !state.history.length;
		toRoot();
		say();
	}

	function back() {
		if (state.history.length)
			zoomTo(state.boxes.find(state.history.pop()), false);
		$("back").disabled = !state.history.length;
	}

	/* ---- search ---- */

	function search() {
		const text = $("search").value, pattern = flamePattern(text), boxes = state.boxes;
		state.found = pattern ? flameSearch(boxes, pattern) : null;
		const found = state.found;
		$("found").textContent = found ? grouped(found.total) + " " + unit() + ", " +
			percent(found.total, boxes.all) + " of all, in " + grouped(found.n) + " places" : text ? "not an expression" : "";
		draw();
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

	/* The same place is shown as before, where it is still there. */
	function rebuild() {
		const zoom = state.boxes ? state.boxes.path(state.zoom) : [], at = state.boxes ? state.boxes.path(state.focus) : [];
		state.boxes = flameBoxes(state.event, ask);
		state.zoom = state.boxes.find(zoom);
		state.focus = state.boxes.find(at);
		state.hover = -1;
		state.found = null;
		tip.hidden = true;
		strip.draw();
		search();
		say();
	}

	function show(number) {
		const raw = data.events[number];
		state.event = flameEvent(raw);
		strip.set(state.event);
		state.times = strip.times;
		state.boxes = null;
		state.history = [];
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

	const up = () => focus(state.boxes.up[state.focus]), down = () => focus(state.boxes.child(state.focus));
	const KEYS = {
		ArrowUp: () => state.icicle ? up() : down(),
		ArrowDown: () => state.icicle ? down() : up(),
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
		$("event").addEventListener("change", () => show($("event").selectedIndex));
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
		new ResizeObserver(() => (strip.draw(), toRoot(), say())).observe(scroll);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (strip.draw(), draw()));
	}

	/* ---- what the page says of the recording ---- */

	function addSwatch(text, paint) {
		const entry = document.createElement("span"), swatch = document.createElement("canvas");
		paint(preparePen(swatch, 26, 14));
		entry.append(swatch, text);
		$("legend").append(entry);
	}

	function drawLegend() {
		const kinds = data.events.some(event => event.diff) ? ["more", "less", "no certain change"] :
			["user", "inlined", "kernel", "made at run time", "unknown", "waiting"].filter(
				kind => data.events.some(event => event.frames.kind.includes(KINDS.indexOf(kind))));
		$("legend").textContent = "";
		for (const kind of kinds)
			addSwatch(LOOKS[kind].name, pen => {
				pen.fillStyle = "rgb(" + LOOKS[kind].color.join(",") + ")";
				pen.fillRect(0, 0, 26, 14);
				if (PATTERNS[kind])
					fillPattern(pen, kind, 0, 0, 26, 14);
			});
		addSwatch(MERGED, pen => {
			pen.fillStyle = css("--merged");
			pen.fillRect(0, 0, 26, 14);
		});
	}

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
		document.body.classList.toggle("compared", data.events.some(event => event.diff));
		drawLegend();
	}

	describe();
	if (data.events.length) {
		followKeys();
		followMouse();
		followControls();
		show(0);
		/* For tests: what is shown, as numbers. */
		window.pstatFlamegraph = { state, ask, tell, draw };
	} else {
		for (const id of ["tools", "timeline", "main", "legend"])
			$(id).hidden = true;
		$("status").textContent = "There are no samples to draw.";
	}
})();
