/*
 * The strip of times: samples of each lane (a CPU or a thread) over time. A span is selected by dragging or by keys, a
 * lane by a click on its name.
 */
"use strict";

class FlameStrip {
	/* ask: from, to and lane are changed here, then changed() is called. */
	constructor(canvas, room, ask, ink, changed) {
		Object.assign(this, { canvas, room, ask, ink, changed, times: null, lanes: [] });
		this.follow();
	}

	/* Another event's times. */
	set(event) {
		this.times = flameTimes(event);
		this.lanes = event.raw.lanes;
	}

	draw() {
		const { times, ask } = this, LANE = FlameStrip.LANE, LABEL = FlameStrip.LABEL, width = this.room.clientWidth;
		const pen = preparePen(this.canvas, width, times.lanes * LANE), wide = (width - LABEL) / times.buckets;
		pen.font = "11px system-ui, sans-serif";
		pen.textBaseline = "middle";
		pen.fillStyle = pen.strokeStyle = this.ink();
		for (let lane = 0; lane < times.lanes; lane++) {
			pen.globalAlpha = ask.lane >= 0 && ask.lane !== lane ? 0.6 : 1;
			pen.fillText(this.lanes[lane] ?? "", 3, lane * LANE + LANE / 2, LABEL - 6);
			for (let bucket = 0; bucket < times.buckets; bucket++) {
				const n = times.n[lane * times.buckets + bucket], h = Math.max(1, n / times.most * (LANE - 2));
				if (n)
					pen.fillRect(LABEL + bucket * wide, (lane + 1) * LANE - h, Math.max(1, wide - 0.2), h);
			}
		}
		pen.globalAlpha = 1;
		if (ask.to === Infinity)
			return;
		pen.fillStyle = "rgba(110, 185, 232, 0.35)";
		pen.fillRect(LABEL + ask.from * wide, 0, (ask.to - ask.from + 1) * wide, times.lanes * LANE);
		pen.strokeRect(LABEL + ask.from * wide, 0.5, (ask.to - ask.from + 1) * wide, times.lanes * LANE - 1);
	}

	/* Buckets from one to another; from null: all. */
	choose(from, to) {
		const last = this.times.buckets - 1, ask = this.ask;
		ask.from = from === null ? 0 : Math.max(0, Math.min(from, to, last));
		ask.to = from === null ? Infinity : Math.min(last, Math.max(from, to, 0));
		this.changed();
	}

	all() {
		this.ask.lane = -1;
		this.choose(null, null);
	}

	bucketAt(mouse) {
		const place = this.canvas.getBoundingClientRect(), LABEL = FlameStrip.LABEL;
		return Math.floor((mouse.clientX - place.left - LABEL) / ((place.width - LABEL) / this.times.buckets));
	}

	press(mouse) {
		const place = this.canvas.getBoundingClientRect(), ask = this.ask;
		if (mouse.clientX - place.left >= FlameStrip.LABEL)
			return this.bucketAt(mouse);
		const lane = Math.floor((mouse.clientY - place.top) / FlameStrip.LANE);
		ask.lane = ask.lane === lane ? -1 : lane;
		this.choose(ask.to === Infinity ? null : ask.from, ask.to);
		return -1;
	}

	/* True: the key was one of the strip's. */
	key(key) {
		const by = { ArrowLeft: -1, ArrowRight: 1 }[key.key], whole = this.ask.to === Infinity;
		if (key.key === "Escape")
			this.all();
		else if (by && key.shiftKey)
			this.choose(this.ask.from, (whole ? this.ask.from : this.ask.to) + by);
		else if (by)
			this.choose(whole ? 0 : this.ask.from + by, whole ? 0 : this.ask.to + by);
		return by || key.key === "Escape";
	}

	follow() {
		let begun = -1;
		this.canvas.addEventListener("pointerdown", mouse => {
			begun = this.press(mouse);
			if (begun < 0)
				return;
			this.canvas.setPointerCapture(mouse.pointerId);
			this.choose(begun, begun);
		});
		this.canvas.addEventListener("pointermove", mouse => begun >= 0 && this.choose(begun, this.bucketAt(mouse)));
		this.canvas.addEventListener("pointerup", () => begun = -1);
		this.canvas.addEventListener("keydown", key => {
			if (!this.key(key))
				return;
			key.preventDefault();
			key.stopPropagation();
		});
	}
}
FlameStrip.LANE = 14;
FlameStrip.LABEL = 110;
