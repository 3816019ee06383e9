#!/bin/bash
# SPDX-License-Identifier: MIT
# What needs more than one CPU: who is counted where, and CPUs that come and go.
exec "$PYTHON" "$ROOT/tests/lab/boot" two_cpus cpus record_cpus
