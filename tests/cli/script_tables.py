# SPDX-License-Identifier: MIT
"""For tests/cli/script_tables.sh: prints each row that it is handed."""
perf_db_export_mode = True
perf_db_export_callchains = True

TABLES = ("evsel", "machine", "thread", "comm", "comm_thread", "dso", "symbol", "sample", "call_path",
          "context_switch")
for table in TABLES:
    globals()[table + "_table"] = lambda *columns, table=table: print(table, *columns, sep="|")


def synth_data(number, config, raw, *others):
    print("synth", number, config, raw.hex(), sep="|")


def trace_end():
    print("end")
