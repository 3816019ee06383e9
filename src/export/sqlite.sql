-- The database of `pstat export --sqlite`, version 1: see pstat-export(1). Tables are filled by sqlite.c.

CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE events(event INTEGER PRIMARY KEY, name TEXT, unit TEXT, samples INTEGER, period INTEGER);
CREATE TABLE threads(thread INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE comms(comm INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE maps(map INTEGER PRIMARY KEY, name TEXT, path TEXT, build_id TEXT);
CREATE TABLE frames(frame INTEGER PRIMARY KEY, function TEXT, raw_name TEXT, kind TEXT, map INTEGER, address TEXT,
	file TEXT, line INTEGER);
CREATE TABLE stacks(stack INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER, depth INTEGER);
CREATE TABLE samples(event INTEGER, time_ns INTEGER, period INTEGER, thread INTEGER, comm INTEGER, cpu INTEGER,
	kernel INTEGER, stack INTEGER);
CREATE TABLE counts(event INTEGER, pid INTEGER, tid INTEGER, value INTEGER);

-- How often each stack was sampled: what most of the others begin with.
CREATE VIEW stack_samples AS
SELECT event, stack, comm, count(*) AS samples, sum(period) AS period FROM samples GROUP BY event, stack, comm;

-- Where samples were taken: the innermost function.
CREATE VIEW functions AS
SELECT e.name AS event, f.function, m.name AS map, sum(s.samples) AS samples, sum(s.period) AS period
FROM stack_samples s JOIN events e USING (event) LEFT JOIN stacks k USING (stack) LEFT JOIN frames f USING (frame)
	LEFT JOIN maps m USING (map)
GROUP BY s.event, f.function, f.map;

-- The same with what a function called; recursive calls count once.
CREATE VIEW functions_total AS
WITH RECURSIVE
	sampled AS (SELECT event, stack, sum(samples) AS samples, sum(period) AS period FROM stack_samples GROUP BY 1, 2),
	up(event, leaf, node, samples, period) AS (
		SELECT event, stack, stack, samples, period FROM sampled WHERE stack IS NOT NULL
		UNION ALL
		SELECT up.event, up.leaf, k.parent, up.samples, up.period FROM up JOIN stacks k ON k.stack = up.node
		WHERE k.parent IS NOT NULL),
	once AS (
		SELECT DISTINCT up.event, up.leaf, f.function, f.map, up.samples, up.period
		FROM up JOIN stacks k ON k.stack = up.node JOIN frames f USING (frame))
SELECT e.name AS event, o.function, m.name AS map, sum(o.samples) AS samples, sum(o.period) AS period
FROM once o JOIN events e USING (event) LEFT JOIN maps m USING (map)
GROUP BY o.event, o.function, o.map;

-- Who called whom, directly: samples below the caller's frame.
CREATE VIEW callers AS
SELECT e.name AS event, c.function AS caller, f.function, sum(s.samples) AS samples, sum(s.period) AS period
FROM stack_samples s JOIN events e USING (event) JOIN stacks k USING (stack) JOIN frames f USING (frame)
	LEFT JOIN stacks p ON p.stack = k.parent LEFT JOIN frames c ON c.frame = p.frame
GROUP BY s.event, c.function, f.function;

CREATE VIEW by_thread AS
SELECT e.name AS event, t.pid, t.tid, t.name, count(*) AS samples, sum(s.period) AS period
FROM samples s JOIN events e USING (event) JOIN threads t USING (thread) GROUP BY s.event, s.thread;

CREATE VIEW by_cpu AS
SELECT e.name AS event, s.cpu, count(*) AS samples, sum(s.period) AS period
FROM samples s JOIN events e USING (event) GROUP BY s.event, s.cpu;

CREATE VIEW by_map AS
SELECT event, map, sum(samples) AS samples, sum(period) AS period FROM functions GROUP BY event, map;

-- Seconds since the first sample.
CREATE VIEW by_second AS
SELECT e.name AS event, (s.time_ns - (SELECT min(time_ns) FROM samples)) / 1000000000 AS second, count(*) AS samples,
	sum(s.period) AS period
FROM samples s JOIN events e USING (event) GROUP BY s.event, second;

-- Lines as of `pstat report --folded`.
CREATE VIEW folded AS
WITH RECURSIVE
	text(stack, line) AS (
		SELECT k.stack, replace(f.function, ';', ':') FROM stacks k JOIN frames f USING (frame) WHERE k.parent IS NULL
		UNION ALL
		SELECT k.stack, text.line || ';' || replace(f.function, ';', ':')
		FROM text JOIN stacks k ON k.parent = text.stack JOIN frames f ON f.frame = k.frame)
SELECT e.name AS event,
	coalesce(nullif(replace(c.name, ';', ':'), ''), '[unknown]') || ';' || coalesce(text.line, '[unknown]') AS line,
	sum(s.samples) AS samples, sum(s.period) AS period
FROM stack_samples s JOIN events e USING (event) JOIN comms c USING (comm) LEFT JOIN text USING (stack)
GROUP BY 1, 2;
