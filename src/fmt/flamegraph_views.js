/*
 * The same samples asked another way: functions with what they have themselves and with all that they called, callers
 * first, one function between its callers and its callees, and what each thread did in the order of time. A function is
 * what has one name: inlined or not.
 *
 * These views are laid out for a width: what is narrower than a pixel is not opened, and narrow neighbours are one box
 * (SEVERAL). So boxes grow with pixels; a zoom lays out anew what it shows. Work is done in slices (Boxes.step).
 */
"use strict";

/* Numbers of names by frame. */
function nameNumbers(event) {
	if (event.names)
		return event.names;
	const known = new Map(), frames = event.raw.frames, of = new Int32Array(frames.name.length);
	for (let i = 0; i < of.length; i++) {
		if (!known.has(frames.name[i]))
			known.set(frames.name[i], known.size);
		of[i] = known.get(frames.name[i]);
	}
	event.names = { of, text: [...known.keys()] };
	return event.names;
}

/* What was sampled in each node itself, and with all below: of what is asked for. The last answer is remembered. */
function nodeWeights(event, asked) {
	const question = [asked.weight, asked.from, asked.to, asked.lane].join();
	if (event.weights?.question !== question)
		event.weights = { question, ...countWeights(event, asked) };
	return event.weights;
}

function countWeights(event, asked) {
	const takes = isAsked(event, asked), weight = rowWeight(event, asked.weight), n = event.depth.length;
	const self = new Float64Array(n), samples = new Float64Array(n);
	for (let k = 0; k < event.node.length; k++)
		if (takes(k)) {
			self[event.node[k]] += weight(k);
			samples[event.node[k]] += event.raw.rows.samples[k];
		}
	const total = self.slice(), all = samples.slice();
	for (let i = n - 1; i > 0; i--) {
		total[event.parent[i]] += total[i];
		all[event.parent[i]] += all[i];
	}
	return { self, total, samples: all };
}

/* One entry for each function: what is nested in itself counts once. */
function flameFunctions(event, asked) {
	const { of, text } = nameNumbers(event), weights = nodeWeights(event, asked), n = event.depth.length;
	const rows = text.map((name, number) => ({ name, number, frame: -1, self: 0, total: 0, samples: 0 }));
	const open = new Int32Array(text.length), path = [];
	for (let i = 1; i < n; i++) {
		while (path.length >= event.depth[i])
			open[path.pop()]--;
		const row = rows[of[event.frame[i]]];
		row.self += weights.self[i];
		if (!open[row.number]) {
			row.total += weights.total[i];
			row.samples += weights.samples[i];
		}
		if (weights.total[i] && row.frame < 0)
			row.frame = event.frame[i];
		open[row.number]++;
		path.push(row.number);
	}
	return rows.filter(row => row.total > 0);
}

/* One entry for each group, in the order of groups: what it has is its own. number: as its box's frame, -1 - group. */
function flameGroups(event, asked) {
	const takes = isAsked(event, asked), weight = rowWeight(event, asked.weight), raw = event.raw;
	const rows = raw.groups.map((name, group) => ({ name, number: -1 - group, self: 0, total: 0, samples: 0 }));
	for (let k = 0; k < event.node.length; k++)
		if (takes(k)) {
			const row = rows[raw.rows.group ? raw.rows.group[k] : 0];
			row.self = row.total += weight(k);
			row.samples += raw.rows.samples[k];
		}
	return rows.filter(row => row.total > 0);
}

/* Of each node the one that stands behind all that it called. */
function nodeEnds(event) {
	if (event.ends)
		return event.ends;
	const n = event.depth.length, ends = event.ends = new Int32Array(n);
	for (let i = n - 1; i >= 0; i--) {
		ends[i] = Math.max(ends[i], i + 1);
		ends[event.parent[i]] = Math.max(ends[event.parent[i]], ends[i]);
	}
	return ends;
}

/* 1 of each node that a pattern finds, and of all that it called. */
function foundNodes(event, pattern) {
	const fits = event.raw.frames.name.map(pattern), found = new Uint8Array(event.depth.length);
	for (let i = 1; i < found.length; i++)
		found[i] = found[event.parent[i]] || fits[event.frame[i]] ? 1 : 0;
	return found;
}

/* ---- callers first, and a function between callers and callees ---- */

/*
 * Opens boxes: a box is a set of nodes of the event with weights, and its children are the sets of those that are
 * called by them (or call them) and have one frame. Sets wait in a pool, that of the next box at its end.
 */
class FlameGrower {
	constructor(event, weights, boxes, width) {
		const frames = event.raw.frames.name.length;
		Object.assign(this, { event, weights, boxes, width, ends: nodeEnds(event), pool: new FlameSet(), part: new FlameSet(),
			least: Infinity, seen: 0 });
		/* By frame, of a set that is being parted. */
		this.count = new Int32Array(frames);
		this.place = new Int32Array(frames);
		this.sum = new Float64Array(frames);
		this.self = new Float64Array(frames);
	}

	put(node, weight, frames) {
		const frame = this.event.frame[node];
		if (!this.count[frame]++)
			frames.push(frame);
		this.sum[frame] += weight;
		this.self[frame] += this.weights.self[node];
		this.part.add(node, weight);
		this.seen++;
	}

	/* Parts the pool's last set, from `first` on. way: 0 by its own nodes, 1 by what they call, -1 by what calls them. */
	take(first, way) {
		const { ends, weights, event, pool } = this, frames = [];
		this.part.n = 0;
		for (let k = first; k < pool.n; k++) {
			const node = pool.nodes[k], parent = event.parent[node];
			if (way > 0)
				for (let child = node + 1; child < ends[node]; child = ends[child])
					weights.total[child] && this.put(child, weights.total[child], frames);
			else if (!way || parent)
				this.put(way ? parent : node, pool.weights[k], frames);
		}
		return frames.sort((a, b) => this.sum[b] - this.sum[a] || a - b);
	}

	/* Puts parts into the place of the set that they were made of: of these frames alone, that of the first at the end. */
	keep(first, kept, frames) {
		const { part, pool, place, event } = this;
		let at = first;
		for (const frame of frames)
			place[frame] = -1;
		for (let k = kept.length - 1; k >= 0; k--) {
			place[kept[k]] = at;
			at += this.count[kept[k]];
		}
		pool.grow(at);
		pool.n = at;
		for (let k = 0; k < part.n; k++) {
			const frame = event.frame[part.nodes[k]];
			if (place[frame] < 0)
				continue;
			pool.nodes[place[frame]] = part.nodes[k];
			pool.weights[place[frame]++] = part.weights[k];
		}
	}

	/* What stands in a box, from left to right; narrow ones are one. Beside the way to what is zoomed into no box opens. */
	open(box, path) {
		const { boxes, sum } = this, frames = this.take(box.first, box.way), next = box.onPath ? path[box.depth] : undefined;
		if (box.onPath && !frames.includes(next)) {
			box.inZoom = true;
			this.least = boxes.total(box.i) / this.width;
		}
		const least = box.inZoom ? this.least : boxes.total(box.i) / this.width;
		const fits = frame => sum[frame] >= least || frame === next;
		const wide = frames.filter(fits), narrow = frames.filter(frame => !fits(frame));
		let at = boxes.start[box.i];
		const made = wide.map(frame => ({ frame, start: at, end: at += sum[frame], self: this.self[frame], n: this.count[frame],
			up: box.i, depth: box.depth + 1, way: box.way || -1, inZoom: box.inZoom, onPath: frame === next }));
		this.keep(box.first, wide, frames);
		if (narrow.length)
			made.push({ frame: SEVERAL, start: at, end: narrow.reduce((end, frame) => end + sum[frame], at), self: 0, n: 0,
				up: box.i, frames: narrow });
		for (const frame of frames)
			this.count[frame] = sum[frame] = this.self[frame] = 0;
		return made;
	}

	/* All that is wide enough below a box, whose set is the pool; by: 1 each further from the box's level, or -1. */
	*grow(i, way, path, by) {
		const { boxes, pool } = this;
		let todo = this.open({ i, first: 0, way, depth: 0, onPath: true, inZoom: false }, path).reverse();
		while (todo.length) {
			const box = todo.pop();
			box.i = boxes.add(box.frame, boxes.level[box.up] + by, box.up, box.start);
			boxes.end[box.i] = box.end;
			boxes.self[box.i] = box.self;
			if (box.frames)
				boxes.parts.set(box.i, box.frames);
			box.first = pool.n - box.n;
			if (box.onPath || box.inZoom)
				for (const child of this.open(box, path).reverse())
					todo.push(child);
			else
				pool.n = box.first;
			if (this.seen >= SLICE) {
				yield this.seen;
				this.seen = 0;
			}
		}
	}
}

/* Nodes with weights. */
class FlameSet {
	constructor() {
		this.n = 0;
		this.nodes = new Int32Array(1024);
		this.weights = new Float64Array(1024);
	}

	grow(n) {
		for (const name of ["nodes", "weights"])
			while (this[name].length < n) {
				const larger = new this[name].constructor(2 * this[name].length);
				larger.set(this[name]);
				this[name] = larger;
			}
	}

	add(node, weight) {
		if (this.n === this.nodes.length)
			this.grow(this.n + 1);
		this.nodes[this.n] = node;
		this.weights[this.n++] = weight;
	}
}

/* Callers first: each function that was sampled, above it who called it. path: of what is zoomed into. */
function flameInverted(event, asked, path = [], width = Infinity) {
	const weights = nodeWeights(event, asked), boxes = new Boxes(event, false), root = boxes.add(-1, 0, -1, 0);
	const grower = new FlameGrower(event, weights, boxes, width);
	boxes.all = boxes.end[root] = weights.total[0];
	boxes.self[root] = weights.self[0];
	boxes.inverted = true;
	boxes.width = width;
	for (let i = 1; i < weights.self.length; i++)
		if (weights.self[i])
			grower.pool.add(i, weights.self[i]);
	boxes.sumOf = found => found.reduce((sum, fits, i) => fits ? sum + weights.self[i] : sum, 0);
	boxes.work = grower.grow(root, 0, path, 1);
	return boxes;
}

/* Nodes of a function that it did not call itself. */
function outermostNodes(event, number) {
	const { of } = nameNumbers(event), ends = nodeEnds(event), nodes = [];
	for (let i = 1; i < event.depth.length;) {
		const is = of[event.frame[i]] === number;
		if (is)
			nodes.push(i);
		i = is ? ends[i] : i + 1;
	}
	return nodes;
}

/*
 * A function, by the number of its name, between its callers (at lower levels) and its callees. A stack in which it is
 * several times counts once, by the outermost. path: of what is zoomed into: callers are -1 - frame.
 */
function flameSandwich(event, asked, number, path = [], width = Infinity) {
	const weights = nodeWeights(event, asked), boxes = new Boxes(event, false), ends = nodeEnds(event);
	const nodes = outermostNodes(event, number).filter(node => weights.total[node]);
	boxes.middle = nodes.reduce((most, node) => Math.max(most, event.depth[node] - 1), 0);
	boxes.all = weights.total[0];
	boxes.width = width;
	const root = boxes.add(nodes.length ? event.frame[nodes[0]] : -1, boxes.middle, -1, 0);
	for (const node of nodes) {
		boxes.end[root] += weights.total[node];
		boxes.self[root] += weights.self[node];
	}
	boxes.sumOf = found => nodes.reduce((sum, node) => {
		if (found[node])
			return sum + weights.total[node];
		for (let i = node; i < ends[node]; i++)
			sum += found[i] ? weights.self[i] : 0;
		return sum;
	}, 0);
	boxes.work = growSandwich(event, weights, boxes, nodes, path);
	return boxes;
}

function *growSandwich(event, weights, boxes, nodes, path) {
	for (const [way, frames] of [[1, path], [-1, path.map(frame => -1 - frame)]]) {
		const grower = new FlameGrower(event, weights, boxes, boxes.width);
		for (const node of nodes)
			grower.pool.add(node, weights.total[node]);
		if (way < 0)
			boxes.firstCaller = boxes.n;
		if (!path.length || frames[0] >= 0)
			yield* grower.grow(0, way, frames, way);
	}
}

/* ---- flame chart ---- */

/* The spans of a recording as numbers: times in us after the first sample; `first`: of each lane, and behind the last. */
function chartSpans(event) {
	if (event.spans)
		return event.spans;
	const raw = event.raw.chart, n = raw.node.length, first = [0];
	const spans = { first, begin: new Float64Array(n), end: new Float64Array(n), node: new Int32Array(n), several: raw.several };
	for (const count of raw.spans) {
		let at = first[first.length - 1], time = 0, node = 0;
		for (const last = at + count; at < last; at++) {
			spans.begin[at] = time += raw.gap[at];
			spans.end[at] = time += raw.length[at];
			spans.node[at] = node += raw.node[at];
		}
		first.push(at);
	}
	event.spans = spans;
	return spans;
}

/* The innermost node that both are, or are called by. */
function commonNode(event, a, b) {
	while (a !== b)
		if (event.depth[a] >= event.depth[b])
			a = event.parent[a];
		else
			b = event.parent[b];
	return a;
}

/* Times that the chart is of, in us: of all spans, or of the buckets that are asked for. */
function chartTimes(event, asked) {
	const spans = chartSpans(event), bucket = event.raw.bucket_ns / 1000, times = { from: Infinity, to: -Infinity };
	for (let lane = 0; lane + 1 < spans.first.length; lane++)
		if (spans.first[lane] < spans.first[lane + 1]) {
			times.from = Math.min(times.from, spans.begin[spans.first[lane]]);
			times.to = Math.max(times.to, spans.end[spans.first[lane + 1] - 1]);
		}
	if (times.from > times.to)
		return { from: 0, to: 0 };
	if (asked.to !== Infinity) {
		times.from = Math.max(times.from, Math.round(asked.from * bucket));
		times.to = Math.min(times.to, Math.round((asked.to + 1) * bucket));
	}
	return times;
}

/* Spans as boxes: those that go on are one; a gap closes what is open. */
class ChartLane {
	constructor(event, boxes, head) {
		Object.assign(this, { event, boxes, open: [head], nodes: [0], base: boxes.level[head], deepest: 0, x: -Infinity });
	}

	close(level) {
		for (; this.open.length > level; this.nodes.pop())
			this.boxes.end[this.open.pop()] = this.x;
	}

	/* several: the node is what stacks have in common. */
	add({ node, several, begin, end }) {
		const { event, boxes, open, nodes } = this, todo = [];
		if (begin > this.x)
			this.close(1);
		this.x = begin;
		for (; node && nodes[event.depth[node]] !== node; node = event.parent[node])
			todo.push(node);
		const depth = event.depth[node] + 1;
		this.close(several && !todo.length && nodes[depth] === SEVERAL ? depth + 1 : depth);
		while (todo.length) {
			nodes.push(node = todo.pop());
			open.push(boxes.add(event.frame[node], this.base + open.length, open[open.length - 1], begin, node));
		}
		if (several && nodes[nodes.length - 1] !== SEVERAL) {
			nodes.push(SEVERAL);
			open.push(boxes.add(SEVERAL, this.base + open.length, open[open.length - 1], begin));
		}
		this.deepest = Math.max(this.deepest, open.length - 1);
		this.x = end;
	}
}

/*
 * What each thread did in the order of time, in us; lane below lane, each with a box of its own at its head. Neighbours
 * within a pixel are one, with what their stacks have in common. path: see ChartBoxes.
 */
function flameChart(event, asked, path = [], width = Infinity) {
	const boxes = new ChartBoxes(event, false), spans = chartSpans(event), times = chartTimes(event, asked);
	const root = boxes.add(-1, 0, -1, times.from), lane = asked.lane < 0 || event.raw.lanes_are_cpus ? -1 :
		event.raw.chart.lanes.indexOf(event.raw.lanes[asked.lane]);
	boxes.heads = [];
	boxes.asked = path;
	boxes.end[root] = times.to;
	boxes.all = times.to - times.from;
	boxes.width = width;
	boxes.sumOf = found => {
		let sum = 0;
		for (let k = 0; k < spans.node.length; k++)
			if (found[spans.node[k]])
				sum += Math.max(0, Math.min(spans.end[k], times.to) - Math.max(spans.begin[k], times.from));
		return sum;
	};
	boxes.work = growChart(event, boxes, { ...times, lane, zoom: path.length ? { from: path[2], to: path[3] } : times });
	return boxes;
}

/* Neighbours with no pixel between their ends become one; what is not zoomed into has larger pixels. */
function *growChart(event, boxes, { from, to, lane, zoom }) {
	const spans = chartSpans(event), pixel = (zoom.to - zoom.from) / boxes.width, outside = (to - from) / boxes.width;
	let seen = 0, base = 1;
	for (let at = 0; at + 1 < spans.first.length; at++) {
		if (lane >= 0 && lane !== at)
			continue;
		const head = boxes.add(-1 - at, base, 0, from), row = new ChartLane(event, boxes, head);
		let now = null;
		boxes.heads.push(head);
		boxes.end[head] = to;
		for (let k = spans.first[at]; k < spans.first[at + 1]; k++) {
			const begin = Math.max(spans.begin[k], from), end = Math.min(spans.end[k], to), node = spans.node[k];
			const several = spans.several ? spans.several[k] === 1 : false, before = boxes.n;
			if (begin >= end)
				continue;
			const inside = now && end > zoom.from && now.begin < zoom.to;
			if (now && end - now.begin <= (inside ? pixel : outside)) {
				const common = commonNode(event, now.node, node);
				seen += event.depth[now.node] + event.depth[node] - 2 * event.depth[common];
				now.several ||= several || node !== now.node;
				Object.assign(now, { node: common, end });
			} else {
				if (now)
					row.add(now);
				now = { node, several, begin, end };
			}
			seen += 1 + boxes.n - before;
			if (seen >= SLICE) {
				yield seen;
				seen = 0;
			}
		}
		if (now)
			row.add(now);
		row.close(1);
		base += row.deepest + 1;
	}
}

/* A box of the chart is found again by its lane, its depth there and its time: [ lane, depth, from, to ]. */
class ChartBoxes extends Boxes {
	laneOf(i) {
		let k = 0;
		while (k + 1 < this.heads.length && this.level[this.heads[k + 1]] <= this.level[i])
			k++;
		return k;
	}

	/* A box that was found by the path that the chart is laid out for keeps it: other pixels would part it otherwise. */
	path(i) {
		const lane = this.laneOf(i);
		if (i && i === this.find(this.asked))
			return this.asked;
		return i ? [lane, this.level[i] - this.level[this.heads[lane]], this.start[i], this.end[i]] : [];
	}

	/* The box there that has most of the time; where there is none what it stands on. */
	find([lane, depth, from, to]) {
		const part = i => Math.min(this.end[i], to) - Math.max(this.start[i], from);
		for (const head = this.heads[lane]; head !== undefined && depth > 0; depth--) {
			const row = this.levels[this.level[head] + depth] ?? [];
			let most = -1;
			for (let k = Math.max(0, this.firstBehind(row, from) - 1); k < row.length && this.start[row[k]] < to; k++)
				if (part(row[k]) > 0 && (most < 0 || part(row[k]) > part(most)))
					most = row[k];
			if (most >= 0 && this.laneOf(most) === lane)
				return most;
		}
		return depth === 0 ? this.heads[lane] ?? 0 : 0;
	}

	name(i) {
		return this.frame[i] < 0 && i && this.frame[i] !== SEVERAL ? this.event.raw.chart.lanes[-1 - this.frame[i]] : super.name(i);
	}

	beside(i, by) {
		return i && this.up[i] === 0 ? this.heads[this.heads.indexOf(i) + by] ?? -1 : super.beside(i, by);
	}
}
