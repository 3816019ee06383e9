/*
 * The data of a flame graph and what is asked of it: rows become boxes, boxes are found, searched and zoomed into.
 * Knows no page: tests run it by itself. Arrays are typed and each question is one pass, so that 100,000 stacks are
 * no trouble.
 *
 * A box is one function in one place: [start, end) in samples (or in what the event counts), at a depth. Boxes are in
 * the order of a walk; levels has those of each depth from left to right.
 */
"use strict";

const KINDS = ["inlined", "unknown", "kernel", "made at run time", "user", "waiting"];
/* enum diff_verdict */
const CERTAIN = 3;
/* The frame of a box that stands for several, each too narrow to be seen. */
const SEVERAL = -0x40000000;
/* Nodes that are gone through, or a few more, before what there is by then is drawn: some 30 ms. */
const SLICE = 100000;

/* One event as the file has it, with what is worked out once. */
function flameEvent(raw) {
	const n = raw.nodes.depth.length + 1;
	const event = {
		raw,
		depth: new Int32Array(n),
		frame: new Int32Array(n),
		parent: new Int32Array(n),
		node: new Int32Array(raw.rows.node.length),
		byGroup: null,
		lower: null,
	};
	const path = [0];
	for (let i = 1; i < n; i++) {
		const d = raw.nodes.depth[i - 1];
		event.depth[i] = d;
		event.frame[i] = raw.nodes.frame[i - 1];
		event.parent[i] = path[d - 1];
		path[d] = i;
	}
	let node = 0;
	for (let i = 0; i < event.node.length; i++) {
		node += raw.rows.node[i];
		event.node[i] = node;
	}
	return event;
}

/* The numbers of rows, group by group; within a group they stay in the order of the walk. */
function rowsByGroup(event) {
	const group = event.raw.rows.group;
	if (event.byGroup || !group)
		return event.byGroup;
	const first = new Int32Array(event.raw.groups.length + 1);
	for (let i = 0; i < group.length; i++)
		first[group[i] + 1]++;
	for (let g = 0; g < event.raw.groups.length; g++)
		first[g + 1] += first[g];
	event.byGroup = new Int32Array(group.length);
	for (let i = 0; i < group.length; i++)
		event.byGroup[first[group[i]]++] = i;
	return event.byGroup;
}

/* What a row weighs: samples, or the event's count. */
function rowWeight(event, weight) {
	const rows = event.raw.rows;
	if (weight !== "period")
		return i => rows.samples[i];
	if (typeof rows.period === "number")
		return i => rows.samples[i] * rows.period;
	return i => rows.period[i];
}

/* asked: merged, weight, from and to (buckets, both belong to it), lane (-1: all). */
function isAsked(event, asked) {
	const rows = event.raw.rows;
	return i => (!rows.bucket || (rows.bucket[i] >= asked.from && rows.bucket[i] <= asked.to)) &&
		(asked.lane < 0 || !rows.lane || rows.lane[i] === asked.lane);
}

class Boxes {
	constructor(event, grouped, room = 1024) {
		this.event = event;
		this.grouped = grouped;
		this.n = 0;
		this.frame = new Int32Array(room); /* -1 - group: a group's box; the root is -1 without groups */
		this.level = new Int32Array(room);
		this.up = new Int32Array(room);
		this.node = new Int32Array(room); /* of the event; 0: a group, the root */
		this.start = new Float64Array(room);
		this.end = new Float64Array(room);
		this.self = new Float64Array(room);
		this.levels = [];
		this.heads = null; /* boxes of lanes: see flameChart */
		this.work = null; /* what is to be laid out: an iterator, each of whose steps is a slice */
		this.width = 0; /* pixels that it is laid out for; 0: for all, as a whole */
		this.sumOf = null; /* the weight of nodes, each 1 that was found; null: that of boxes */
		this.parts = new Map(); /* frames of those that are SEVERAL */
		this.all = 0; /* what everything that was asked for weighs */
		this.rootName = "all";
		this.middle = 0; /* the level of the function whose callers stand at lower levels: see flameSandwich */
	}

	grow() {
		for (const name of ["frame", "level", "up", "node", "start", "end", "self"]) {
			const larger = new this[name].constructor(2 * this.n);
			larger.set(this[name]);
			this[name] = larger;
		}
	}

	add(frame, level, up, start, node = 0) {
		const i = this.n;
		if (i === this.frame.length)
			this.grow();
		this.frame[i] = frame;
		this.level[i] = level;
		this.up[i] = up;
		this.node[i] = node;
		this.start[i] = start;
		(this.levels[level] ??= []).push(i);
		this.n++;
		return i;
	}

	/* Lays out a slice more. True: there is more. */
	step() {
		if (this.work?.next().done) {
			this.work = null;
			for (let level = 0; level < this.levels.length; level++)
				this.levels[level] ??= [];
		}
		return this.work !== null;
	}

	/* The level of the outermost caller that is there. */
	lowest() {
		return Math.max(0, this.levels.findIndex(row => row?.length));
	}

	name(i) {
		const frame = this.frame[i];
		if (frame === SEVERAL)
			return "several, each too narrow to be shown";
		if (i === 0 && frame === -1)
			return this.rootName;
		if (frame < 0)
			return this.event.raw.groups[-1 - frame];
		return this.event.raw.frames.name[frame];
	}

	/* "" of the root and of groups. */
	kind(i) {
		return this.frame[i] < 0 ? "" : KINDS[this.event.raw.frames.kind[this.frame[i]]];
	}

	/* What a difference says of it; null: nothing is compared. Numbers are parts of 1. */
	diff(i) {
		const diff = this.event.raw.diff, at = this.node[i] - 1;
		if (!diff || at < 0)
			return null;
		const part = name => diff[name][at] / 1e6, more = diff.now[at] > diff.before[at];
		const look = diff.verdict[at] !== CERTAIN ? "no certain change" : more ? "more" : "less";
		return { look, before: part("before"), now: part("now"), low: part("low"), high: part("high") };
	}

	/* What it is drawn as. */
	look(i) {
		const diff = this.diff(i);
		return diff ? diff.look : this.event.raw.diff ? "" : this.kind(i);
	}

	file(i) {
		const frames = this.event.raw.frames;
		return this.frame[i] < 0 ? "" : this.event.raw.files[frames.file[this.frame[i]]];
	}

	/* "deep.c:7"; "": not known. */
	source(i) {
		const frames = this.event.raw.frames, frame = this.frame[i];
		if (frame < 0 || !frames.source[frame])
			return "";
		const file = this.event.raw.files[frames.source[frame]];
		return frames.line[frame] ? file + ":" + frames.line[frame] : file;
	}

	total(i) {
		return this.end[i] - this.start[i];
	}

	/* The box at a level where x lies, or -1. */
	at(level, x) {
		const row = this.levels[level];
		const i = row ? this.firstBehind(row, x) - 1 : -1;
		return i >= 0 && x < this.end[row[i]] ? row[i] : -1;
	}

	/* The place of the first box of a level that begins behind x. */
	firstBehind(row, x) {
		let low = 0, high = row.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.start[row[middle]] > x)
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}

	child(i) {
		return i + 1 < this.n && this.up[i + 1] === i ? i + 1 : -1;
	}

	/* The box beside it on its level, by: -1 or 1; -1: there is none. */
	beside(i, by) {
		const row = this.levels[this.level[i]];
		return row[this.firstBehind(row, this.start[i]) - 1 + by] ?? -1;
	}

	/* The deepest level below a box, or its own: descendants stand right after it. */
	deepest(i) {
		let deepest = this.level[i];
		for (let k = i + 1; k < this.n && this.start[k] < this.end[i] && this.level[k] > this.level[i]; k++)
			deepest = Math.max(deepest, this.level[k]);
		return deepest;
	}

	/* The lowest level of a caller's box and of those above it. */
	shallowest(i) {
		let lowest = this.level[i];
		for (let k = i + 1; k < this.n && this.start[k] < this.end[i] && this.level[k] < this.level[i]; k++)
			lowest = Math.min(lowest, this.level[k]);
		return lowest;
	}

	/* The box next to it one level on (by 1) or back (by -1): what it stands on, or its first child; -1: none. */
	onLevel(i, by) {
		const up = this.up[i], child = i === 0 && by < 0 && this.middle ? this.firstCaller : this.child(i);
		if (up >= 0 && this.level[up] === this.level[i] + by)
			return up;
		return child >= 0 && child < this.n && this.level[child] === this.level[i] + by ? child : -1;
	}

	/* Frames from the root on, so that a box is found again in others; callers in a sandwich are -1 - frame. */
	path(i) {
		const path = [];
		for (; i > 0; i = this.up[i])
			path.push(this.level[i] < this.middle ? -1 - this.frame[i] : this.frame[i]);
		return path.reverse();
	}

	/* As far as it goes. */
	find(path) {
		let at = 0;
		for (const frame of path) {
			const caller = this.middle && frame < 0, found = this.childOf(at, caller ? -1 - frame : frame, caller ? -1 : 1);
			if (found < 0)
				return at;
			at = found;
		}
		return at;
	}

	childOf(i, frame, by) {
		const row = this.levels[this.level[i] + by] ?? [];
		for (let k = Math.max(0, this.firstBehind(row, this.start[i]) - 1);
			k < row.length && this.start[row[k]] < this.end[i]; k++)
			if (this.up[row[k]] === i && this.frame[row[k]] === frame)
				return row[k];
		return -1;
	}
}

/* Are samples told apart by something beside code, as types of data are? */
const hasGroups = event => event.raw.groups.some(name => name !== "");

/* Rows come in the order of a walk: what a row shares with the one before stays open, all else is closed. */
function flameBoxes(event, asked) {
	const rows = event.raw.rows, takes = isAsked(event, asked), weight = rowWeight(event, asked.weight);
	const grouped = !asked.merged && hasGroups(event);
	const order = grouped ? rowsByGroup(event) : null;
	const boxes = new Boxes(event, grouped, event.depth.length + (grouped ? event.raw.groups.length : 0));
	const open = [boxes.add(-1, 0, -1, 0)], openNode = [0], todo = [];
	const base = grouped ? 1 : 0;
	let x = 0, group = -1;

	const close = level => {
		while (open.length > level) {
			boxes.end[open.pop()] = x;
			openNode.pop();
		}
	};
	for (let k = 0; k < event.node.length; k++) {
		const i = order ? order[k] : k;
		if (!takes(i))
			continue;
		const own = weight(i);
		if (!own)
			continue;
		if (grouped && (rows.group ? rows.group[i] : 0) !== group) {
			group = rows.group ? rows.group[i] : 0;
			close(1);
			open.push(boxes.add(-1 - group, 1, 0, x));
			openNode.push(0);
		}
		let node = event.node[i];
		while (node && openNode[event.depth[node] + base] !== node) {
			todo.push(node);
			node = event.parent[node];
		}
		close((node ? event.depth[node] : 0) + base + 1);
		while (todo.length) {
			node = todo.pop();
			open.push(boxes.add(event.frame[node], open.length, open[open.length - 1], x, node));
			openNode.push(node);
		}
		boxes.self[open[open.length - 1]] += own;
		x += own;
	}
	close(0);
	boxes.all = x;
	return boxes;
}

/* Part of a name, whatever its case, or /a regular expression/. null: nothing is searched, or it is none. */
function flamePattern(text) {
	const regex = /^\/(.+)\/$/.exec(text);
	if (!text || !regex) {
		const part = text.toLowerCase();
		return text ? name => name.toLowerCase().includes(part) : null;
	}
	try {
		const made = new RegExp(regex[1], "u");
		return name => made.test(name);
	} catch {
		return null;
	}
}

/* What was found: boxes (1 of each that fits), how many there are, and what they weigh, each sample once. */
function flameSearch(boxes, pattern) {
	const found = { hit: new Uint8Array(boxes.n), n: 0, total: 0, first: -1, before: [] };
	const known = new Map();
	let covered = -1;
	for (let i = 1; i < boxes.n && pattern; i++) {
		let fits = known.get(boxes.frame[i]);
		if (boxes.frame[i] === SEVERAL)
			fits = boxes.parts.get(i)?.some(frame => pattern(boxes.event.raw.frames.name[frame])) ?? false;
		else if (fits === undefined)
			known.set(boxes.frame[i], fits = pattern(boxes.name(i)));
		if (!fits)
			continue;
		found.hit[i] = 1;
		found.n++;
		if (found.first < 0)
			found.first = i;
		if (boxes.start[i] >= covered) {
			found.total += boxes.total(i);
			covered = boxes.end[i];
		}
	}
	if (boxes.sumOf && pattern)
		found.total = boxes.sumOf(foundNodes(boxes.event, pattern));
	return found;
}

/* How many of a level's boxes [from, to) were found: by place on the level. */
function flameHits(boxes, found, level, from, to) {
	const row = boxes.levels[level];
	let before = found.before[level];
	if (!before) {
		before = found.before[level] = new Int32Array(row.length + 1);
		for (let k = 0; k < row.length; k++)
			before[k + 1] = before[k] + found.hit[row[k]];
	}
	return before[to] - before[from];
}

/* Samples of each lane and bucket. */
function flameTimes(event) {
	const raw = event.raw, lanes = Math.max(1, raw.lanes.length), buckets = Math.max(1, raw.buckets);
	const times = { lanes, buckets, n: new Float64Array(lanes * buckets), most: 0 };
	for (let i = 0; i < event.node.length; i++) {
		const at = (raw.rows.lane ? raw.rows.lane[i] : 0) * buckets + (raw.rows.bucket ? raw.rows.bucket[i] : 0);
		times.n[at] += raw.rows.samples[i];
		times.most = Math.max(times.most, times.n[at]);
	}
	return times;
}
