/*
 * How a kind of function looks: a colour, a pattern over it, and letters before its name.
 */
"use strict";

/* After Okabe and Ito: told apart by the colour-blind, too; patterns say the same without colour. */
const LOOKS = {
	"user": { color: [233, 170, 60], mark: "", name: "user" },
	"kernel": { color: [110, 185, 232], mark: "[k] ", name: "kernel [k], stripes" },
	"inlined": { color: [90, 195, 160], mark: "[i] ", name: "inlined [i], dots" },
	"made at run time": { color: [215, 150, 190], mark: "[j] ", name: "made at run time [j], bars" },
	"waiting": { color: [216, 212, 238], mark: "", name: "waiting (off the CPU), level lines" },
	"unknown": { color: [175, 175, 175], mark: "[?] ", name: "unknown [?], crosses" },
	"more": { color: [225, 110, 85], mark: "+ ", name: "more than before [+], rising lines" },
	"less": { color: [105, 155, 225], mark: "- ", name: "less [-], falling lines" },
	"no certain change": { color: [200, 200, 200], mark: "", name: "no certain change" },
	"": { color: [215, 215, 205], mark: "", name: "" },
};

function drawPattern(kind) {
	const tile = document.createElement("canvas"), side = 8;
	tile.width = tile.height = side;
	const pen = tile.getContext("2d");
	const line = (x0, y0, x1, y1) => {
		pen.beginPath();
		pen.moveTo(x0, y0);
		pen.lineTo(x1, y1);
		pen.stroke();
	};
	pen.strokeStyle = pen.fillStyle = "rgba(0, 0, 0, 0.28)";
	if (kind === "kernel" || kind === "unknown" || kind === "more") {
		line(0, 8, 8, 0);
		line(-2, 2, 2, -2);
		line(6, 10, 10, 6);
	}
	if (kind === "unknown" || kind === "less") {
		line(0, 0, 8, 8);
		line(-2, 6, 2, 10);
		line(6, -2, 10, 2);
	}
	if (kind === "waiting") {
		line(0, 2.5, 8, 2.5);
		line(0, 6.5, 8, 6.5);
	}
	if (kind === "made at run time")
		line(2.5, 0, 2.5, 8);
	if (kind === "inlined")
		pen.fillRect(2, 2, 2, 2);
	return pen.createPattern(tile, "repeat");
}

/* Functions of a kind differ a little, each always in the same way. */
function colorOf(boxes, i) {
	const name = boxes.name(i), look = LOOKS[boxes.look(i)];
	let sum = 0;
	for (let k = 0; k < name.length && k < 64; k++)
		sum = (sum * 31 + name.charCodeAt(k)) >>> 0;
	const by = 1 + (sum % 15) / 100 - 0.07;
	return "rgb(" + look.color.map(part => Math.min(255, Math.round(part * by))).join(",") + ")";
}
