/* The model of a flame graph page by itself: node flamegraph_model.js FOLDER. Exit 1 with what is wrong. */
"use strict";

const assert = require("assert");
const fs = require("fs"), path = require("path"), vm = require("vm");

/* Scripts of a page know what those before them have. */
for (const name of ["model", "looks", "views", "draw"])
	vm.runInThisContext(fs.readFileSync(path.join(process.argv[2], "flamegraph_" + name + ".js"), "utf8"));
const { flameEvent, flameBoxes, flamePattern, flameSearch, flameTimes, shortenName, flameView, rowOfLevel, levelOfRow,
	FlamePainter, flameFunctions, flameGroups, hasGroups, flameInverted, flameSandwich, flameChart, nameNumbers, SLICE, SEVERAL } = vm.runInThisContext("({ flameEvent, " +
	"flameBoxes, flamePattern, flameSearch, flameTimes, shortenName, flameView, rowOfLevel, levelOfRow, FlamePainter, " +
	"flameFunctions, flameGroups, hasGroups, flameInverted, flameSandwich, flameChart, nameNumbers, SLICE, SEVERAL })");

/* Lays all out. slices: what was gone through in each of them but the last. */
const whole_of = (boxes, slices = []) => {
	const next = boxes.work.next.bind(boxes.work);
	boxes.work = { next: () => {
		const made = next();
		made.done || slices.push(made.value);
		return made;
	} };
	while (boxes.step())
		;
	return boxes;
};

/* all: main(a(b), c), sampled by x and y: a;b 5 and 2, a 1 and 0, c 2 and 4 */
const raw = {
	name: "e", samples: 14, period: 140, files: [""],
	frames: { name: ["main", "a", "b", "C<d>"], kind: [4, 4, 2, 0], file: [0, 0, 0, 0], source: [0, 0, 0, 0], line: [0, 0, 0, 0] },
	nodes: { depth: [1, 2, 3, 2], frame: [0, 1, 2, 3] },
	groups: ["x", "y"], lanes: ["CPU 0", "CPU 1"], lanes_are_cpus: true, buckets: 2, bucket_ns: 1, start_ns: 0,
	rows: { node: [2, 1, 0, 1, 0], group: [0, 0, 1, 0, 1], lane: [0, 0, 1, 0, 1], bucket: [0, 0, 1, 1, 1],
		samples: [1, 5, 2, 2, 4], period: [10, 50, 20, 20, 40] },
};
const ask = { merged: false, weight: "samples", from: 0, to: Infinity, lane: -1 };
const event = flameEvent(raw);
const shape = boxes => Array.from({ length: boxes.n }, (_, i) => boxes.name(i) + " " + boxes.start[i] + "-" + boxes.end[i] + " " +
	boxes.self[i]);

assert.deepStrictEqual(shape(flameBoxes(event, ask)), ["all 0-14 0", "x 0-8 0", "main 0-8 0", "a 0-6 1", "b 1-6 5", "C<d> 6-8 2",
	"y 8-14 0", "main 8-14 0", "a 8-10 0", "b 8-10 2", "C<d> 10-14 4"]);
const merged = flameBoxes(event, { ...ask, merged: true });
assert.deepStrictEqual(shape(merged), ["all 0-14 0", "main 0-14 0", "a 0-8 1", "b 1-8 7", "C<d> 8-14 6"]);
assert.deepStrictEqual(shape(flameBoxes(event, { ...ask, merged: true, weight: "period", from: 1, to: 1 })),
	["all 0-80 0", "main 0-80 0", "a 0-20 0", "b 0-20 20", "C<d> 20-80 60"]);
assert.deepStrictEqual(shape(flameBoxes(event, { ...ask, lane: 1, merged: true })), ["all 0-6 0", "main 0-6 0", "a 0-2 0", "b 0-2 2",
	"C<d> 2-6 4"]);
assert.deepStrictEqual(shape(flameBoxes(event, { ...ask, from: 7, to: 9 })), ["all 0-0 0"]);

const boxes = flameBoxes(event, ask);
assert.strictEqual(boxes.name(boxes.at(3, 1)), "a");
assert.strictEqual(boxes.at(4, 7), -1, "nothing lies there");
assert.strictEqual(boxes.find(boxes.path(9)), 9);
assert.strictEqual(merged.find([0, 1]), 2);
assert.strictEqual(merged.find([0, 99]), 1, "as far as it goes");
assert.strictEqual(boxes.beside(3, 1), 5);
assert.strictEqual(boxes.beside(10, 1), -1);
assert.strictEqual(boxes.child(4), -1);
/* What is nested counts once. */
const found = flameSearch(boxes, flamePattern("/^(main|a)$/"));
assert.deepStrictEqual([found.n, found.total, found.first], [4, 14, 2]);
assert.strictEqual(flameSearch(boxes, flamePattern("c<")).total, 6);
assert.strictEqual(flamePattern("/(/"), null);
assert.strictEqual(flamePattern(""), null);
assert.deepStrictEqual(Array.from(flameTimes(event).n), [6, 2, 0, 6]);

/* What a difference says of boxes: by their nodes; groups and the root have nothing to say. */
const compared = flameBoxes(flameEvent({ ...raw, diff: { before: [1000000, 400000, 300000, 600000], now: [1000000, 600000,
	300000, 400000], low: [0, 100000, -10000, -300000], high: [0, 300000, 10000, -100000], verdict: [2, 3, 2, 3] } }),
	{ ...ask, merged: true });
assert.deepStrictEqual(Array.from({ length: compared.n }, (_, i) => compared.look(i)), ["", "no certain change", "more",
	"no certain change", "less"]);
assert.deepStrictEqual(compared.diff(2), { look: "more", before: 0.4, now: 0.6, low: 0.1, high: 0.3 });
assert.strictEqual(compared.diff(0), null);
assert.strictEqual(merged.look(3), "kernel");

/* 100,000 stacks of 20 frames, all different. */
const many = { ...raw, groups: [""], lanes: ["CPU 0"], nodes: { depth: [], frame: [] }, rows: { node: [], group: null, lane: null,
	bucket: null, samples: [], period: 1 } };
many.frames = { name: [], kind: [], file: [], source: [], line: [] };
for (let i = 0; i < 1000; i++) {
	many.frames.name.push("f" + i);
	many.frames.kind.push(4);
}
for (let i = 0, last = 0; i < 100000; i++) {
	for (let d = i ? 11 : 1; d <= 20; d++) {
		many.nodes.depth.push(d);
		many.nodes.frame.push((i * 31 + d) % 1000);
	}
	many.rows.node.push(many.nodes.depth.length - last);
	last = many.nodes.depth.length;
	many.rows.samples.push(1);
}
const large = flameBoxes(flameEvent(many), ask);
assert.strictEqual(large.total(0), 100000);
assert.strictEqual(large.n, 1 + many.nodes.depth.length);
assert.strictEqual(flameSearch(large, flamePattern("f")).total, 100000);

/* Drawing costs what there are pixels, not boxes: of 100,000 stacks, and each box narrower than a pixel is merged. */
class CountingPen {
	constructor() {
		this.rects = [];
		this.texts = [];
	}
	measureText(text) {
		return { width: 7 * text.length };
	}
	fillRect(x, y, w, h) {
		this.rects.push({ x, y, w, h, color: this.fillStyle, alpha: this.globalAlpha });
	}
	fillText(text) {
		this.texts.push(text);
	}
	strokeRect() {}
	fillPattern() {}
}
const look = { by: "kind", colors: new Map(), ink: "ink", merged: "merged", found: null, focus: 0, label: () => "5.00 %" };
const whole = flameView(large, 0, 1000, 1000, false), pen = new CountingPen();
new FlamePainter(pen, large, whole, look).draw(0);
assert.ok(pen.rects.length < 1000 * whole.rows, pen.rects.length + " rectangles");
const merged_rects = pen.rects.filter(rect => rect.color === "merged");
assert.ok(merged_rects.length > 0 && merged_rects.length < 100, "neighbours are one: " + merged_rects.length);
/* A search dims what is merged, too, where nothing of it was found. */
const none = flameSearch(large, flamePattern("no such")), dimmed = new CountingPen();
new FlamePainter(dimmed, large, whole, { ...look, found: none }).draw(0);
assert.ok(dimmed.rects.filter(rect => rect.color === "merged").every(rect => rect.alpha === 0.3), "dim");
const some = new CountingPen();
new FlamePainter(some, large, whole, { ...look, found: flameSearch(large, flamePattern("f77")) }).draw(0);
assert.ok(some.rects.some(rect => rect.color === "ink") && some.rects.some(rect => rect.color === "merged"), "found among them");

/* Zoomed into a deep box its callers share a row, so that root and box are in sight. */
const deepest = large.levels[20][0], zoomed = flameView(large, deepest, 1000, 5 * 18, false);
assert.deepStrictEqual([0, 1, 18, 19, 20].map(level => rowOfLevel(zoomed, level)), [0, 1, 1, 2, 3]);
assert.deepStrictEqual([0, 1, 2, 3, 4].map(row => levelOfRow(zoomed, row)), [0, 18, 19, 20, -1]);
const inZoom = new CountingPen();
new FlamePainter(inZoom, large, zoomed, look).draw(0);
assert.ok(inZoom.texts.some(text => text.startsWith("\u2026 18 callers")), inZoom.texts.join());
const percentages = new CountingPen();
new FlamePainter(percentages, merged, flameView(merged, 0, 1000, 300, false), { ...look, colors: new Map() }).draw(0);
assert.ok(percentages.texts.includes("main  5.00 %"), percentages.texts.join());

/* Names in a width, as columns of the terminal shorten them. */
const long = "std::map<int, std::vector<char> >::find(int const&)";
assert.strictEqual(shortenName(long, 60), long);
assert.strictEqual(shortenName(long, 50), "std::map<int, std::vector<\u2026> >::find(int const&)");
assert.strictEqual(shortenName(long, 30), "std::map<\u2026>::find(int const&)");
assert.strictEqual(shortenName(long, 20), "std::map<\u2026>::find(\u2026)");
assert.strictEqual(shortenName(long, 9), "std:\u2026d(\u2026)");
assert.strictEqual(shortenName("operator<< <int>(std::ostream&)", 20), "operator<< <\u2026>(\u2026)");
assert.strictEqual(shortenName("(anonymous namespace)::f(int, int)", 28), "(anonymous namespace)::f(\u2026)");
assert.strictEqual(Array.from(shortenName("\u{1f600}".repeat(50), 10)).length <= 10, true);
assert.strictEqual(shortenName("x".repeat(70000), 11), "xxxxx\u2026xxxxx");

/* main(f(g(f(h)))) 3, main(g) 2, k(g) 5: recursion counts once, callers first, and one between both. */
const nested = flameEvent({ ...raw, groups: [""], lanes: [""], buckets: 1, files: ["", "lib"],
	frames: { name: ["main", "f", "g", "h", "k"], kind: [4, 4, 4, 4, 4], file: [1, 1, 1, 1, 1], source: [0, 0, 0, 0, 0],
		line: [0, 0, 0, 0, 0] },
	nodes: { depth: [1, 2, 3, 4, 5, 2, 1, 2], frame: [0, 1, 2, 1, 3, 2, 4, 2] },
	rows: { node: [5, 1, 2], group: null, lane: null, bucket: null, samples: [3, 2, 5], period: 10 } });
const byName = Object.fromEntries(flameFunctions(nested, ask).map(row => [row.name, [row.self, row.total, row.samples].join(" ")]));
assert.deepStrictEqual(byName, { main: "0 5 5", f: "0 3 3", g: "7 10 10", h: "3 3 3", k: "0 5 5" });
assert.strictEqual(flameFunctions(nested, { ...ask, weight: "period" }).find(row => row.name === "g").self, 70);
assert.strictEqual(hasGroups(nested), false);
const grouped_rows = (asked, event = flameEvent(structuredClone(raw))) => flameGroups(event, asked).map(row =>
	[row.name, row.number, row.self, row.total, row.samples].join(" "));
assert.strictEqual(hasGroups(flameEvent(structuredClone(raw))), true);
assert.deepStrictEqual(grouped_rows(ask), ["x -1 8 8 8", "y -2 6 6 6"]);
assert.deepStrictEqual(grouped_rows({ ...ask, weight: "period" }), ["x -1 80 80 8", "y -2 60 60 6"]);
const inverted = whole_of(flameInverted(nested, ask));
assert.deepStrictEqual(Array.from({ length: inverted.n }, (_, i) => [inverted.level[i], inverted.name(i), inverted.start[i],
	inverted.end[i]].join(" ")), ["0 all 0 10", "1 g 0 7", "2 k 0 5", "2 main 5 7", "1 h 7 10", "2 f 7 10", "3 g 7 10", "4 f 7 10",
	"5 main 7 10"]);
const sandwich = whole_of(flameSandwich(nested, ask, nameNumbers(nested).text.indexOf("g")));
assert.deepStrictEqual(Array.from({ length: sandwich.n }, (_, i) => [sandwich.level[i] - sandwich.middle, sandwich.name(i),
	sandwich.start[i], sandwich.end[i]].join(" ")), ["0 g 0 10", "1 f 0 3", "2 h 0 3", "-1 k 0 5", "-1 f 5 8", "-2 main 5 8",
	"-1 main 8 10"]);
assert.strictEqual(sandwich.all, 10);
const recursive = whole_of(flameSandwich(nested, ask, nameNumbers(nested).text.indexOf("f")));
assert.deepStrictEqual([recursive.total(0), recursive.name(2), recursive.total(2)], [3, "f", 3], "by the outermost");
assert.deepStrictEqual([sandwich.onLevel(0, 1), sandwich.onLevel(0, -1), sandwich.onLevel(4, -1), sandwich.onLevel(4, 1)], [1, 3, 5, 0]);
assert.strictEqual(sandwich.find(sandwich.path(5)), 5);
const callersOnly = flameView(sandwich, 4, 1000, 300, true), calleesOnly = flameView(sandwich, 1, 1000, 300, true);
assert.deepStrictEqual([callersOnly.firstLevel, callersOnly.lastLevel], [sandwich.middle - 2, sandwich.middle], "callers alone are to scale");
assert.deepStrictEqual([calleesOnly.firstLevel, calleesOnly.lastLevel], [sandwich.middle, sandwich.middle + 2]);

/*
 * 100,000 stacks: in slices, each of at most SLICE nodes and the set that it ends with, and no more boxes than pixels. By
 * the work that is done, not by the time that it takes.
 */
const tangled = { ...many, nodes: { depth: many.nodes.depth, frame: many.nodes.depth.map((d, node) => {
	const mixed = Math.imul(node + 1, 0x9e3779b1), part = ((mixed ^ mixed >>> 15) >>> 0) % 1000;
	return Math.floor(part * part * part / 1e6); /* a few functions are in most stacks */
}) } };
const many_event = flameEvent(tangled), PIXELS = 1000;
for (const [what, make] of [["inverted", path => flameInverted(many_event, ask, path, PIXELS)],
	["sandwich", path => flameSandwich(many_event, ask, 0, path, PIXELS)]]) {
	const slices = [], made = whole_of(make([]), slices);
	assert.strictEqual(made.all, 100000);
	assert.ok(slices.every(seen => seen <= SLICE + many_event.depth.length), what + ": " + slices.join());
	assert.ok(slices.length > 0 && slices.length < 10, what + ": " + slices.length + " slices");
	made.levels.forEach((row, level) => assert.ok(row.length <= 2 * PIXELS, what + ": " + row.length + " boxes on level " + level));
	assert.ok(Array.from(made.frame.slice(0, made.n)).includes(SEVERAL), what + ": narrow ones are one");
	/* A zoom opens what was too narrow, and is found again. */
	const deep = made.levels.flat().findLast(i => made.frame[i] !== SEVERAL), path = made.path(deep);
	const zoomed = whole_of(make(path));
	assert.deepStrictEqual(zoomed.path(zoomed.find(path)), path, what);
	assert.strictEqual(zoomed.total(zoomed.find(path)), made.total(deep), what);
	const at = zoomed.find(path), way = [];
	for (let i = at; i >= 0; i = zoomed.up[i])
		way.push(i);
	for (let i = 1; i < zoomed.n; i++)
		assert.ok(way.includes(zoomed.up[i]) || (zoomed.start[i] >= zoomed.start[at] && zoomed.end[i] <= zoomed.end[at]),
			what + ": nothing opens beside the way to what is zoomed into");
	/* The weight of what is found is that of all, shown or not. */
	const of_all = flameSearch(whole_of(what === "inverted" ? flameInverted(many_event, ask) :
		flameSandwich(many_event, ask, 0)), flamePattern("f77")).total;
	assert.strictEqual(flameSearch(made, flamePattern("f77")).total, of_all, what);
}
/* An inverted tree of few pixels has the boxes of the whole one that are as wide as a pixel. */
const every = whole_of(flameInverted(nested, ask)), coarse = whole_of(flameInverted(nested, ask, [], 3));
assert.deepStrictEqual(Array.from({ length: coarse.n }, (_, i) => [coarse.level[i], coarse.name(i), coarse.start[i],
	coarse.end[i]].join(" ")), ["0 all 0 10", "1 g 0 7", "2 k 0 5", "2 several, each too narrow to be shown 5 7",
	"1 several, each too narrow to be shown 7 10"]);
assert.strictEqual(flameSearch(every, flamePattern("h")).total, flameSearch(coarse, flamePattern("h")).total);
assert.deepStrictEqual([flameSearch(coarse, flamePattern("main")).n, flameSearch(coarse, flamePattern("f")).n], [1, 0]);

/* ---- flame chart ---- */

/* Thread 7: main a b for 4 us and 2 us, of which main a c 1 us; a gap; main a b; C. Thread 8: main b, then several. */
const timed = flameEvent({ ...raw, bucket_ns: 5000, chart: { lanes: ["7 x", "8 y"], left_out: 0, spans: [5, 2], gap: [-1, 0, 0, 3, 0, 2, 0],
	length: [4, 1, 2, 1, 5, 6, 2], node: [3, -1, 1, 0, 1, 3, -2], several: [0, 0, 0, 0, 0, 0, 1] } });
const rows_of = boxes => Array.from({ length: boxes.n }, (_, i) => [boxes.level[i], boxes.name(i), boxes.start[i],
	boxes.end[i]].join(" "));
const chart = whole_of(flameChart(timed, ask)), SEVERAL_NAME = "several, each too narrow to be shown";
assert.deepStrictEqual(rows_of(chart), ["0 all -1 15", "1 7 x -1 15", "2 main -1 6", "3 a -1 6", "4 b -1 3", "4 b 4 6", "2 main 9 15",
	"3 a 9 10", "4 b 9 10", "3 C<d> 10 15", "5 8 y -1 15", "6 main 2 10", "7 a 2 8", "8 b 2 8", "7 " + SEVERAL_NAME + " 8 10"]);
for (let i = 0; i < chart.n; i++)
	assert.strictEqual(chart.find(chart.path(i)), i);
assert.deepStrictEqual([chart.beside(1, 1), chart.beside(10, 1), chart.beside(4, 1), chart.find([9, 9, 9, 9]), chart.find([0, 7, 0, 1])],
	[10, -1, 5, 0, 4]);
assert.strictEqual(flameSearch(chart, flamePattern("b")).total, 4 + 2 + 1 + 6);
/* Of pixels of 4 us: neighbours are one, with what they have in common; a zoom tells them apart again. */
assert.deepStrictEqual(rows_of(whole_of(flameChart(timed, ask, [], 4))).slice(0, 6), ["0 all -1 15", "1 7 x -1 15", "2 main -1 6",
	"3 a -1 6", "4 b -1 3", "4 " + SEVERAL_NAME + " 3 6"]);
assert.deepStrictEqual(rows_of(whole_of(flameChart(timed, ask, [0, 2, -1, 6], 4))).slice(2, 6), rows_of(chart).slice(2, 6));
/* One box of few pixels is two of more, with a gap in its middle: the larger one is found, and is found again. */
const gapped = whole_of(flameChart(timed, ask, [], 1)), whole_main = gapped.levels[2].find(i => gapped.total(i) === 16);
const parted = whole_of(flameChart(timed, ask, gapped.path(whole_main), 100)), larger = parted.find(gapped.path(whole_main));
assert.deepStrictEqual([parted.name(larger), parted.start[larger], parted.path(larger)], ["main", -1, gapped.path(whole_main)]);
/* A bucket of the strip, and a lane of it that is a thread. */
assert.deepStrictEqual(rows_of(whole_of(flameChart(timed, { ...ask, from: 1, to: 1 }))), ["0 all 5 10", "1 7 x 5 10", "2 main 5 6", "3 a 5 6",
	"4 b 5 6", "2 main 9 10", "3 a 9 10", "4 b 9 10", "5 8 y 5 10", "6 main 5 10", "7 a 5 8", "8 b 5 8", "7 " + SEVERAL_NAME + " 8 10"]);
const of_threads = flameEvent({ ...timed.raw, lanes: ["7 x", "8 y"], lanes_are_cpus: false });
assert.deepStrictEqual(rows_of(whole_of(flameChart(of_threads, { ...ask, lane: 1 }))).slice(0, 2), ["0 all -1 15", "1 8 y -1 15"]);

/* 100,000 spans of 20 frames in a thread: as many boxes on a level as there are pixels, in few slices. */
const busy = flameEvent({ ...many, chart: { lanes: ["1 x"], left_out: 0, spans: [100000], gap: new Array(100000).fill(0),
	length: new Array(100000).fill(10), node: many.rows.node, several: null } });
const slices = [], crowded = whole_of(flameChart(busy, ask, [], PIXELS), slices);
crowded.levels.forEach((row, level) => assert.ok(row.length <= 2 * PIXELS, row.length + " boxes on level " + level));
assert.ok(slices.length > 0 && slices.length < 20 && slices.every(seen => seen < SLICE + 100), slices.join());
assert.strictEqual(crowded.all, 1000000);
