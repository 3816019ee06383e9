#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts that are the same in each run: one CPU, an instruction takes 2 ns and 2 cycles.
exec "$PYTHON" "$ROOT/tests/lab/boot" exact count groups names record passes library compare static
