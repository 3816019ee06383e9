/*
 * The table beside the graph, of functions: what each has itself, what it has with all that it called, and in how many
 * samples it is. A click or Enter shows a function between its callers and callees. Or of the groups that samples are
 * told apart by, such as types of data: a click or Enter zooms to one.
 */
"use strict";

class FlameTable {
	/* chosen(number of a name) */
	constructor(body, heads, note, chosen) {
		Object.assign(this, { body, heads, note, chosen, by: "self", down: true, rows: [] });
		for (const head of heads)
			head.addEventListener("click", () => this.sort(head.dataset.by));
		body.addEventListener("click", mouse => this.choose(mouse.target.closest("tr")));
		body.addEventListener("keydown", key => this.key(key));
	}

	/*
	 * rows: of flameFunctions or flameGroups, and noun what they are; count: text of a number; percent: text of a
	 * value; pattern: names to show, or null
	 */
	set(rows, noun, count, percent, pattern) {
		this.rows = pattern ? rows.filter(row => pattern(row.name)) : rows;
		this.noun = noun;
		this.percent = percent;
		this.count = count;
		this.draw();
	}

	sort(by) {
		this.down = by === this.by ? !this.down : by !== "name";
		this.by = by;
		this.draw();
	}

	draw() {
		const by = this.by, sign = this.down ? -1 : 1;
		const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
		this.rows.sort((a, b) => sign * order(a[by], b[by]) || order(a.name, b.name));
		for (const head of this.heads)
			head.parentNode.setAttribute("aria-sort", head.dataset.by !== by ? "none" : this.down ? "descending" : "ascending");
		this.body.replaceChildren(...this.rows.slice(0, FlameTable.SHOWN).map(row => this.line(row)));
		this.note.textContent = this.rows.length > FlameTable.SHOWN ? "the first " + FlameTable.SHOWN + " of " +
			this.rows.length + " " + this.noun + "; a search leaves those that it finds" : this.rows.length + " " + this.noun;
	}

	line(row) {
		const line = document.createElement("tr");
		line.tabIndex = 0;
		line.dataset.number = row.number;
		for (const text of [this.percent(row.self), this.percent(row.total), this.count(row.samples), row.name]) {
			const cell = document.createElement("td");
			cell.textContent = text;
			line.append(cell);
		}
		line.lastChild.textContent = shortenName(row.name, 200);
		line.title = row.name.slice(0, 1000);
		return line;
	}

	choose(line) {
		if (line)
			this.chosen(Number(line.dataset.number));
	}

	key(key) {
		const line = key.target.closest("tr");
		const to = { ArrowDown: line?.nextSibling, ArrowUp: line?.previousSibling, Home: this.body.firstChild,
			End: this.body.lastChild }[key.key];
		if (to)
			to.focus();
		else if (key.key === "Enter")
			this.choose(line);
		else
			return;
		key.preventDefault();
		key.stopPropagation();
	}
}
FlameTable.SHOWN = 500;
