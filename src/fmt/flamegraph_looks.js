/*
 * How a box looks: a colour by the kind of its function or by its file, a pattern that says the kind without colour,
 * and a name that fits. Names are shortened as columns of the terminal are (str_shorten).
 */
"use strict";

/* After Okabe and Ito: told apart by the colour-blind, too; patterns say the same without colour. */
const LOOKS = {
	"user": { color: [233, 170, 60], name: "user" },
	"kernel": { color: [110, 185, 232], name: "kernel (stripes)" },
	"inlined": { color: [90, 195, 160], name: "inlined (dots)" },
	"made at run time": { color: [215, 150, 190], name: "made at run time (bars)" },
	"waiting": { color: [216, 212, 238], name: "waiting, off the CPU (level lines)" },
	"unknown": { color: [175, 175, 175], name: "unknown (crosses)" },
	"more": { color: [225, 110, 85], name: "more than before (rising lines)" },
	"less": { color: [105, 155, 225], name: "less (falling lines)" },
	"no certain change": { color: [200, 200, 200], name: "no certain change" },
	"": { color: [215, 215, 205], name: "" },
};
const TILE = 8, MERGED = "several, each narrower than a pixel";

/* Lines of a pattern's tile: x0, y0, x1, y1; inlined: a dot. */
const PATTERNS = {
	"kernel": [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
	"inlined": [[3, 2, 3, 4], [4, 2, 4, 4]],
	"made at run time": [[3.5, 0, 3.5, 8]],
	"waiting": [[0, 2.5, 8, 2.5], [0, 6.5, 8, 6.5]],
	"unknown": [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6], [0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]],
	"more": [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
	"less": [[0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]],
};
const PATTERN_INK = "rgba(0, 0, 0, 0.32)", madePatterns = new Map();

function canvasPattern(kind) {
	if (madePatterns.has(kind))
		return madePatterns.get(kind);
	const tile = document.createElement("canvas");
	tile.width = tile.height = TILE;
	const pen = tile.getContext("2d");
	pen.strokeStyle = PATTERN_INK;
	for (const [x0, y0, x1, y1] of PATTERNS[kind]) {
		pen.beginPath();
		pen.moveTo(x0, y0);
		pen.lineTo(x1, y1);
		pen.stroke();
	}
	madePatterns.set(kind, pen.createPattern(tile, "repeat"));
	return madePatterns.get(kind);
}

/* The pattern begins with the rectangle, so that a narrow one shows it, too. */
function fillPattern(pen, kind, x, y, w, h) {
	if (pen.fillPattern) {
		pen.fillPattern(kind, x, y, w, h);
		return;
	}
	pen.save();
	pen.translate(x, y);
	pen.fillStyle = canvasPattern(kind);
	pen.fillRect(0, 0, w, h);
	pen.restore();
}

function hashOf(text) {
	let sum = 0;
	for (let k = 0; k < text.length && k < 64; k++)
		sum = (sum * 31 + text.charCodeAt(k)) >>> 0;
	return sum;
}

/* Functions of a kind differ a little, each always in the same way; files differ by hue. Black text is read on all. */
function colorOf(boxes, i, by) {
	if (by === "file" && boxes.file(i))
		return fileColor(boxes.file(i));
	const part = 0.94 + (hashOf(boxes.name(i)) % 15) / 100;
	return "rgb(" + LOOKS[boxes.look(i)].color.map(value => Math.min(255, Math.round(value * part))).join(",") + ")";
}

function fileColor(file) {
	const hash = hashOf(file);
	return "hsl(" + hash % 36 * 10 + "," + (45 + hash % 3 * 15) + "%," + (72 + hash % 5) + "%)";
}

/* ---- the legend ---- */

/* The files that have most samples of their own. */
function filesByWeight(event) {
	const weights = new Map(), { frames, files, rows } = event.raw;
	event.node.forEach((node, k) => {
		const file = node ? files[frames.file[event.frame[node]]] : "";
		if (file)
			weights.set(file, (weights.get(file) ?? 0) + rows.samples[k]);
	});
	return [...weights].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([file]) => file);
}

/* merged: the colour of boxes that are several. */
function drawLegend(room, events, { color, event }, merged) {
	const kinds = events.some(event => event.diff) ? ["more", "less", "no certain change"] :
		["user", "inlined", "kernel", "made at run time", "unknown", "waiting"].filter(
			kind => events.some(event => event.frames.kind.includes(KINDS.indexOf(kind))));
	room.textContent = "";
	for (const file of color === "file" ? filesByWeight(event) : [])
		addSwatch(room, shortenName(file, 24), pen => {
			pen.fillStyle = fileColor(file);
			pen.fillRect(0, 0, 26, 14);
		});
	for (const kind of color === "file" ? [] : kinds)
		addSwatch(room, LOOKS[kind].name, pen => {
			pen.fillStyle = "rgb(" + LOOKS[kind].color.join(",") + ")";
			pen.fillRect(0, 0, 26, 14);
			if (PATTERNS[kind])
				fillPattern(pen, kind, 0, 0, 26, 14);
		});
	addSwatch(room, MERGED, pen => {
		pen.fillStyle = merged;
		pen.fillRect(0, 0, 26, 14);
	});
}

/* ---- numbers ---- */

const grouped = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (part, all) => all ? (100 * part / all).toFixed(2) + " %" : "0 %";
const duration = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : (ns / 1e6).toFixed(3) + " ms";

const timeText = us => duration(us * 1000);

/* What Boxes.diff() knows. */
function differenceLine(diff) {
	const signed = part => (part < 0 ? "" : "+") + percent(part, 1);
	return diff.look + ": before " + percent(diff.before, 1) + ", now " + percent(diff.now, 1) + " of all: " +
		signed(diff.now - diff.before) + " (" + signed(diff.low) + " to " + signed(diff.high) + ")";
}

/* ---- what a box says: lines ---- */

/* Of a box of the chart; of all what it is made of. */
function tellTime(boxes, i) {
	const kind = boxes.kind(i), { left_out, several, node } = boxes.event.raw.chart;
	if (!i)
		return ["all: " + grouped(node.length) + " spans of neighbouring samples with one stack, in " + timeText(boxes.all),
			several ? "there were more: neighbours were merged, with what their stacks have in common" : "",
			left_out ? grouped(left_out) + " threads with fewest samples are left out" : ""];
	return [boxes.name(i) + (kind ? " (" + kind + ")" : ""), timeText(boxes.total(i)) + " from " + timeText(boxes.start[i]) +
		" on", boxes.file(i) ? "in " + boxes.file(i) : ""];
}

/* Of a box of callers, that is above what it called. */
function isCaller(boxes, i) {
	return boxes.inverted ? boxes.level[i] > 1 : boxes.level[i] < boxes.middle;
}

function tellBox(boxes, i, zoom, unit) {
	if (boxes.heads)
		return tellTime(boxes, i);
	const total = boxes.total(i), up = boxes.up[i], lines = [boxes.name(i) + (boxes.kind(i) ? " (" + boxes.kind(i) + ")" : "")];
	const parts = [percent(total, boxes.all) + " of all"], caller = isCaller(boxes, i);
	if (up > 0)
		parts.push(percent(total, boxes.total(up)) + " of " + (caller ? "what it calls here" : "its caller"));
	if (zoom && i > zoom && boxes.start[i] < boxes.end[zoom] && up !== zoom)
		parts.push(percent(total, boxes.total(zoom)) + " of what is zoomed into");
	const self = boxes.inverted ? total : boxes.self[i], noSelf = caller || (!i && boxes.inverted) || boxes.frame[i] === SEVERAL;
	lines.push(grouped(total) + " " + unit + ", " + parts.join(", ") + (noSelf ? "" : "; itself " + grouped(self) + ", " +
		percent(self, boxes.all) + " of all"));
	const diff = boxes.diff(i);
	if (diff)
		lines.push(differenceLine(diff));
	if (boxes.file(i))
		lines.push("in " + boxes.file(i) + (boxes.source(i) ? ", mostly at " + boxes.source(i) : ""));
	return lines;
}

/* To the clipboard; a page from a disk may have no other way than a selected field. */
async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const field = document.createElement("textarea");
		field.value = text;
		document.body.append(field);
		field.select();
		document.execCommand("copy");
		field.remove();
	}
}

/* ---- names that fit ---- */

const DOTS = "\u2026", DEPTH_MAX = 32, LONGEST = 4000;
const OPERATOR = /operator(?!\w)(?:\(\)|[<>=*-]*)/y, IS_KEPT = ["anonymous namespace", "inlined"];

function columnsOf(text) {
	let n = 0;
	for (const letter of text)
		n += letter > "\u1100" ? 2 : 1;
	return n - (text.includes(DOTS) ? text.split(DOTS).length - 1 : 0);
}

/* Of each bracket the place of its other half, else -1; "operator<" and "->" have none. */
function pairBrackets(text) {
	const partner = new Int32Array(text.length).fill(-1), open = [];
	const close = (at, opening) => {
		let n = open.length;
		while (n && text[open[n - 1]] !== opening) {
			if (opening === "<")
				return;
			n--;
		}
		if (!n)
			return;
		open.length = n;
		partner[open[n - 1]] = at;
		partner[at] = open.pop();
	};
	for (let i = 0; i < text.length; i++) {
		OPERATOR.lastIndex = i;
		const operator = text[i] === "o" && !(i && /\w/.test(text[i - 1])) && OPERATOR.exec(text);
		if (operator)
			i += operator[0].length - 1;
		else if (text[i] === "<" || text[i] === "(")
			open.push(i);
		else if (text[i] === ")")
			close(i, "(");
		else if (text[i] === ">" && text[i - 1] !== "-")
			close(i, "<");
	}
	return partner;
}

/* With dots for what templates at this depth hold (1: the outermost), and with `parameters` for what parentheses do. */
function withoutInner(text, partner, depth, parameters) {
	let made = "", now = 0;
	for (let i = 0; i < text.length; i++) {
		const opens = partner[i] > i, template = opens && text[i] === "<";
		now += template ? 1 : 0;
		now -= partner[i] >= 0 && !opens && text[i] === ">" ? 1 : 0;
		made += text[i];
		if (!opens || partner[i] - i - 1 <= 1)
			continue;
		if (template ? now !== depth : !parameters || IS_KEPT.includes(text.slice(i + 1, partner[i])))
			continue;
		made += DOTS;
		i = partner[i] - 1;
	}
	return made;
}

/* At most so many columns: arguments of templates go first, then parameters, then the middle. */
function shortenName(name, columns) {
	if (name.length <= columns && columnsOf(name) <= columns)
		return name;
	let text = name;
	if (name.length <= LONGEST) {
		const partner = pairBrackets(name);
		for (let depth = DEPTH_MAX; depth; depth--) {
			text = withoutInner(name, partner, depth, false);
			if (text !== name && columnsOf(text) <= columns)
				return text;
		}
		text = withoutInner(name, partner, 1, true);
		if (columnsOf(text) <= columns)
			return text;
	}
	const head = Array.from(text.slice(0, columns)), tail = Array.from(text.slice(-columns));
	const kept = Math.max(0, columns - 1), behind = kept >> 1;
	return head.slice(0, kept - behind).join("") + DOTS + (behind ? tail.slice(-behind).join("") : "");
}
