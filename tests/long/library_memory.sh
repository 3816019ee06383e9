#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of libpstat and what programs do with it, in valgrind: no memory is lost, none is used that was never written.
TEST_VALGRIND=1 exec bash "${0%/*}/../cli/library.sh"
