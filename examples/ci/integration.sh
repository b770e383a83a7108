#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a CI job calls: at most two integration runs on this host at a time, whichever runner or branch they come from.
# 75 (EX_TEMPFAIL) after half an hour in the queue, for runners that try again later.
set -euo pipefail
exec kgate run -n integration -k 2 --timeout "${INTEGRATION_WAIT:-30m}" --timeout-code 75 --time-limit 1h -- \
  env DATABASE_PORT="543{slot}" "$@"
