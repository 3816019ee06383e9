#!/bin/bash
# SPDX-License-Identifier: MIT
# Each system call of the recorder made to fail, not only some of them.
FAULTS_EVERY=1 exec bash "${0%/*}/../cli/fault_injection.sh"
