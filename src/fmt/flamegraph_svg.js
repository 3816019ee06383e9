/*
 * A flame graph that is an SVG file of its own: a click zooms in, Esc goes back, / searches for a part of a name. Boxes
 * are moved, none is made: what the file has is what can be seen.
 */
"use strict";

(() => {
	const all = document.getElementById("boxes"), said = document.getElementById("said");
	const left = Number(all.dataset.left), wide = Number(all.dataset.wide), LETTER = 7.2, PATTERN = 8;
	const plain = ["user", "same", "group"];
	const boxes = Array.from(all.children, group => {
		const rect = group.querySelector("rect"), text = group.querySelector("text");
		const title = group.querySelector("title").textContent;
		return { group, rect, text, title, name: title.split("\n")[0].replace(/ \([a-z ]+\)$/, ""),
			shown: text ? text.textContent : "", x: Number(rect.getAttribute("x")), w: Number(rect.getAttribute("width")),
			indent: plain.includes(group.getAttribute("class")) ? 3 : 3 + PATTERN };
	});
	const history = [];
	let shown = { x: left, w: wide };

	function show(place) {
		const scale = wide / place.w;
		shown = place;
		for (const box of boxes) {
			const from = Math.max(box.x, place.x), to = Math.min(box.x + box.w, place.x + place.w), w = (to - from) * scale;
			box.group.style.display = w > 0.05 ? "" : "none";
			if (w <= 0.05)
				continue;
			const x = left + (from - place.x) * scale;
			box.rect.setAttribute("x", x);
			box.rect.setAttribute("width", w);
			const room = Math.floor((w - 3 - box.indent) / LETTER);
			if (!box.text && room >= 3) {
				box.text = document.createElementNS(box.rect.namespaceURI, "text");
				box.text.setAttribute("y", Number(box.rect.getAttribute("y")) + 12);
				box.group.append(box.text);
			}
			if (box.text) {
				box.text.setAttribute("x", x + box.indent);
				const cut = box.name.length > room ? box.name.slice(0, room - 1) + "\u2026" : box.name;
				box.text.textContent = place.w === wide ? box.shown : room < 3 ? "" : cut;
			}
		}
	}

	function search(part) {
		const text = part.toLowerCase();
		let covered = -1, width = 0, n = 0;
		for (const box of boxes) {
			const hit = text !== "" && box.name.toLowerCase().includes(text);
			box.group.classList.toggle("hit", hit);
			box.group.classList.toggle("missed", text !== "" && !hit);
			if (hit && ++n && box.x >= covered - 0.005) {
				width += box.w;
				covered = box.x + box.w;
			}
		}
		said.textContent = text ? part + ": " + (100 * width / wide).toFixed(2) + " % in " + n + " places" : "";
	}

	all.addEventListener("click", mouse => {
		const box = boxes.find(one => one.group === mouse.target.parentNode);
		if (box && box.w !== shown.w) {
			history.push(shown);
			show(box);
		}
	});
	all.addEventListener("mouseover", mouse => {
		const box = boxes.find(one => one.group === mouse.target.parentNode);
		said.textContent = box ? box.title.replaceAll("\n", ", ") : said.textContent;
	});
	document.addEventListener("keydown", key => {
		if (key.key === "Escape" && history.length)
			show(history.pop());
		else if (key.key === "/")
			search(window.prompt("Search for a part of a name") ?? "");
		else
			return;
		key.preventDefault();
	});
	window.pstatFlamegraph = { boxes, search };
})();
