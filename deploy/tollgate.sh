#!/bin/sh
# The `tollgate` command of the container image, which has no Node.js.
exec bun /opt/tollgate/src/cli.ts "$@"
