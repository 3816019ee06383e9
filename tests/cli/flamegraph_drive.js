/*
 * What a user does with a flame graph, in a browser without a screen: keys, mouse, search, zoom, a span of time. Writes
 * what it saw into the document's title, a line each, which the test compares.
 */
"use strict";

(async () => {
	const said = [], $ = id => document.getElementById(id), press = (key, more, where) =>
		(where ?? $("picture")).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
	const same = (what, wanted, got) => said.push((String(wanted) === String(got) ? "ok " : "not ok ") + what +
		(String(wanted) === String(got) ? "" : ": wanted " + wanted + ", got " + got));
	const errors = [];
	window.addEventListener("error", error => errors.push(error.message));

	const page = window.pstatFlamegraph, { state } = page;
	const raw = state.event.raw, all = () => state.boxes.total(0);
	const part = raw.frames.name[raw.nodes.frame[Math.floor(raw.nodes.frame.length / 2)]];
	const type = text => {
		$("search").value = text;
		$("search").dispatchEvent(new Event("input"));
	};

	const selfOf = node => {
		let at = 0, sum = 0;
		raw.rows.node.forEach((step, k) => (at += step) === node && (sum += raw.rows.samples[k]));
		return sum;
	};
	same("all samples are drawn", raw.samples, all());
	let covered = 0;
	for (let i = 1; i < state.boxes.n; i++)
		covered += state.boxes.self[i];
	same("each sample is one box's own", raw.samples, covered);
	press("ArrowUp");
	same("a key goes to the callee", 1, state.focus);
	press("Enter");
	same("Enter zooms in", 1, state.zoom);
	press("Home");
	same("Home shows the whole", 0, state.zoom);
	press("Escape");
	same("Esc goes back", 1, state.zoom);
	press("Escape");
	same("and back again", 0, state.zoom);
	type(part);
	same("a function is found", true, state.found.n > 0 && state.boxes.name(state.found.first).includes(part));
	same("and the total of what was found is told", true,
		/^[0-9,]+ samples, [0-9.]+ % of all, in [0-9,]+ places$/.test($("found").textContent));
	press("n");
	same("n goes to what was found", 1, state.found.hit[state.focus]);
	type("/^no such function$/");
	same("nothing is found", "0 samples, 0.00 % of all, in 0 places", $("found").textContent);
	type("/(/");
	same("what is no expression is said", "not an expression", $("found").textContent);
	press("Escape", {}, $("search"));
	same("Esc ends the search", null, state.found);
	press("i");
	same("i turns it over", true, state.icicle);
	press("i");

	const place = $("picture").getBoundingClientRect(), inside = { bubbles: true, clientX: place.left + place.width / 2,
		clientY: place.bottom - 27 };
	$("picture").dispatchEvent(new MouseEvent("mousemove", inside));
	const lines = () => $("status").textContent.split("\n");
	same("the footer has the name of the box", shortenName(state.boxes.name(state.hover), 60),
		shortenName(lines()[0].replace(/ \([a-z ]+\)$/, ""), 60));
	same("with samples and percent, and of what", true,
		/^[0-9,]+ samples, [0-9.]+ % of all(, [0-9.]+ % of [a-z ]+)*; itself [0-9,]+, [0-9.]+ % of all$/.test(lines()[1]));
	$("picture").dispatchEvent(new MouseEvent("click", inside));
	same("a click zooms in", true, state.zoom > 0);
	$("back").click();
	same("the button goes back", 0, state.zoom);

	const ofBucket = n => state.times.n.filter((_, i) => i % state.times.buckets === n).reduce((a, b) => a + b, 0);
	press("ArrowRight", {}, $("strip"));
	press("ArrowRight", { shiftKey: true }, $("strip"));
	same("a span of time is selected", ofBucket(0) + ofBucket(1), all());
	press("Escape", {}, $("strip"));
	same("and all times again", raw.samples, all());
	const strip = $("strip").getBoundingClientRect(), drag = (type, x) => $("strip").dispatchEvent(new PointerEvent(type,
		{ bubbles: true, pointerId: 1, clientX: strip.left + x, clientY: strip.top + 5 }));
	$("strip").setPointerCapture = () => {};
	drag("pointerdown", 110.5);
	drag("pointermove", strip.width - 0.5);
	drag("pointerup", strip.width - 0.5);
	same("a span from the first to the last bucket has all", raw.samples, all());
	drag("pointerdown", 5);
	same("a click on a lane's name leaves that lane", state.times.n.slice(0, state.times.buckets).reduce((a, b) => a + b, 0), all());
	$("all_times").click();
	same("the button gives all back", raw.samples, all());
	if (raw.groups.length > 1) {
		const boxes = state.boxes.n;
		press("m");
		same("merged: the same samples in fewer boxes", true, all() === raw.samples && state.boxes.n < boxes);
		press("m");
	}
	if (raw.diff) {
		const certain = raw.diff.verdict.findIndex((verdict, i) => verdict === 3 && raw.diff.now[i] > raw.diff.before[i]);
		const name = raw.frames.name[raw.nodes.frame[certain]];
		const boxOf = name => Array.from({ length: state.boxes.n }, (_, i) => i).find(i => state.boxes.name(i) === name);
		same("a difference tells more from less by lines, too", true,
			/more than before \(rising lines\).*less \(falling lines\)/.test($("legend").textContent));
		same("what is certainly more is drawn so", "more", state.boxes.look(boxOf(name)));
		$("event").selectedIndex = 1;
		$("event").dispatchEvent(new Event("change"));
		same("the old recording's widths are the second event", true, state.event.raw !== raw && state.event.raw.samples === all());
		same("there what vanished is less", true, state.event.raw.diff.now.some((now, i) => now === 0 &&
			state.event.raw.diff.verdict[i] === 3));
		$("event").selectedIndex = 0;
		$("event").dispatchEvent(new Event("change"));
		same("and back", true, state.event.raw === raw);
	}
	if (!raw.diff) {
		/* Other views of the same samples; a link that holds them; a table; a picture; a copy. */
		press("v");
		same("v: callers first", "inverted", state.shape);
		same("as many samples", raw.samples, all());
		const leaf = state.boxes.levels[1][0];
		same("the first row is what was sampled", state.boxes.total(leaf), raw.nodes.depth.reduce((sum, _, node) =>
			raw.frames.name[raw.nodes.frame[node]] === state.boxes.name(leaf) &&
			raw.frames.kind[raw.nodes.frame[node]] === raw.frames.kind[state.boxes.frame[leaf]] ? sum + selfOf(node + 1) : sum, 0));
		state.focus = leaf;
		press("f");
		same("f: the function between its callers and callees", "sandwich " + nameNumbers(state.event).of[state.boxes.frame[0]],
			state.shape + " " + state.number);
		press("ArrowDown");
		same("a key goes to a caller", true, state.boxes.level[state.focus] < state.boxes.middle || state.boxes.n === 1 ||
			state.boxes.middle === 0);
		press("t");
		const lineOf = n => $("rows").children[n].children;
		same("t: the table of functions", [4, false].join(), [lineOf(0).length, $("functions").hidden].join());
		const values = n => Array.from($("rows").children, line => parseFloat(line.children[n].textContent));
		same("by what they have themselves", true, values(0).every((value, i) => !i || values(0)[i - 1] >= value));
		document.querySelector("[data-by=total]").click();
		same("a click sorts it by total", true, values(1).every((value, i) => !i || values(1)[i - 1] >= value));
		$("rows").firstChild.focus();
		press("ArrowDown", {}, document.activeElement);
		press("Enter", {}, document.activeElement);
		same("Enter shows the function of a row", lineOf(1)[3].textContent, shortenName(state.boxes.name(0), 200));
		if (hasGroups(state.event)) {
			const before = [state.shape, state.number].join();
			$("rows_of").value = "groups";
			$("rows_of").dispatchEvent(new Event("change"));
			same("the table of groups has each that has samples", flameGroups(state.event, ask).length, $("rows").children.length);
			const name = lineOf(0)[3].textContent;
			$("rows").firstChild.click();
			same("a click zooms to the group", [name, "graph"].join(),
				[shortenName(state.boxes.name(state.zoom), 200), state.shape].join());
			press("Escape");
			press("Escape");
			same("Esc goes back to where it was", before, [state.shape, state.number].join());
			$("rows_of").value = "functions";
			$("rows_of").dispatchEvent(new Event("change"));
		}
		type(part);
		const link = location.hash;
		same("the link holds view, function and search", true, /view=sandwich/.test(link) && /function=\d/.test(link) &&
			/search=/.test(link));
		const was = [state.shape, state.number, state.found.n].join();
		press("Escape", {}, $("search"));
		for (let k = 0; k < 9; k++)
			press("Escape");
		same("Esc goes back to the flame graph", "graph", state.shape);
		press("ArrowUp");
		press("Enter");
		const zoomLink = location.hash, zoomed = state.boxes.name(state.zoom) + state.zoom;
		history.replaceState(null, "", link);
		page.follow();
		same("and the link leads there again", was, [state.shape, state.number, state.found.n].join());
		history.replaceState(null, "", zoomLink);
		page.follow();
		same("a link of a zoom, too", zoomed, state.boxes.name(state.zoom) + state.zoom);
		history.replaceState(null, "", "#view=none&function=1e99&zoom=x.-1.7e9&event=99&time=9-1&lane=5000&search=%00");
		page.follow();
		same("a link of nothing that is there shows the whole", ["graph", 0].join(), [state.shape, state.zoom].join());
		history.replaceState(null, "", "#");
		page.follow();
		press("t");
		$("shape").value = "chart";
		$("shape").dispatchEvent(new Event("change"));
		const chart = raw.chart, boxes = state.boxes, laid = boxes.heads.map((_, lane) =>
			(boxes.levels[boxes.level[boxes.heads[lane]] + 1] ?? []).reduce((sum, i) => sum + boxes.total(i), 0));
		let span = 0;
		const spans = chart.spans.map(n => chart.length.slice(span, span += n).reduce((sum, us) => sum + us, 0));
		same("a flame chart: a head for each thread", chart.lanes.join(), boxes.heads.map(i => boxes.name(i)).join());
		same("spans of neighbouring samples with one stack", chart.node.length, chart.spans.reduce((sum, n) => sum + n, 0));
		same("which say how many they are", true, $("status").textContent.startsWith("all: " + grouped(chart.node.length) + " spans"));
		same("all of the time of each is there, and gaps of a pixel", true, laid.every((us, lane) => us >= spans[lane] &&
			us <= spans[lane] + chart.spans[lane] * boxes.all / boxes.width));
		press("ArrowUp");
		press("Enter");
		press("ArrowRight");
		same("keys go from lane to lane", chart.lanes.length > 1 ? 1 : 0, state.boxes.heads.indexOf(state.focus));
		press("ArrowUp");
		same("a box says when it was", true, /^[0-9.]+ m?s from -?[0-9.]+ m?s on$/.test($("status").textContent.split("\n")[1]));
		press("Enter");
		const inChart = [state.boxes.name(state.zoom), state.boxes.start[state.zoom]].join(" ");
		same("Enter zooms in", true, state.zoom > 0 && state.view.wide === state.boxes.total(state.zoom));
		page.follow();
		same("a link leads there", inChart, [state.boxes.name(state.zoom), state.boxes.start[state.zoom]].join(" "));
		press("Home");
		$("shape").value = "graph";
		$("shape").dispatchEvent(new Event("change"));
		same("and back", "graph", state.shape);
		press("k");
		same("k: colours by file", "file", state.color);
		press("k");
		const svg = new DOMParser().parseFromString(page.pictureText(), "image/svg+xml");
		same("what is shown as a picture", true, !svg.querySelector("parsererror") && svg.querySelectorAll("rect").length > 3 &&
			Array.from(svg.querySelectorAll("text")).some(text => text.textContent.startsWith("all")));
		let copied = null;
		Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => copied = text }, configurable: true });
		state.hover = -1;
		press("c");
		same("c copies a name, whole", state.boxes.name(state.focus), copied);
		press("Home");
	}
	same("the caption is there", true, $("caption").children.length > 1);
	same("and one line of it as long as nobody asks for the rest", true, !$("about").open &&
		/^[0-9,]+ samples of .*; Lost: /.test($("summary").textContent) || raw.diff !== undefined);
	press("d");
	same("d unfolds it", true, $("about").open);
	press("d");

	/* Rooms of the page, wherever the mouse is: 200 places from edge to edge. */
	const rooms = () => ["title", "tools", "legend", "timeline", "main", "scroll", "picture", "status"].map(id => {
		const { x, y, width, height } = $(id).getBoundingClientRect();
		return [id, x, y, width, height].join(" ");
	}).concat(document.documentElement.scrollHeight, document.documentElement.scrollWidth, $("scroll").clientWidth).join("; ");
	const before = rooms(), seen = new Set();
	let covered_frames = 0, repeated = 0, cut = 0;
	for (let k = 0; k < 200; k++) {
		const room = $("picture").getBoundingClientRect();
		const at = { bubbles: true, clientX: room.left + (k * 37 % 200 + 0.5) / 200 * room.width,
			clientY: room.top + (k + 0.5) / 200 * room.height };
		$("picture").dispatchEvent(new MouseEvent("mousemove", at));
		seen.add(rooms());
		if (state.hover < 0)
			continue;
		const y = room.top + topOfLevel(state.view, state.boxes.level[state.hover]) - $("scroll").scrollTop;
		const tip = $("tip").getBoundingClientRect();
		covered_frames += !$("tip").hidden && tip.top < y + ROW && tip.bottom > y;
		repeated += !$("tip").hidden && $("tip").textContent.includes("samples, ");
		cut += $("status").scrollHeight > $("status").clientHeight;
	}
	same("200 hovers change no room of the page", before, [...seen].join(" | "));
	same("and the tip covers no frame that it is of", 0, covered_frames);
	same("nor repeats the footer", 0, repeated);
	same("and the footer has room for all of its lines", 0, cut);
	same("a page as large as its window", true, document.documentElement.scrollHeight <= window.innerHeight &&
		document.documentElement.scrollWidth <= window.innerWidth && $("scroll").scrollWidth <= $("scroll").clientWidth);
	same("and room for the picture", true, $("scroll").clientHeight >= 150);

	/* The root's edge: after zooming into the deepest box, and in less room. */
	const edge = () => state.icicle ? $("scroll").scrollTop < 1 :
		$("scroll").scrollTop + $("scroll").clientHeight >= $("scroll").scrollHeight - 1;
	let deep = 0;
	for (let i = 1; i < state.boxes.n; i++)
		deep = state.boxes.level[i] > state.boxes.level[deep] ? i : deep;
	while (state.focus !== deep && state.boxes.n > 1) {
		state.focus = deep;
		press("Enter");
	}
	const inSight = i => {
		const y = topOfLevel(state.view, state.boxes.level[i]) - $("scroll").scrollTop;
		return y >= 0 && y + ROW <= $("scroll").clientHeight + 1;
	};
	same("zoomed into the deepest box the root is in sight", true, edge() && inSight(0));
	same("and the box itself", true, inSight(deep));
	press("Home");

	/* Contrast of text on what it stands on: 4.5 and more. */
	const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgb = (...layers) => {
		for (const [color, alpha] of layers) {
			pen.globalAlpha = alpha;
			pen.fillStyle = color;
			pen.fillRect(0, 0, 1, 1);
		}
		return Array.from(pen.getImageData(0, 0, 1, 1).data).slice(0, 3);
	};
	const bright = color => color.map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 :
		((part + 0.055) / 1.055) ** 2.4).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
	const contrast = (a, b) => (Math.max(bright(a), bright(b)) + 0.05) / (Math.min(bright(a), bright(b)) + 0.05);
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	let least = Math.min(contrast(rgb([css("--ink"), 1]), rgb([css("--page"), 1])), contrast(rgb([css("--ink"), 1]),
		rgb([css("--panel"), 1])), contrast(rgb([css("--quiet"), 1]), rgb([css("--page"), 1])));
	const colors = Array.from({ length: state.boxes.n }, (_, i) => colorOf(state.boxes, i, "kind")).concat(
		Object.values(LOOKS).map(look => "rgb(" + look.color.map(part => part * 0.94).join(",") + ")"),
		Array.from({ length: 500 }, (_, i) => fileColor("lib" + i + ".so")));
	for (const color of new Set(colors)) {
		const dim = [[css("--page"), 1], [color, 0.3]];
		least = Math.min(least, contrast([0, 0, 0], rgb([color, 1])), contrast(rgb(...dim, [css("--ink"), 0.8]), rgb(...dim)));
	}
	same("contrast of all text is 4.5 and more", true, least >= 4.5 || least);

	/* The root's edge in a window of another size. */
	document.body.style.height = "70%";
	await new Promise(done => new ResizeObserver((_, observer) => (observer.disconnect(), setTimeout(done))).observe($("scroll")));
	same("in less room the root is in sight", true, edge() && inSight(0));
	document.body.style.height = "";
	same("nothing was fetched", 0, performance.getEntriesByType("resource").length);
	same("no strange elements", 0, document.querySelectorAll("img, b, iframe, a, object, embed, link").length);
	same("no hostile script ran", undefined, window.hostile);
	same("no error", "", errors.join());
	document.title = said.join("\n");
})();
