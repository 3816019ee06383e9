/*
 * How runs are drawn: those that are wide enough are boxes, and of the others each column of pixels shows what part of
 * its time which task ran (a row of a CPU), or what the task did (a row of a task).
 */
"use strict";

const GUTTER = 210, AXIS = 22, CPU_ROW = 34, TASK_ROW = 20, BOX = 2, TEXT = 34, STRIP = 44;
const FONT = "12px system-ui, sans-serif", SMALL = "11px system-ui, sans-serif";

/* Neighbours in rank have far hues; all are light enough for black text. */
function taskColor(rank, faded) {
	const hue = (rank * 137.508 + 205) % 360, light = 66 + rank % 3 * 5;
	return "hsl(" + hue.toFixed(1) + "," + (faded ? 8 : 62) + "%," + light + "%)";
}

/* A text that is cut to fit, or "" where next to nothing of it would. */
function fitText(pen, text, room) {
	if (pen.measureText(text).width <= room)
		return text;
	let low = 0, high = Math.min(text.length, 200);
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (pen.measureText(text.slice(0, middle) + "\u2026").width <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 1 ? text.slice(0, low) + "\u2026" : "";
}

/* What ran is not known: crosses, which no other box has. */
function crossOut(pen, x0, x1, y, height, color) {
	pen.save();
	pen.beginPath();
	pen.rect(x0, y, Math.max(1, x1 - x0), height);
	pen.clip();
	pen.strokeStyle = color;
	pen.lineWidth = 0.5;
	pen.beginPath();
	for (let x = Math.floor(x0 / 6) * 6 - height; x < x1; x += 6) {
		pen.moveTo(x, y + height);
		pen.lineTo(x + height, y);
		pen.moveTo(x, y);
		pen.lineTo(x + height, y + height);
	}
	pen.stroke();
	pen.restore();
}

/* Shares of one column of pixels: by task, or by what a task did. */
class Column {
	constructor(nKeys) {
		this.share = new Float64Array(nKeys);
		this.keys = [];
		this.x = -1;
	}

	add(key, share) {
		if (!this.share[key])
			this.keys.push(key);
		this.share[key] += share;
	}

	/* Draws it and forgets it: shares one upon another, the lowest key at the bottom. */
	flush(pen, y, height, color) {
		let bottom = y + height;
		this.keys.sort((a, b) => a - b);
		for (const key of this.keys) {
			const part = Math.min(1, this.share[key]) * height;
			pen.fillStyle = color(key);
			pen.fillRect(this.x, bottom - part, 1, part);
			bottom -= part;
			this.share[key] = 0;
		}
		/* The least that ran is seen. */
		if (this.keys.length && y + height - bottom < 1)
			pen.fillRect(this.x, y + height - 1, 1, 1);
		this.keys.length = 0;
	}
}

const RAN = 0, READY = 1, BLOCKED = 2, ASLEEP = 3;

class SchedPainter {
	/* look: colours by name, hit: flags of tasks that were found or null, selected: a run or -1. */
	constructor(pen, model, from, to, width, look) {
		Object.assign(this, { pen, model, from, to, width, look });
		this.scale = (width - GUTTER) / (to - from);
		this.byTask = new Column(model.nTasks);
		this.byKind = new Column(3);
	}

	x(time) {
		return GUTTER + (time - this.from) * this.scale;
	}

	fades(task) {
		return this.look.hit && !this.look.hit[task];
	}

	color(task) {
		return taskColor(this.model.rankOf[task], this.fades(task));
	}

	/* Spreads a short time over the columns of pixels that it lies in. */
	spread(column, key, x0, x1, flush) {
		for (let at = Math.floor(x0); at < x1; at++) {
			if (at !== column.x) {
				flush();
				column.x = at;
			}
			column.add(key, Math.min(x1, at + 1) - Math.max(x0, at));
		}
	}

	/* Clips to where times are. */
	clip(x0, x1) {
		return [Math.max(GUTTER, x0), Math.min(this.width, x1)];
	}

	box(x0, x1, y, height, task, name) {
		const pen = this.pen;
		[x0, x1] = this.clip(x0, x1);
		pen.fillStyle = this.color(task);
		pen.fillRect(x0, y, x1 - x0, height);
		if (x1 - x0 > 5) {
			pen.fillStyle = "rgba(0, 0, 0, 0.28)";
			pen.fillRect(x1 - 1, y, 1, height);
		}
		if (x1 - x0 < TEXT)
			return;
		pen.fillStyle = this.fades(task) ? "#444444" : "#000000";
		pen.fillText(fitText(pen, name(), x1 - x0 - 8), x0 + 4, y + height / 2 + 0.5);
	}

	unknown(x0, x1, y, height) {
		[x0, x1] = this.clip(x0, x1);
		crossOut(this.pen, x0, x1, y, height, this.look.quiet);
	}

	frame(x0, x1, y, height) {
		const pen = this.pen;
		[x0, x1] = this.clip(x0, x1);
		for (const [color, width] of this.strokes()) {
			pen.strokeStyle = color;
			pen.lineWidth = width;
			pen.strokeRect(x0 - 1, y - 1, Math.max(3, x1 - x0 + 2), height + 2);
		}
	}

	/* A line that is seen on any color: upon a wider one. */
	strokes() {
		return [[this.look.page, 4.5], [this.look.select, 2.5]];
	}

	/* ---- rows ---- */

	cpuRow(cpu, y, height) {
		const { model, byTask } = this, group = model.byCpu, n = group.n(cpu);
		const flush = () => byTask.flush(this.pen, y, height, key => this.color(key));
		for (let i = model.firstAfter(group, cpu, this.from); i < n; i++) {
			const run = group.run(cpu, i), x0 = this.x(model.begin[run]), x1 = this.x(model.end[run]);
			if (model.begin[run] >= this.to)
				break;
			if (model.how[run] & BEGAN_UNSEEN) {
				this.unknown(x0, x1, y, height);
			} else if (x1 - x0 < BOX) {
				this.spread(byTask, model.task[run], x0, x1, flush);
			} else {
				flush();
				this.box(x0, x1, y, height, model.task[run], () => model.name(model.task[run]));
			}
			if (run === this.look.selected)
				this.selected = [x0, x1, y, height];
		}
		flush();
	}

	/* What a task does between two runs, or behind its last one; state "": it is not known. */
	away(begin, end, ready, state, y, height, flush) {
		const wait = Math.max(begin, Math.min(end, ready));
		if (state)
			this.rest(begin, wait, state === "D" ? BLOCKED : ASLEEP, y, height, flush);
		this.rest(wait, end, READY, y, height, flush);
	}

	rest(from, to, kind, y, height, flush) {
		const pen = this.pen, look = this.look, x0 = Math.max(GUTTER, this.x(from)), x1 = Math.min(this.width, this.x(to));
		if (x1 <= x0)
			return;
		if (x1 - x0 < BOX) {
			if (kind !== ASLEEP)
				this.spread(this.byKind, kind, x0, x1, flush);
			return;
		}
		flush();
		const part = kind === READY ? 0.5 : kind === BLOCKED ? 0.3 : 0;
		pen.fillStyle = kind === READY ? look.ready : kind === BLOCKED ? look.blocked : look.asleep;
		pen.fillRect(x0, y + height / 2 - Math.max(0.5, height * part / 2), x1 - x0, Math.max(1, height * part));
	}

	taskRow(task, y, height) {
		const { model, byKind } = this, group = model.byTask, n = group.n(task);
		const color = kind => kind === RAN ? this.color(task) : kind === READY ? this.look.ready : this.look.blocked;
		const flush = () => byKind.flush(this.pen, y, height, color);
		for (let i = model.firstAfter(group, task, this.from); i < n; i++) {
			const run = group.run(task, i), begin = model.begin[run], before = model.before[run];
			const known = (model.how[run] & WAIT_KNOWN) && before >= 0;
			const ready = model.delay[run] >= 0 ? begin - model.delay[run] : begin, since = known ? model.end[before] : ready;
			const x0 = this.x(begin), x1 = this.x(model.end[run]);
			if (since >= this.to)
				break;
			this.away(since, begin, ready, known ? model.state(before) : "", y, height, flush);
			if (begin >= this.to)
				break;
			if (model.how[run] & BEGAN_UNSEEN) {
				this.unknown(x0, x1, y, height);
			} else if (x1 - x0 < BOX) {
				this.spread(byKind, RAN, x0, x1, flush);
			} else {
				flush();
				this.box(x0, x1, y, height, task, () => "CPU " + model.cpu[run]);
			}
			if (run === this.look.selected)
				this.selected = [x0, x1, y, height];
		}
		this.afterLast(task, y, height, flush);
		flush();
	}

	/* A task that has not ended waits, sleeps or is blocked up to the end, or runs until then. */
	afterLast(task, y, height, flush) {
		const { model } = this, run = model.byTask.run(task, model.byTask.n(task) - 1), state = model.state(run);
		if (state === "X" || state === "Z" || model.end[run] >= this.to)
			return;
		const ready = model.data.tasks.ready[task] ?? (state === "R" ? model.end[run] : model.length);
		this.away(model.end[run], model.length, ready, state, y, height, flush);
	}

	/* ---- around the rows ---- */

	/* Marks are a round time apart, and told from a rounder one before the first of them, which stands at the left. */
	marks() {
		const step = axisStep(this.to - this.from, (this.width - GUTTER) / 110);
		return { step, first: Math.ceil(this.from / step) * step, base: Math.floor(this.from / (10 * step)) * 10 * step };
	}

	axis() {
		const { pen, model, look } = this, { step, first, base } = this.marks();
		pen.fillStyle = look.page;
		pen.fillRect(0, 0, this.width, AXIS);
		pen.font = SMALL;
		pen.fillStyle = look.quiet;
		pen.fillText(model.moment(base) + " s and", 6, AXIS / 2);
		for (let mark = first; mark < this.to; mark += step) {
			const x = Math.round(this.x(mark));
			pen.fillStyle = look.line;
			pen.fillRect(x, AXIS - 6, 1, 6);
			pen.fillStyle = look.quiet;
			if (x + 60 < this.width)
				pen.fillText("+" + roundDuration(mark - base), x + 4, AXIS / 2);
		}
		pen.fillStyle = look.line;
		pen.fillRect(0, AXIS - 1, this.width, 1);
	}

	grid(height) {
		const { pen, look } = this, { step, first } = this.marks();
		pen.fillStyle = look.faint;
		for (let mark = first; mark < this.to; mark += step)
			pen.fillRect(Math.round(this.x(mark)), AXIS, 1, height - AXIS);
	}

	label(text, more, y, height, bold) {
		const { pen, look } = this;
		pen.fillStyle = look.page;
		pen.fillRect(0, y - 1, GUTTER - 1, height + 2);
		pen.font = SMALL;
		const wide = pen.measureText(more).width;
		pen.fillStyle = look.quiet;
		pen.fillText(more, GUTTER - 8 - wide, y + height / 2 + 0.5);
		pen.font = bold ? "bold " + FONT : FONT;
		pen.fillStyle = look.ink;
		pen.fillText(fitText(pen, text, GUTTER - 24 - wide), 6, y + height / 2 + 0.5);
		pen.font = SMALL;
	}

	/* From the run that woke the selected one to where it could run, and on to its beginning. */
	arrow(run, yOf) {
		const { pen, model } = this, waking = model.wakingRun(run);
		if (waking < 0)
			return;
		const woken = model.begin[run] - Math.max(0, model.delay[run]);
		const x0 = this.x(woken), x1 = this.x(model.begin[run]), y0 = yOf(waking), y1 = yOf(run);
		if (y0 === null || y1 === null || x1 < GUTTER || x0 > this.width)
			return;
		pen.save();
		pen.beginPath();
		pen.rect(GUTTER, AXIS, this.width - GUTTER, 1e5);
		pen.clip();
		for (const [color, width] of this.strokes()) {
			pen.strokeStyle = pen.fillStyle = color;
			pen.lineWidth = width;
			pen.beginPath();
			pen.moveTo(x0, y0);
			pen.bezierCurveTo(x0, (y0 + y1) / 2, x0, y1, x1, y1);
			pen.stroke();
			pen.beginPath();
			pen.arc(x0, y0, 1.5 + width, 0, 7);
			pen.fill();
		}
		pen.restore();
	}
}

/* Busy CPUs over the whole time, the part of each column of pixels that all of them ran something. */
function busyColumns(model, width) {
	const columns = new Float64Array(width), scale = width / model.length;
	for (let i = 0; i < model.n; i++) {
		if (model.how[i] & BEGAN_UNSEEN)
			continue;
		const x0 = Math.max(0, model.begin[i] * scale), x1 = Math.min(width, model.end[i] * scale);
		for (let at = Math.floor(x0); at < x1; at++)
			columns[at] += Math.min(x1, at + 1) - Math.max(x0, at);
	}
	return columns.map(sum => Math.min(1, sum / Math.max(1, model.nCpus)));
}
