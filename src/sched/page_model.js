/*
 * What was recorded: runs in arrays of numbers, by CPU and by task, and what is said of them. Times are ns after the
 * first switch. Nothing here knows the page.
 */
"use strict";

const WAIT_KNOWN = 1, BEGAN_UNSEEN = 2, GOES_ON = 4, STATE_SHIFT = 3;

/* What a state means, for those that the kernel has long had. */
const STATES = {
	R: "could have gone on: another task took its CPU", S: "slept", D: "was blocked, until what it waited for happened",
	T: "was stopped", t: "was stopped by a tracer", X: "ended", Z: "ended", P: "was parked", I: "waited for work",
};

/* The numbers that are packed in text, one by one. */
class PackedNumbers {
	constructor(text) {
		const chars = atob(text);
		this.bytes = new Uint8Array(chars.length);
		for (let i = 0; i < chars.length; i++)
			this.bytes[i] = chars.charCodeAt(i);
		this.at = 0;
	}

	next() {
		let byte = this.bytes[this.at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
		}
		return value;
	}
}

/* Places 0 to n - 1 by their key, in their order: those of key k are list[first[k]] to list[first[k + 1] - 1]. */
function groupBy(keys, n, nKeys) {
	const first = new Uint32Array(nKeys + 1), at = new Uint32Array(nKeys), list = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		first[keys[i] + 1]++;
	for (let k = 0; k < nKeys; k++) {
		first[k + 1] += first[k];
		at[k] = first[k];
	}
	for (let i = 0; i < n; i++)
		list[at[keys[i]]++] = i;
	return { first, list, n: k => first[k + 1] - first[k], run: (k, i) => list[first[k] + i] };
}

class SchedModel {
	constructor(data) {
		const n = this.n = data.n_runs;
		this.data = data;
		this.nTasks = data.tasks.tid.length;
		this.nCpus = data.n_cpus;
		this.length = Math.max(1, data.end_ns - data.start_ns);
		Object.assign(this, { begin: new Float64Array(n), end: new Float64Array(n), delay: new Float64Array(n),
			cpu: new Uint16Array(n), task: new Uint32Array(n), how: new Uint16Array(n), waker: new Int32Array(n),
			before: new Int32Array(n) });
		this.read(new PackedNumbers(data.runs));
		this.byCpu = groupBy(this.cpu, n, this.nCpus);
		this.byTask = groupBy(this.task, n, this.nTasks);
		this.sum();
		this.rank();
	}

	read(numbers) {
		let last = 0;
		for (let i = 0; i < this.n; i++) {
			last += numbers.next();
			this.end[i] = last;
			this.begin[i] = last - numbers.next();
			this.cpu[i] = numbers.next();
			this.task[i] = numbers.next();
			this.how[i] = numbers.next();
			this.delay[i] = numbers.next() - 1;
			this.waker[i] = numbers.next() - 1;
		}
	}

	/* Of each task: its runs in turn, its run time, and how long it waited for a CPU. */
	sum() {
		this.runTime = new Float64Array(this.nTasks);
		this.waitTime = new Float64Array(this.nTasks);
		this.worst = new Float64Array(this.nTasks);
		this.busy = new Float64Array(this.nCpus);
		const last = new Int32Array(this.nTasks).fill(-1);
		for (let i = 0; i < this.n; i++) {
			const task = this.task[i];
			this.before[i] = last[task];
			last[task] = i;
			if (this.how[i] & BEGAN_UNSEEN)
				continue;
			const time = this.end[i] - this.begin[i], wait = Math.max(0, this.delay[i]);
			this.runTime[task] += time;
			this.busy[this.cpu[i]] += time;
			this.waitTime[task] += wait;
			this.worst[task] = Math.max(this.worst[task], wait);
		}
	}

	/* Tasks by run time, the longest first: colours go by that. Idle ones have none. */
	rank() {
		const order = Array.from({ length: this.nTasks }, (_, i) => i);
		order.sort((a, b) => this.runTime[b] - this.runTime[a] || a - b);
		this.rankOf = new Uint32Array(this.nTasks);
		order.forEach((task, i) => this.rankOf[task] = i);
	}

	isIdle(task) {
		return this.data.tasks.tid[task] === 0;
	}

	name(task) {
		const { comm, tid, pid } = this.data.tasks, own = tid[task], process = pid[task];
		if (!own)
			return "idle";
		return (comm[task] || ":" + own) + "[" + own + (process >= 0 && process !== own ? "/" + process : "") + "]";
	}

	state(run) {
		return this.data.states[this.how[run] >> STATE_SHIFT] ?? "?";
	}

	/* Tasks that have runs, in this order. */
	tasks(order) {
		const by = { run: this.runTime, wait: this.waitTime, worst: this.worst }[order];
		const list = [];
		for (let task = 0; task < this.nTasks; task++)
			if (this.byTask.n(task) && !this.isIdle(task))
				list.push(task);
		if (by)
			return list.sort((a, b) => by[b] - by[a] || this.rankOf[a] - this.rankOf[b]);
		const names = list.map(task => [this.name(task), task]);
		return names.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]).map(([, task]) => task);
	}

	/* The first of a group's runs that ends after this time: its place in the group. */
	firstAfter(group, key, time) {
		let low = 0, high = group.n(key);
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.end[group.run(key, middle)] <= time)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/* The run of a group at this time; -1: there is none. */
	runAt(group, key, time) {
		const at = this.firstAfter(group, key, time);
		if (at === group.n(key) || this.begin[group.run(key, at)] > time)
			return -1;
		return group.run(key, at);
	}

	/* The run of the task that woke it, at that time or, where that is not seen, just before; -1: not known. */
	wakingRun(run) {
		const waker = this.waker[run];
		if (waker < 0 || this.isIdle(waker))
			return -1;
		const woken = this.begin[run] - Math.max(0, this.delay[run]), found = this.runAt(this.byTask, waker, woken);
		if (found >= 0)
			return found;
		const after = this.firstAfter(this.byTask, waker, woken);
		return after ? this.byTask.run(waker, after - 1) : -1;
	}

	/* Seconds as pstat sched timehist prints them. */
	moment(time) {
		const us = Math.floor((this.data.start_ns + time) / 1000);
		return Math.floor(us / 1e6) + "." + String(us % 1e6).padStart(6, "0");
	}

	/* What is known of a run: lines of text. */
	tell(run) {
		const unseen = this.how[run] & BEGAN_UNSEEN, idle = this.isIdle(this.task[run]);
		const where = " on CPU " + this.cpu[run];
		if (unseen)
			return ["not known what ran" + where + " from " + this.moment(this.begin[run]) + " to " +
				this.moment(this.end[run]) + ", at last " + this.name(this.task[run])];
		const lines = [this.name(this.task[run]) + (idle ? "" : " ran ") + duration(this.end[run] - this.begin[run]) + where +
			", from " + this.moment(this.begin[run])];
		const before = this.tellBefore(run);
		if (before)
			lines.push(before);
		lines.push(this.tellEnd(run));
		return lines;
	}

	tellBefore(run) {
		const before = this.before[run], delay = this.delay[run], parts = [];
		const known = (this.how[run] & WAIT_KNOWN) && before >= 0;
		if (known) {
			const away = this.begin[run] - this.end[before] - Math.max(0, delay), state = this.state(before);
			if (state !== "R")
				parts.push((STATES[state] ?? "was in state " + state) + " for " + duration(away));
			else if (delay >= 0)
				parts.push("was preempted");
		}
		if (this.waker[run] >= 0)
			parts.push("was woken by " + (this.isIdle(this.waker[run]) ? "an interrupt of an idle CPU" :
				this.name(this.waker[run])));
		if (delay >= 0)
			parts.push("waited " + duration(delay) + " for a CPU");
		if (known && this.cpu[before] !== this.cpu[run])
			parts.push("came from CPU " + this.cpu[before]);
		return parts.length ? "Before: " + parts.join(", ") : "";
	}

	tellEnd(run) {
		if (this.how[run] & GOES_ON)
			return "Still ran at the end of the recording";
		const state = this.state(run);
		return "Then: " + (STATES[state] ?? "state") + " (" + state + ")";
	}

	/* Tasks whose name or number has this in it, as flags; null: all. */
	search(text) {
		let fits;
		if (!text)
			return null;
		if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
			const expression = new RegExp(text.slice(1, -1), "i");
			fits = name => expression.test(name);
		} else {
			const small = text.toLowerCase();
			fits = name => name.toLowerCase().includes(small);
		}
		const hit = new Uint8Array(this.nTasks), found = { hit, tasks: 0, runs: 0, time: 0 };
		for (let task = 0; task < this.nTasks; task++) {
			if (this.isIdle(task) || !this.byTask.n(task) || !fits(this.name(task)))
				continue;
			hit[task] = 1;
			found.tasks++;
			found.runs += this.byTask.n(task);
			found.time += this.runTime[task];
		}
		return found;
	}

	/* The next run of such a task that begins after a time, or the last before it; -1: there is none. */
	nextFound(hit, time, back) {
		let best = -1;
		for (let i = 0; i < this.n; i++) {
			if (!hit[this.task[i]] || (back ? this.begin[i] >= time : this.begin[i] <= time))
				continue;
			if (best < 0 || (back ? this.begin[i] > this.begin[best] : this.begin[i] < this.begin[best]))
				best = i;
		}
		return best;
	}
}

/* ---- text ---- */

const grouped = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/* Three digits or more of it, and the unit. */
function duration(ns) {
	for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
		if (ns >= scale)
			return (ns / scale).toFixed(ns >= 100 * scale ? 1 : ns >= 10 * scale ? 2 : 3) + " " + unit;
	return Math.round(ns) + " ns";
}

/* Without zeros at its end. */
const roundDuration = ns => duration(ns).replace(/\.0+ |(\.\d*[1-9])0+ /, (all, part) => (part ?? "") + " ");

/* The span between two marks of an axis, so that a mark needs at least this part of the whole: 1, 2 or 5 and zeros. */
function axisStep(span, marks) {
	const least = span / Math.max(1, marks), power = Math.pow(10, Math.floor(Math.log10(least)));
	return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least);
}
