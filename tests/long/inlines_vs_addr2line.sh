#!/bin/bash
# SPDX-License-Identifier: MIT
# Inlined functions and lines beside llvm-addr2line -i, with each way that debug information can be packed.
INLINES_ALL=1 exec bash "${0%/*}/../cli/inlines_vs_addr2line.sh"
