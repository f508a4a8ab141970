#!/bin/sh
# The command line of Corkboard for an installation with corkboard.service: with its settings, as its user.
#
#   install deploy/corkboard.sh /usr/local/bin/corkboard
#   corkboard status
set -a
DATA_DIR=/var/lib/corkboard
. /etc/corkboard/environment
cd /opt/corkboard && exec /usr/sbin/runuser -u corkboard -- \
  node_modules/.bin/node --import ./server/preflight.js server/cli/main.ts "$@"
