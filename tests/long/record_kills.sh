#!/bin/bash
# The recorder killed at 200 random moments of each kind of recording, not only at some.
#
# run: alone
RECORD_KILLS=800 exec bash "${0%/*}/../cli/record_kills.sh"
