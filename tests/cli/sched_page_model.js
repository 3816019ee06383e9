/* The model of a page of pstat sched by itself: node sched_page_model.js FOLDER. Exit 1 with what is wrong. */
"use strict";

const assert = require("assert");
const fs = require("fs"), path = require("path"), vm = require("vm");

for (const name of ["model", "draw"])
	vm.runInThisContext(fs.readFileSync(path.join(process.argv[2], "page_" + name + ".js"), "utf8"));
const { SchedModel, SchedPainter, Column, PackedNumbers, duration, roundDuration, axisStep, busyColumns, GUTTER } =
	vm.runInThisContext("({ SchedModel, SchedPainter, Column, PackedNumbers, duration, roundDuration, axisStep, " +
		"busyColumns, GUTTER })");

const pack = numbers => {
	const bytes = [];
	for (let number of numbers) {
		for (; number > 127; number = Math.floor(number / 128))
			bytes.push(number % 128 + 128);
		bytes.push(number);
	}
	return Buffer.from(bytes).toString("base64");
};

/* Numbers of any size come back. */
for (const numbers of [[0], [127, 128, 16383, 16384], [2 ** 31, 2 ** 32, 2 ** 52 + 1]]) {
	const packed = new PackedNumbers(pack(numbers));
	assert.deepStrictEqual(numbers.map(() => packed.next()), numbers);
}

/*
 * us:     0    10   20   30   40   50   60   70   80   90   100
 * CPU 0   a.........|    |b........|a.......................    a is woken by b at 50
 * CPU 1   ????? (last c)...|b|                |c.|              b moves from CPU 1; what c did is lost
 */
const US = 1000, S = 0, R = 1;
const runs = [ /* end, length, CPU, task, how, delay, waker */
	[20, 20, 0, 1, 0 | S << 3, -1, -1],
	[25, 25, 1, 3, 2 | S << 3, -1, -1],
	[30, 5, 1, 2, 0 | R << 3, -1, -1],
	[50, 15, 0, 2, 1 | S << 3, 5, -1],
	[60, 5, 1, 3, 0 | S << 3, -1, -1],
	[100, 45, 0, 1, 1 | 4 | R << 3, 5, 2],
];
let last = 0;
const packedRuns = [].concat(...runs.map(([end, length, cpu, task, how, delay, waker]) => {
	const step = end - last;
	last = end;
	return [step * US, length * US, cpu, task, how, delay < 0 ? 0 : delay * US + 1, waker + 1];
}));
const data = {
	runs: pack(packedRuns), n_runs: runs.length, states: "SR", start_ns: 5e9, end_ns: 5e9 + 100 * US, n_cpus: 3,
	tasks: { comm: ["<idle>", "a", "<b>", "c"], tid: [0, 11, 12, 13], pid: [0, 11, 10, -1], ready: [null, null, null, 80 * US] },
	lost: [], title: "", caption: [""],
};
const model = new SchedModel(data);

assert.deepStrictEqual(Array.from(model.begin), [0, 0, 25, 35, 55, 55].map(us => us * US));
assert.strictEqual(model.byCpu.n(0), 3);
assert.strictEqual(model.byCpu.n(2), 0);
assert.deepStrictEqual([0, 1].map(i => model.byTask.run(2, i)), [2, 3]);
assert.deepStrictEqual(Array.from(model.before), [-1, -1, -1, 2, 1, 0]);
assert.deepStrictEqual(Array.from(model.runTime), [0, 65 * US, 20 * US, 5 * US], "what began unseen has no time");
assert.deepStrictEqual(model.tasks("run"), [1, 2, 3]);
assert.deepStrictEqual(model.tasks("name"), [2, 1, 3]);
assert.deepStrictEqual(model.tasks("wait"), [1, 2, 3]);
assert.strictEqual(model.name(2), "<b>[12/10]");
assert.strictEqual(model.runAt(model.byCpu, 0, 30 * US), -1, "idle");
assert.strictEqual(model.runAt(model.byCpu, 0, 35 * US), 3);
assert.strictEqual(model.runAt(model.byCpu, 0, 50 * US), -1, "a run ends before its end");
assert.strictEqual(model.firstAfter(model.byCpu, 0, 100 * US), 3);
assert.strictEqual(model.wakingRun(5), 3, "woken at the end of that run");
assert.strictEqual(model.wakingRun(3), -1);
assert.deepStrictEqual(model.tell(3), ["<b>[12/10] ran 15.00 us on CPU 0, from 5.000035",
	"Before: was preempted, waited 5.000 us for a CPU, came from CPU 1", "Then: slept (S)"]);
assert.deepStrictEqual(model.tell(5), ["a[11] ran 45.00 us on CPU 0, from 5.000055",
	"Before: slept for 30.00 us, was woken by <b>[12/10], waited 5.000 us for a CPU", "Still ran at the end of the recording"]);
assert.deepStrictEqual(model.tell(4), ["c[13] ran 5.000 us on CPU 1, from 5.000055", "Then: slept (S)"]);
assert.deepStrictEqual(model.tell(1), ["not known what ran on CPU 1 from 5.000000 to 5.000025, at last c[13]"]);
assert.deepStrictEqual(Array.from(model.search("A[1").hit), [0, 1, 0, 0]);
assert.deepStrictEqual(Array.from(model.search("/^(a|c)/").hit), [0, 1, 0, 1]);
assert.strictEqual(model.search(""), null);
assert.throws(() => model.search("/(/"));
assert.strictEqual(model.search("<b>").runs, 2);
const hit = model.search("a[").hit;
assert.strictEqual(model.nextFound(hit, -1, false), 0);
assert.strictEqual(model.nextFound(hit, 0, false), 5);
assert.strictEqual(model.nextFound(hit, 55 * US, true), 0);
assert.strictEqual(model.nextFound(hit, 55 * US, false), -1);

assert.deepStrictEqual([0, 999, 1000, 99999, 1234567, 1e9, 123456789012].map(duration),
	["0 ns", "999 ns", "1.000 us", "100.00 us", "1.235 ms", "1.000 s", "123.5 s"]);
assert.deepStrictEqual([500, 1e6, 1.5e6, 20e6, 1.05e9].map(roundDuration), ["500 ns", "1 ms", "1.5 ms", "20 ms", "1.05 s"]);
assert.deepStrictEqual([axisStep(1000, 10), axisStep(1001, 10), axisStep(3e9, 10)], [100, 200, 5e8]);

/* Nothing was recorded. */
const empty = new SchedModel({ ...data, runs: "", n_runs: 0, end_ns: 5e9, n_cpus: 0, tasks: { comm: [], tid: [], pid: [], ready: [] } });
assert.deepStrictEqual([empty.tasks("run"), empty.search("x").runs, empty.nextFound([], 0, false)], [[], 0, -1]);
assert.deepStrictEqual(Array.from(busyColumns(empty, 2)), [0, 0]);

/* Of 3 CPUs one runs, then none, ... */
assert.deepStrictEqual(Array.from(busyColumns(model, 4), part => Math.round(part * 300)), [80, 80, 100, 100]);

/* A pen that keeps what it fills: without a place to the left of the times, and each ns in one column of pixels. */
class Pen {
	constructor() {
		this.filled = [];
	}

	fillRect(x, y, width, height) {
		this.filled.push({ x, y, width, height, color: this.fillStyle });
	}

	measureText(text) {
		return { width: 7 * text.length };
	}

	fillText() {}
	save() {}
	restore() {}
	beginPath() {}
	rect() {}
	clip() {}
	moveTo() {}
	lineTo() {}
	stroke() {}
}
const look = { hit: null, selected: 3, page: "page", ink: "ink", quiet: "quiet", line: "line", faint: "faint", ready: "ready",
	blocked: "blocked", asleep: "asleep", select: "select" };
const painted = (width, paint, from = 0, to = model.length) => {
	const pen = new Pen(), painter = new SchedPainter(pen, model, from, to, GUTTER + width, look);
	paint(painter);
	return { painter, filled: pen.filled };
};
const area = (filled, color) => filled.filter(one => !color || one.color === color).reduce((sum, one) => sum + one.width * one.height, 0);
const near = (a, b) => assert(Math.abs(a - b) < 0.5, a + " is not " + b);

/* Boxes as wide as the times; narrow ones become parts of columns with the same area. */
for (const width of [1000, 100, 10, 3]) {
	const { filled, painter } = painted(width, one => one.cpuRow(0, 0, 10));
	const shades = filled.filter(one => !one.color.startsWith("rgba"));
	near(area(shades), 10 * width * 0.8);
	assert(shades.every(one => one.x >= GUTTER && one.x + one.width <= GUTTER + width + 1e-6), "inside");
	near(painter.selected[1] - painter.selected[0], width * 0.15);
}
/* A part of the time: what reaches beyond it is cut. */
near(area(painted(100, one => one.cpuRow(0, 0, 10), 40 * US, 60 * US).filled.filter(one => !one.color.startsWith("rgba"))), 10 * 75);
/* c was woken at 80 and still waits; b sleeps from 50 on: a line of 1 pixel. */
near(area(painted(1000, one => one.taskRow(3, 0, 20)).filled, "ready"), 200 * 10);
near(area(painted(1000, one => one.taskRow(3, 0, 20)).filled, "asleep"), 200);
near(area(painted(1000, one => one.taskRow(2, 0, 20)).filled, "asleep"), 500);
near(area(painted(1000, one => one.taskRow(1, 0, 20)).filled, "asleep"), 300);
near(area(painted(1000, one => one.taskRow(1, 0, 20)).filled, "ready"), 50 * 10);
/* Where the last run of a task ended is not told from where it began: b of task 2 was preempted, and waited. */
near(area(painted(1000, one => one.taskRow(2, 0, 20)).filled, "ready"), 50 * 10);
