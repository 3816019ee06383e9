/*
 * The page of a flame graph: draws the boxes of the model that are in view, and takes keys and the mouse. All that is
 * from the recording becomes text, by textContent, value or fillText; nothing is made markup of.
 */
"use strict";

(() => {
	const ROW = 18, LANE = 14, LABEL = 110;
	const data = JSON.parse(document.getElementById("data").textContent);
	const $ = id => document.getElementById(id);
	const picture = $("picture"), strip = $("strip"), scroll = $("scroll"), tip = $("tip");
	const ask = { merged: false, weight: "samples", from: 0, to: Infinity, lane: -1 };
	const state = { event: null, boxes: null, times: null, zoom: 0, focus: 0, hover: -1, history: [], found: null,
		icicle: false, patterns: {} };

	const grouped = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
	const percent = (part, all) => all ? (100 * part / all).toFixed(2) + " %" : "0 %";
	const unit = () => ask.weight === "samples" ? "samples" : state.event.raw.is_time ? "ns" : "events";

	/* ---- looks ---- */

	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name);

	/* A canvas as large as this, sharp on any screen. */
	function prepare(canvas, width, height) {
		const sharp = window.devicePixelRatio || 1;
		canvas.width = Math.max(1, Math.round(width * sharp));
		canvas.height = Math.max(1, Math.round(height * sharp));
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
		const pen = canvas.getContext("2d");
		pen.setTransform(sharp, 0, 0, sharp, 0, 0);
		pen.clearRect(0, 0, width, height);
		return pen;
	}

	/* ---- the picture ---- */

	/* x of the picture is scale * (what the boxes have - from). */
	function frameOfView() {
		const boxes = state.boxes, zoom = state.zoom, width = scroll.clientWidth;
		const from = boxes.start[zoom], wide = boxes.total(zoom) || 1;
		return { width, height: scroll.clientHeight, from, wide, scale: width / wide, levels: boxes.levels.length };
	}

	/* The top of a level's row, in the whole picture. */
	function topOf(level, view) {
		const high = Math.max(view.levels * ROW, view.height);
		return state.icicle ? level * ROW : high - (level + 1) * ROW;
	}

	function levelAt(y, view) {
		const high = Math.max(view.levels * ROW, view.height);
		return Math.floor((state.icicle ? y : high - 1 - y) / ROW);
	}

	function drawBox(pen, boxes, i, x, y, w, letter) {
		const dim = state.found && !state.found.hit[i];
		pen.globalAlpha = dim ? 0.3 : 1;
		pen.fillStyle = colorOf(boxes, i);
		pen.fillRect(x, y, w, ROW - 1);
		const pattern = state.patterns[boxes.look(i)];
		if (pattern && w > 3) {
			pen.fillStyle = pattern;
			pen.fillRect(x, y, w, ROW - 1);
		}
		pen.globalAlpha = dim ? 0.75 : 1;
		const room = Math.floor((w - 6) / letter);
		if (room >= 3) {
			const name = LOOKS[boxes.look(i)].mark + boxes.name(i);
			pen.fillStyle = dim ? css("--ink") : "#000000";
			pen.fillText(name.length > room ? name.slice(0, room - 2) + ".." : name, x + 3, y + ROW / 2);
		}
		pen.globalAlpha = 1;
		if (state.found && !dim && w > 4) {
			pen.strokeStyle = css("--ink");
			pen.strokeRect(x + 0.5, y + 0.5, w - 1, ROW - 2);
		}
		if (i === state.focus) {
			pen.lineWidth = 2;
			pen.strokeStyle = "#000000";
			pen.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
			pen.lineWidth = 1;
		}
	}

	/* What is narrower than a pixel is one grey line with its neighbours: work grows with pixels, not with boxes. */
	function drawLevel(pen, view, level, y, letter) {
		const boxes = state.boxes, row = boxes.levels[level], to = view.from + view.wide, pixel = 1 / view.scale;
		for (let k = Math.max(0, boxes.firstBehind(row, view.from) - 1); k < row.length; k++) {
			const i = row[k], start = Math.max(boxes.start[i], view.from), end = Math.min(boxes.end[i], to);
			if (boxes.start[i] >= to)
				break;
			if (end <= view.from)
				continue;
			const x = (start - view.from) * view.scale, w = (end - start) * view.scale;
			if (w >= 1) {
				drawBox(pen, boxes, i, x, y, Math.max(w - 0.5, 0.5), letter);
			} else {
				pen.fillStyle = state.found && state.found.hit[i] ? css("--ink") : "#9a9a9a";
				pen.fillRect(x, y, 1, ROW - 1);
				k = Math.max(k, boxes.firstBehind(row, start + pixel) - 2);
			}
		}
	}

	function draw() {
		const view = frameOfView(), top = scroll.scrollTop;
		const pen = prepare(picture, view.width, view.height);
		$("spacer").style.height = Math.max(0, view.levels * ROW - view.height) + "px";
		pen.font = "12px ui-monospace, monospace";
		pen.textBaseline = "middle";
		const letter = pen.measureText("m").width || 7;
		for (let level = 0; level < view.levels; level++) {
			const y = topOf(level, view) - top;
			if (y > -ROW && y < view.height)
				drawLevel(pen, view, level, y, letter);
		}
		if (!state.boxes.total(0)) {
			pen.fillStyle = css("--ink");
			pen.fillText("no samples", 8, view.height / 2);
		}
	}

	/* ---- what a box says ---- */

	function tell(i) {
		const boxes = state.boxes, all = boxes.total(0), total = boxes.total(i), zoomed = boxes.total(state.zoom);
		const lines = [boxes.name(i) + (boxes.kind(i) ? " (" + boxes.kind(i) + ")" : "")];
		let numbers = grouped(total) + " " + unit() + ", " + percent(total, all) + " of all";
		if (state.zoom)
			numbers += ", " + percent(total, zoomed) + " of what is shown";
		lines.push(numbers + "; itself " + grouped(boxes.self[i]) + ", " + percent(boxes.self[i], all));
		const diff = boxes.diff(i), signed = part => (part < 0 ? "" : "+") + percent(part, 1);
		if (diff)
			lines.push(diff.look + ": before " + percent(diff.before, 1) + ", now " + percent(diff.now, 1) + ": " +
				signed(diff.now - diff.before) + " (" + signed(diff.low) + " to " + signed(diff.high) + ")");
		if (boxes.file(i))
			lines.push("in " + boxes.file(i) + (boxes.source(i) ? ", mostly at " + boxes.source(i) : ""));
		return lines;
	}

	function say() {
		$("status").textContent = tell(state.hover >= 0 ? state.hover : state.focus).join("\n");
	}

	function pointed(mouse) {
		const view = frameOfView(), place = picture.getBoundingClientRect();
		const level = levelAt(mouse.clientY - place.top + scroll.scrollTop, view);
		const x = view.from + (mouse.clientX - place.left) / view.scale;
		return level >= 0 && level < view.levels ? state.boxes.at(level, x) : -1;
	}

	function showTip(mouse) {
		tip.hidden = state.hover < 0;
		if (tip.hidden)
			return;
		const lines = tell(state.hover).map(line => line.length > 400 ? line.slice(0, 400) + "..." : line);
		tip.textContent = lines.join("\n");
		tip.style.left = Math.min(mouse.clientX + 12, window.innerWidth - tip.offsetWidth - 4) + "px";
		tip.style.top = Math.min(mouse.clientY + 16, window.innerHeight - tip.offsetHeight - 4) + "px";
	}

	/* ---- zoom and focus ---- */

	function inView(i) {
		const view = frameOfView(), y = topOf(state.boxes.level[i], view);
		if (y < scroll.scrollTop)
			scroll.scrollTop = y;
		else if (y + ROW > scroll.scrollTop + view.height)
			scroll.scrollTop = y + ROW - view.height;
	}

	function focus(i) {
		if (i < 0)
			return;
		const view = frameOfView(), boxes = state.boxes;
		state.focus = i;
		state.hover = -1;
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
		$("back").disabled = !state.history.length;
		draw();
		inView(i);
		draw();
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
			percent(found.total, boxes.total(0)) + ", in " + grouped(found.n) + " places"
			: text ? "not an expression" : "";
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

	/* ---- the strip of times ---- */

	function drawStrip() {
		const times = state.times, raw = state.event.raw, width = $("timeline").clientWidth;
		const pen = prepare(strip, width, times.lanes * LANE), wide = (width - LABEL) / times.buckets;
		pen.font = "11px system-ui, sans-serif";
		pen.textBaseline = "middle";
		for (let lane = 0; lane < times.lanes; lane++) {
			const off = ask.lane >= 0 && ask.lane !== lane;
			pen.fillStyle = css("--ink");
			pen.globalAlpha = off ? 0.45 : 1;
			pen.fillText(raw.lanes[lane] ?? "", 3, lane * LANE + LANE / 2, LABEL - 6);
			for (let bucket = 0; bucket < times.buckets; bucket++) {
				const n = times.n[lane * times.buckets + bucket], h = n / times.most * (LANE - 2);
				if (n)
					pen.fillRect(LABEL + bucket * wide, (lane + 1) * LANE - Math.max(1, h), Math.max(1, wide - 0.2),
						Math.max(1, h));
			}
		}
		pen.globalAlpha = 1;
		if (ask.to !== Infinity) {
			pen.fillStyle = "rgba(110, 185, 232, 0.35)";
			pen.fillRect(LABEL + ask.from * wide, 0, (ask.to - ask.from + 1) * wide, times.lanes * LANE);
			pen.strokeStyle = css("--ink");
			pen.strokeRect(LABEL + ask.from * wide, 0.5, (ask.to - ask.from + 1) * wide, times.lanes * LANE - 1);
		}
	}

	function choose(from, to) {
		const last = state.times.buckets - 1;
		ask.from = Math.max(0, Math.min(from, to, last));
		ask.to = Math.min(last, Math.max(from, to, 0));
		if (from === null) {
			ask.from = 0;
			ask.to = Infinity;
		}
		rebuild();
		const ns = state.event.raw.bucket_ns, sec = n => (n * ns / 1e9).toFixed(6) + " s";
		$("all_times").hidden = ask.to === Infinity && ask.lane < 0;
		if (ask.to !== Infinity)
			$("status").textContent = "From " + sec(ask.from) + " to " + sec(ask.to + 1) + " after the first sample: " +
				grouped(state.boxes.total(0)) + " " + unit();
	}

	function bucketAt(mouse) {
		const place = strip.getBoundingClientRect();
		return Math.floor((mouse.clientX - place.left - LABEL) / ((place.width - LABEL) / state.times.buckets));
	}

	function followStrip() {
		let begun = -1;
		strip.addEventListener("pointerdown", mouse => {
			const place = strip.getBoundingClientRect();
			if (mouse.clientX - place.left < LABEL) {
				const lane = Math.floor((mouse.clientY - place.top) / LANE);
				ask.lane = ask.lane === lane ? -1 : lane;
				choose(ask.to === Infinity ? null : ask.from, ask.to);
				return;
			}
			begun = bucketAt(mouse);
			strip.setPointerCapture(mouse.pointerId);
			choose(begun, begun);
		});
		strip.addEventListener("pointermove", mouse => begun >= 0 && choose(begun, bucketAt(mouse)));
		strip.addEventListener("pointerup", () => begun = -1);
		strip.addEventListener("keydown", key => {
			const by = { ArrowLeft: -1, ArrowRight: 1 }[key.key], whole = ask.to === Infinity;
			if (key.key === "Escape")
				allTimes();
			else if (by && key.shiftKey)
				choose(ask.from, (whole ? ask.from : ask.to) + by);
			else if (by)
				choose(whole ? 0 : ask.from + by, whole ? 0 : ask.to + by);
			else
				return;
			key.preventDefault();
			key.stopPropagation();
		});
	}

	function allTimes() {
		ask.lane = -1;
		choose(null, null);
	}

	/* ---- what is asked changes ---- */

	/* The same place is shown as before, where it is still there. */
	function rebuild() {
		const zoom = state.boxes ? state.boxes.path(state.zoom) : [], at = state.boxes ? state.boxes.path(state.focus) : [];
		state.boxes = flameBoxes(state.event, ask);
		state.zoom = state.boxes.find(zoom);
		state.focus = state.boxes.find(at);
		state.hover = -1;
		state.found = null;
		tip.hidden = true;
		drawStrip();
		search();
		say();
	}

	function show(number) {
		const raw = data.events[number];
		state.event = flameEvent(raw);
		state.times = flameTimes(state.event);
		state.boxes = null;
		state.history = [];
		ask.from = 0;
		ask.to = Infinity;
		ask.lane = -1;
		$("weight").value = ask.weight = raw.is_time ? "period" : "samples";
		$("back").disabled = true;
		$("timeline").hidden = raw.buckets < 2;
		$("merged_label").hidden = raw.groups.length < 2;
		$("weight_label").hidden = typeof raw.rows.period === "number";
		rebuild();
		scroll.scrollTop = state.icicle ? 0 : scroll.scrollHeight;
		draw();
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
		"?": () => $("help_button").click(),
	};

	function followKeys() {
		document.addEventListener("keydown", key => {
			if (key.ctrlKey || key.altKey || key.metaKey || !Object.hasOwn(KEYS, key.key))
				return;
			if (["INPUT", "SELECT", "BUTTON"].includes(key.target.tagName) && key.key !== "Escape")
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
		$("all_times").addEventListener("click", allTimes);
		$("event").addEventListener("change", () => show($("event").selectedIndex));
		$("icicle").addEventListener("change", () => {
			state.icicle = $("icicle").checked;
			draw();
			scroll.scrollTop = state.icicle ? 0 : scroll.scrollHeight;
			draw();
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
			draw();
		});
		scroll.addEventListener("scroll", draw);
		window.addEventListener("resize", () => (drawStrip(), draw()));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (drawStrip(), draw()));
	}

	function describe() {
		$("title").textContent = document.title = data.title;
		for (const line of data.caption) {
			const item = document.createElement("li");
			item.textContent = line;
			$("caption").append(item);
		}
		data.events.forEach(event => $("event").append(new Option(event.name)));
		$("event_label").hidden = data.events.length < 2;
		const kinds = data.events.some(event => event.diff) ? ["more", "less", "no certain change"] :
			["user", "inlined", "kernel", "made at run time", "unknown"].concat(
				data.events.some(event => event.frames.kind.includes(5)) ? ["waiting"] : []);
		for (const kind of kinds) {
			const entry = document.createElement("span"), swatch = document.createElement("canvas");
			const pen = prepare(swatch, 26, 14);
			pen.fillStyle = "rgb(" + LOOKS[kind].color.join(",") + ")";
			pen.fillRect(0, 0, 26, 14);
			state.patterns[kind] = kind === "user" || kind === "no certain change" ? null : drawPattern(kind);
			if (state.patterns[kind]) {
				pen.fillStyle = state.patterns[kind];
				pen.fillRect(0, 0, 26, 14);
			}
			entry.append(swatch, LOOKS[kind].name);
			$("legend").append(entry);
		}
	}

	describe();
	if (data.events.length) {
		followKeys();
		followMouse();
		followStrip();
		followControls();
		show(0);
		/* For tests: what is shown, as numbers. */
		window.pstatFlamegraph = { state, ask, tell };
	} else {
		for (const id of ["tools", "timeline", "scroll"])
			$(id).hidden = true;
		$("status").textContent = "There are no samples to draw.";
	}
})();
