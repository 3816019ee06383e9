#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder killed at 200 random moments of each kind of recording: plain, packed, with several files; and 160 recordings,
# one after the other in one place, each killed within its first tenth of a second or soon after its first samples.
#
# run: alone
RECORD_KILLS=800 exec bash "${0%/*}/../cli/record_kills.sh"
