/*
 * The boxes that are in view, drawn with a pen: of a canvas, or of another medium that takes the same calls. Work grows
 * with pixels, not with boxes: neighbours that are each narrower than a pixel are one box of a colour of its own.
 */
"use strict";

const ROW = 18, LEVELS_KEPT = 2;

/*
 * What part of the boxes is shown, and where. x = scale * (what the boxes have - from); rows are counted from the top,
 * or from the bottom where the root stands there. Callers of a box that is zoomed into and would push it out of sight
 * are one row: the root's edge, the nearest callers and the box stay in view.
 */
function flameView(boxes, zoom, width, height, topDown) {
	const from = boxes.start[zoom], wide = boxes.total(zoom) || 1, level = boxes.level[zoom];
	const view = { width, height, from, wide, scale: width / wide, zoom, topDown, hidden: 0, firstLevel: 0 };
	if (!boxes.middle && !boxes.heads && level > LEVELS_KEPT + 1 && (level + 3) * ROW > height)
		view.hidden = level - LEVELS_KEPT;
	view.lastLevel = boxes.heads || (boxes.middle && !zoom) ? boxes.levels.length - 1 : boxes.deepest(zoom);
	if (boxes.middle && !zoom)
		view.firstLevel = boxes.lowest();
	if (boxes.middle && zoom) {
		view.firstLevel = level > boxes.middle ? boxes.middle : boxes.shallowest(zoom);
		view.lastLevel = level > boxes.middle ? view.lastLevel : boxes.middle;
	}
	view.rows = view.lastLevel - view.firstLevel + 1 - Math.max(0, view.hidden - 1);
	view.full = Math.max(view.rows * ROW, height);
	return view;
}

/* Levels 1 to hidden share row 1. */
function rowOfLevel(view, level) {
	if (level <= view.hidden)
		return Math.min(level, 1);
	return level - view.firstLevel - Math.max(0, view.hidden - 1);
}

/* -1: none is there. */
function levelOfRow(view, row) {
	if (row < 0 || row >= view.rows)
		return -1;
	return view.hidden && row === 1 ? view.hidden : row + view.firstLevel + (row ? Math.max(0, view.hidden - 1) : 0);
}

/* The top of a level's row, in the whole picture. */
function topOfLevel(view, level) {
	const row = rowOfLevel(view, level);
	return view.topDown ? row * ROW : view.full - (row + 1) * ROW;
}

function levelAt(view, y) {
	return levelOfRow(view, Math.floor((view.topDown ? y : view.full - 1 - y) / ROW));
}

class FlamePainter {
	/* look: by (kind or file), colors (known ones, by frame), ink and merged, found, focus, label (beside a name) */
	constructor(pen, boxes, view, look) {
		this.pen = pen;
		this.boxes = boxes;
		this.view = view;
		this.look = look;
		pen.font = "12px ui-monospace, monospace";
		pen.textBaseline = "middle";
		this.letter = pen.measureText("mmmmmmmmmm").width / 10 || 7;
	}

	draw(top) {
		const { view, pen } = this;
		for (let level = view.firstLevel; level <= view.lastLevel; level++) {
			const y = topOfLevel(view, level) - top;
			if (y > -ROW && y < view.height && (level >= view.hidden || !level))
				this.drawLevel(level, y);
		}
		if (!this.boxes.all) {
			pen.fillStyle = this.look.ink;
			pen.fillText("no samples", 8, view.height / 2);
		}
	}

	drawLevel(level, y) {
		const { boxes, view } = this, row = boxes.levels[level] ?? [], to = view.from + view.wide, pixel = 1 / view.scale;
		let k = Math.max(0, boxes.firstBehind(row, view.from) - 1);
		while (k < row.length && boxes.start[row[k]] < to) {
			const i = row[k], start = Math.max(boxes.start[i], view.from), end = Math.min(boxes.end[i], to);
			if (end - start >= pixel) {
				this.drawBox(i, (start - view.from) * view.scale, y, Math.max((end - start) * view.scale - 0.5, 0.5));
				k++;
			} else {
				k = end > start ? this.drawMerged(level, k, y, to) : k + 1;
			}
		}
	}

	/* Draws one box for the k'th of a level and what follows it within a pixel, as far as all are narrow; the next k. */
	drawMerged(level, k, y, to) {
		const { boxes, view, look, pen } = this, row = boxes.levels[level], pixel = 1 / view.scale, first = k;
		const start = Math.max(boxes.start[row[k]], view.from);
		let end = start, hits = 0;
		while (k < row.length && boxes.start[row[k]] <= end + pixel && boxes.start[row[k]] < to) {
			const next = Math.max(k + 1, boxes.firstBehind(row, boxes.start[row[k]] + pixel) - 1);
			if (boxes.total(row[k]) >= pixel)
				break;
			if (look.found) {
				const now = flameHits(boxes, look.found, level, k, next) > 0;
				if (k > first && now !== hits > 0)
					break;
				hits = now ? 1 : 0;
			}
			end = boxes.end[row[next - 1]];
			k = next;
		}
		pen.globalAlpha = look.found && !hits ? 0.3 : 1;
		pen.fillStyle = hits ? look.ink : look.merged;
		pen.fillRect((start - view.from) * view.scale, y, Math.max(1, (Math.min(end, to) - start) * view.scale - 0.5), ROW - 1);
		pen.globalAlpha = 1;
		return Math.max(k, first + 1);
	}

	color(i) {
		const { boxes, look } = this, frame = boxes.frame[i];
		if (frame === SEVERAL)
			return look.merged;
		if (boxes.event.raw.diff)
			return colorOf(boxes, i, look.by);
		if (!look.colors.has(frame))
			look.colors.set(frame, colorOf(boxes, i, look.by));
		return look.colors.get(frame);
	}

	/* The text of a box with room for so many columns; "": there is none. */
	text(i, room) {
		const { boxes, view, look } = this;
		if (room < 3)
			return "";
		if (view.hidden && boxes.level[i] === view.hidden)
			return shortenName(DOTS + " " + view.hidden + " callers", room);
		const name = boxes.name(i), beside = look.label(i);
		if (name.length + beside.length + 2 <= room && columnsOf(name) + beside.length + 2 <= room)
			return name + "  " + beside;
		return shortenName(name, room);
	}

	drawBox(i, x, y, w) {
		const { boxes, view, look, pen } = this, dim = look.found && !look.found.hit[i];
		const gap = view.hidden && boxes.level[i] === view.hidden, kind = gap ? "" : boxes.look(i);
		const strip = PATTERNS[kind] ? TILE : 0, text = this.text(i, Math.floor((w - 6 - strip) / this.letter));
		pen.globalAlpha = dim ? 0.3 : 1;
		pen.fillStyle = gap ? "rgb(" + LOOKS[""].color.join(",") + ")" : this.color(i);
		pen.fillRect(x, y, w, ROW - 1);
		if (strip && w > 3) {
			const behind = text ? strip + 6 + columnsOf(text) * this.letter : w;
			fillPattern(pen, kind, x, y, text ? strip : w, ROW - 1);
			if (behind + 4 < w)
				fillPattern(pen, kind, x + behind, y, w - behind, ROW - 1);
		}
		pen.globalAlpha = dim ? 0.8 : 1;
		if (text) {
			pen.fillStyle = dim ? look.ink : "#000000";
			pen.fillText(text, x + strip + 3, y + ROW / 2, w - strip - 4);
		}
		pen.globalAlpha = 1;
		if (look.found && !dim && w > 4) {
			pen.strokeStyle = look.ink;
			pen.strokeRect(x + 0.5, y + 0.5, w - 1, ROW - 2);
		}
		if (i === look.focus) {
			pen.lineWidth = 2;
			pen.strokeStyle = "#000000";
			pen.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
			pen.lineWidth = 1;
		}
	}
}
