/*
 * What a user does with a flame graph, in a browser without a screen: keys, mouse, search, zoom, a span of time. Writes
 * what it saw into the document's title, a line each, which the test compares.
 */
"use strict";

(() => {
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
	same("and the total of what was found is told", true, /^[0-9,]+ samples, [0-9.]+ %, in [0-9,]+ places$/.test($("found").textContent));
	press("n");
	same("n goes to what was found", 1, state.found.hit[state.focus]);
	type("/^no such function$/");
	same("nothing is found", "0 samples, 0.00 %, in 0 places", $("found").textContent);
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
	same("a box says what it is", state.boxes.name(state.hover), $("tip").textContent.split("\n")[0].replace(/ \([a-z ]+\)$/, ""));
	same("with samples and percent", true, /[0-9,]+ samples, [0-9.]+ % of all; itself/.test($("tip").textContent));
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
		same("a difference tells more from less by letters, too", true, /more than before \[\+\].*less \[-\]/.test($("legend").textContent));
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
	same("the caption is there", true, $("caption").children.length > 1);
	same("nothing was fetched", 0, performance.getEntriesByType("resource").length);
	same("no strange elements", 0, document.querySelectorAll("img, b, iframe, a, object, embed, link").length);
	same("no hostile script ran", undefined, window.hostile);
	same("no error", "", errors.join());
	document.title = said.join("\n");
})();
