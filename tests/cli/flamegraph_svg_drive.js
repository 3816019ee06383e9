/*
 * What a user does with a picture (SVG) of a flame graph, in a browser without a screen: zoom, search, what a box says.
 * Writes what it saw into the document's title, a line each, which the test compares.
 */
"use strict";

(() => {
	const said = [], errors = [], { boxes, search } = window.pstatFlamegraph;
	const same = (what, wanted, got) => said.push((String(wanted) === String(got) ? "ok " : "not ok ") + what +
		(String(wanted) === String(got) ? "" : ": wanted " + wanted + ", got " + got));
	const mouse = (type, box) => box.rect.dispatchEvent(new MouseEvent(type, { bubbles: true }));
	const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	const shown = () => boxes.filter(box => box.group.style.display !== "none").length;
	window.addEventListener("error", error => errors.push(error.message));

	const all = boxes.length, widest = Math.max(...boxes.map(box => box.w));
	const narrow = boxes.filter(box => box.w < widest / 2).sort((a, b) => b.w - a.w)[0];
	same("there are boxes", true, all > 1 && narrow !== undefined);
	mouse("mouseover", narrow);
	same("a box says what it is", true, document.getElementById("said").textContent.startsWith(narrow.name));
	mouse("click", narrow);
	same("a click zooms in", true, Math.abs(Number(narrow.rect.getAttribute("width")) - widest) < widest / 50 && shown() < all);
	press("Escape");
	same("Esc shows all again", true, shown() === all && Math.abs(Number(narrow.rect.getAttribute("width")) - narrow.w) < 0.01);
	search(narrow.name);
	same("a search marks what was found", true, narrow.group.classList.contains("hit"));
	same("and tells how much it is", true, / % in [0-9]+ places$/.test(document.getElementById("said").textContent));
	search("");
	same("nothing was fetched", 0, performance.getEntriesByType("resource").length);
	same("no strange elements", 0, document.querySelectorAll("image, img, a, foreignObject, use").length);
	same("no hostile script ran", undefined, window.hostile);
	same("no error", "", errors.join());
	document.title = said.join("\n");
})();
