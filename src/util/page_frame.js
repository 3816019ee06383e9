/* Canvases, and the legend of what is drawn on them. */
"use strict";

/* A canvas as large as this, empty, sharp on any screen: its pen. */
function preparePen(canvas, width, height) {
	const sharp = window.devicePixelRatio || 1;
	canvas.width = Math.max(1, Math.round(width * sharp));
	canvas.height = Math.max(1, Math.round(height * sharp));
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	const pen = canvas.getContext("2d");
	pen.setTransform(sharp, 0, 0, sharp, 0, 0);
	return pen;
}

function addSwatch(room, text, paint) {
	const entry = document.createElement("span"), swatch = document.createElement("canvas");
	paint(preparePen(swatch, 26, 14));
	entry.append(swatch, text);
	room.append(entry);
}
