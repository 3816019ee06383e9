/*
 * A pen that makes an SVG picture of what a canvas would show. Elements are made one by one, and texts are text.
 */
"use strict";

class SvgPen {
	constructor(width, height, page) {
		this.space = document.getElementById("space").namespaceURI;
		this.svg = this.element("svg", { width, height, viewBox: "0 0 " + width + " " + height });
		this.defs = this.element("defs", {});
		this.svg.append(this.defs, this.element("rect", { width, height, fill: page }));
		this.ruler = document.createElement("canvas").getContext("2d");
		this.globalAlpha = 1;
		this.lineWidth = 1;
		this.known = new Set();
	}

	element(name, attributes) {
		const made = document.createElementNS(this.space, name);
		for (const [key, value] of Object.entries(attributes))
			made.setAttribute(key, typeof value === "number" ? Math.round(value * 100) / 100 : value);
		return made;
	}

	measureText(text) {
		this.ruler.font = this.font;
		return this.ruler.measureText(text);
	}

	rectangle(x, y, width, height, more) {
		this.svg.append(this.element("rect", { x, y, width, height, ...more }));
	}

	fillRect(x, y, width, height) {
		this.rectangle(x, y, width, height, { fill: this.fillStyle, "fill-opacity": this.globalAlpha });
	}

	strokeRect(x, y, width, height) {
		this.rectangle(x, y, width, height, { fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
	}

	fillText(text, x, y) {
		const made = this.element("text", { x, y, fill: this.fillStyle, "fill-opacity": this.globalAlpha,
			style: "font: " + this.font + "; dominant-baseline: middle; white-space: pre" });
		made.textContent = text;
		this.svg.append(made);
	}

	fillPattern(kind, x, y, width, height) {
		const id = kind.replaceAll(" ", "-");
		if (!this.known.has(kind)) {
			const pattern = this.element("pattern", { id, width: TILE, height: TILE, patternUnits: "userSpaceOnUse" });
			for (const [x1, y1, x2, y2] of PATTERNS[kind])
				pattern.append(this.element("line", { x1, y1, x2, y2, stroke: PATTERN_INK }));
			this.defs.append(pattern);
			this.known.add(kind);
		}
		this.svg.append(this.element("rect", { width, height, fill: "url(#" + id + ")", "fill-opacity": this.globalAlpha,
			transform: "translate(" + x.toFixed(2) + " " + y.toFixed(2) + ")" }));
	}

	text() {
		return new XMLSerializer().serializeToString(this.svg);
	}
}

/* As a file that the browser saves. */
function saveSvg(text, name) {
	const link = document.createElement("a"), place = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
	link.download = name;
	link.setAttribute("href", place);
	link.click();
	setTimeout(() => URL.revokeObjectURL(place), 10000);
}
