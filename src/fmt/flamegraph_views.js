/*
 * The same samples asked another way: functions with what they have themselves and with all that they called, callers
 * first, one function between its callers and its callees, and what each lane (a CPU or a thread) did over time. A
 * function is what has one name: inlined or not.
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

/* What was sampled in each node itself, and with all below: of what is asked for. */
function nodeWeights(event, asked) {
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

/* A tree of frames that paths are added to, whose children are found by a table of (parent, frame). */
class FlameTrie {
	constructor() {
		this.n = 1;
		this.room = 1024;
		for (const name of ["frame", "parent", "next"])
			this[name] = new Int32Array(this.room);
		this.first = new Int32Array(this.room); /* of a node's children; 0: none, since 0 is the root */
		this.total = new Float64Array(this.room);
		this.self = new Float64Array(this.room);
		this.table = new Int32Array(4 * this.room);
	}

	hash(parent, frame) {
		const mask = this.table.length - 1;
		let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b)) >>> 0;
		at = (at ^ at >>> 15) & mask;
		while (this.table[at] && (this.parent[this.table[at]] !== parent || this.frame[this.table[at]] !== frame))
			at = at + 1 & mask;
		return at;
	}

	grow() {
		this.room *= 2;
		for (const name of ["frame", "parent", "next", "first", "total", "self"]) {
			const larger = new this[name].constructor(this.room);
			larger.set(this[name]);
			this[name] = larger;
		}
		this.table = new Int32Array(4 * this.room);
		for (let i = 1; i < this.n; i++)
			this.table[this.hash(this.parent[i], this.frame[i])] = i;
	}

	child(parent, frame) {
		if (this.n === this.room)
			this.grow();
		const at = this.hash(parent, frame);
		if (this.table[at])
			return this.table[at];
		const i = this.table[at] = this.n++;
		this.frame[i] = frame;
		this.parent[i] = parent;
		this.next[i] = this.first[parent];
		this.first[parent] = i;
		return i;
	}

	children(node) {
		const list = [];
		if (!this.next[this.first[node]])
			return this.first[node] ? [this.first[node]] : list;
		for (let i = this.first[node]; i; i = this.next[i])
			list.push(i);
		return list.sort((a, b) => this.total[b] - this.total[a] || this.frame[a] - this.frame[b]);
	}

	/* Adds boxes of all below the root, the heaviest first; by: 1 each further from the root's level, or -1. */
	layOut(boxes, root, by) {
		const todo = [], ups = [], at = []; /* at: by box, where its next child begins */
		const put = (node, up) => {
			const children = this.children(node);
			at[up] = boxes.start[up];
			for (let k = children.length - 1; k >= 0; k--) {
				todo.push(children[k]);
				ups.push(up);
			}
		};
		put(0, root);
		while (todo.length) {
			const node = todo.pop(), up = ups.pop(), i = boxes.add(this.frame[node], boxes.level[up] + by, up, at[up]);
			boxes.end[i] = at[up] += this.total[node];
			boxes.self[i] = this.self[node];
			put(node, i);
		}
	}
}

/* Callers first: each function that was sampled, above it who called it. */
function flameInverted(event, asked) {
	const weights = nodeWeights(event, asked), trie = new FlameTrie(), boxes = new Boxes(event, false);
	for (let i = 1; i < weights.self.length; i++) {
		if (!weights.self[i])
			continue;
		let at = 0;
		for (let node = i; node; node = event.parent[node]) {
			at = trie.child(at, event.frame[node]);
			trie.total[at] += weights.self[i];
		}
		trie.self[at] += weights.self[i];
	}
	const root = boxes.add(-1, 0, -1, 0);
	boxes.all = boxes.end[root] = weights.total[0];
	boxes.self[root] = weights.self[0];
	boxes.inverted = true;
	trie.layOut(boxes, root, 1);
	return boxes;
}

/*
 * A function, by the number of its name, between its callers (at lower levels) and its callees. A stack in which it is
 * several times counts once, by the outermost.
 */
function flameSandwich(event, asked, number) {
	const { of } = nameNumbers(event), weights = nodeWeights(event, asked), n = event.depth.length;
	const callers = new FlameTrie(), callees = new FlameTrie(), boxes = new Boxes(event, false);
	const place = new Int32Array(n).fill(-1); /* in the tree of callees; -1: not below the function */
	let frame = -1, total = 0, self = 0;
	for (let i = 1; i < n; i++) {
		const within = place[event.parent[i]];
		if (within >= 0) {
			place[i] = callees.child(within, event.frame[i]);
			callees.total[place[i]] += weights.total[i];
			callees.self[place[i]] += weights.self[i];
		} else if (of[event.frame[i]] === number && weights.total[i]) {
			place[i] = 0;
			frame = frame < 0 ? event.frame[i] : frame;
			total += weights.total[i];
			self += weights.self[i];
			for (let node = event.parent[i], at = 0; node; node = event.parent[node]) {
				at = callers.child(at, event.frame[node]);
				callers.total[at] += weights.total[i];
			}
		}
	}
	boxes.middle = depthOf(callers);
	const root = boxes.add(frame, boxes.middle, -1, 0);
	boxes.end[root] = total;
	boxes.self[root] = self;
	boxes.all = weights.total[0];
	callees.layOut(boxes, root, 1);
	boxes.firstCaller = boxes.n;
	callers.layOut(boxes, root, -1);
	for (let level = 0; level < boxes.levels.length; level++)
		boxes.levels[level] ??= [];
	return boxes;
}

function depthOf(trie) {
	const depth = new Int32Array(trie.n);
	let most = 0;
	for (let i = 1; i < trie.n; i++)
		most = Math.max(most, depth[i] = depth[trie.parent[i]] + 1);
	return most;
}

/* The numbers of rows, lane by lane and in each by bucket of time; within a bucket they stay in the order of the walk. */
function rowsByTime(event, buckets, placeOf) {
	const n = event.node.length, first = new Int32Array(Math.max(1, event.raw.lanes.length) * buckets + 1);
	for (let k = 0; k < n; k++)
		first[placeOf(k) + 1]++;
	for (let i = 1; i < first.length; i++)
		first[i] += first[i - 1];
	const order = new Int32Array(n);
	for (let k = 0; k < n; k++)
		order[first[placeOf(k)]++] = k;
	return order;
}

/*
 * Time on x, in buckets; lane below lane, each with a box of its own at its head. What was sampled in a bucket fills it,
 * in the order of the walk; what goes on in the next bucket is one box.
 */
function flameChart(event, asked) {
	const rows = event.raw.rows, buckets = Math.max(1, event.raw.buckets), takes = isAsked(event, asked);
	const laneOf = k => rows.lane ? rows.lane[k] : 0, placeOf = k => laneOf(k) * buckets + (rows.bucket ? rows.bucket[k] : 0);
	const order = rowsByTime(event, buckets, placeOf).filter(takes), boxes = new Boxes(event, false);
	const weight = rowWeight(event, "samples");
	const sums = new Float64Array(Math.max(1, event.raw.lanes.length) * buckets), root = boxes.add(-1, 0, -1, asked.from);
	let open = [], nodes = [], lane = -1, base = 0, x = asked.from, deepest = 0;
	const close = level => {
		while (open.length > level) {
			boxes.end[open.pop()] = x;
			nodes.pop();
		}
	};
	boxes.heads = [];
	boxes.end[root] = boxes.all = Math.min(asked.to + 1, buckets);
	boxes.all -= asked.from;
	order.forEach(k => sums[placeOf(k)] += weight(k));
	for (const k of order) {
		const place = placeOf(k), bucket = place % buckets, todo = [];
		if (laneOf(k) !== lane) {
			close(0);
			base = lane < 0 ? 1 : base + deepest + 1;
			[lane, deepest, x] = [laneOf(k), 0, bucket];
			open = [boxes.add(-1 - lane, base, root, asked.from)];
			nodes = [0];
			boxes.heads.push(open[0]);
		} else if (bucket > x + 1e-9) {
			close(1);
			x = bucket;
		}
		let node = event.node[k];
		for (; node && nodes[event.depth[node]] !== node; node = event.parent[node])
			todo.push(node);
		close(event.depth[node] + 1);
		while (todo.length) {
			nodes.push(node = todo.pop());
			open.push(boxes.add(event.frame[node], base + nodes.length - 1, open[open.length - 1], x, node));
		}
		deepest = Math.max(deepest, nodes.length - 1);
		const part = weight(k) / sums[place];
		boxes.self[open[open.length - 1]] += part;
		x = Math.abs(x + part - Math.round(x + part)) < 1e-9 ? Math.round(x + part) : x + part;
	}
	close(0);
	for (const head of boxes.heads)
		boxes.end[head] = boxes.end[root];
	return boxes;
}
