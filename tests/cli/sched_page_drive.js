/*
 * What a user does with a page of pstat sched, in a browser without a screen: keys, mouse, search, zoom. Writes what it
 * saw into the document's title, a line each, which the test compares.
 */
"use strict";

(() => {
	const said = [], errors = [], $ = id => document.getElementById(id), { state, model, draw } = window.pstatSched;
	const same = (what, wanted, got) => said.push((String(wanted) === String(got) ? "ok " : "not ok ") + what +
		(String(wanted) === String(got) ? "" : ": wanted " + wanted + ", got " + got));
	const press = (key, where) => (where ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true,
		cancelable: true }));
	const span = () => state.to - state.from;
	const mouse = (kind, x, y, more) => {
		const place = $("picture").getBoundingClientRect(), names = { wheel: WheelEvent, dblclick: MouseEvent };
		$("picture").dispatchEvent(new (names[kind] ?? PointerEvent)(kind, { bubbles: true, cancelable: true, button: 0,
			clientX: place.left + x, clientY: place.top + y, ...more }));
	};
	const xOf = time => GUTTER + (time - state.from) / span() * ($("scroll").clientWidth - GUTTER);
	window.addEventListener("error", error => errors.push(error.message));

	same("runs were read", true, model.n > 0);
	same("CPUs are rows", model.nCpus, state.list.length);
	same("the whole is shown", model.length, span());
	press("+");
	same("+ zooms in", model.length / 2, span());
	press("Home");
	same("Home shows the whole", model.length, span());
	press("Escape");
	same("Esc goes back", model.length / 2, span());
	press("-");

	press("ArrowDown");
	same("a key selects a run", 0, model.cpu[state.selected]);
	const first = state.selected;
	press("ArrowRight");
	const row = Array.from({ length: model.byCpu.n(0) }, (_, i) => model.byCpu.run(0, i));
	same("and the next one in its row", row[row.indexOf(first) + 1], state.selected);
	press("ArrowLeft");
	same("and the one before", first, state.selected);
	const woken = model.waker.findIndex((waker, run) => waker >= 0 && model.wakingRun(run) >= 0);
	const middle = (model.begin[woken] + model.end[woken]) / 2, y = AXIS + 20 + model.cpu[woken] *
		Math.max(CPU_ROW, Math.min(3 * CPU_ROW, Math.floor(($("scroll").clientHeight - AXIS) / model.nCpus)));
	mouse("pointerdown", xOf(middle), y);
	mouse("pointerup", xOf(middle), y);
	same("a click selects what it points at", woken, state.selected);
	same("and what is known of it is told", model.tell(woken).join("\n"), $("status").textContent);
	mouse("pointermove", xOf(middle), y);
	same("the pointer tells it, too", model.tell(woken).join("\n"), $("tip").textContent);
	press("w");
	same("w goes to the run that woke it", model.wakingRun(woken), state.selected);

	mouse("wheel", xOf(middle), y, { deltaY: -100 });
	same("the wheel zooms", true, span() < model.length);
	same("at the pointer", true, Math.abs(xOf(middle) - GUTTER - (middle / model.length) * ($("scroll").clientWidth - GUTTER)) < 1);
	press("Home");
	mouse("pointerdown", xOf(0.25 * model.length), y);
	mouse("pointermove", xOf(0.5 * model.length), y);
	draw();
	mouse("pointerup", xOf(0.5 * model.length), y);
	same("dragging selects a span", "0.25 0.50", (state.from / model.length).toFixed(2) + " " + (state.to / model.length).toFixed(2));
	press("Home");

	press("v");
	same("tasks are rows", model.tasks("run"), state.list);
	draw();
	$("search").value = model.name(model.task[woken]);
	$("search").dispatchEvent(new Event("input"));
	same("a task is found, and shown alone", [model.task[woken]], state.list);
	same("and counted", true, $("found").textContent.startsWith("1 tasks, " + model.byTask.n(model.task[woken]) + " runs, "));
	press("Enter", $("search"));
	same("Enter goes to a run of it", model.task[woken], model.task[state.selected]);
	$("search").value = "/(/";
	$("search").dispatchEvent(new Event("input"));
	same("what is no expression is said", "not an expression", $("found").textContent);
	press("Escape", $("search"));
	same("Esc ends the search", null, state.found);
	draw();
	press("v");
	press("?");
	same("the keys are told", false, $("help").hidden);
	same("names are text", 0, document.querySelectorAll("#legend b, #status *, #tip *, #caption b").length);
	same("no errors", "", errors.join());
	document.title = said.join("\n");
})();
