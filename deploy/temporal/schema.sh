#!/bin/sh
# Brings Temporal's two databases to the schema of the image's version; harmless to repeat. Needs SQL_* of temporal-sql-tool.
set -eu

for database in temporal temporal_visibility; do
  versions=/etc/temporal/schema/postgresql/v12/${database#temporal_}/versioned
  temporal-sql-tool --plugin postgres12 --db "$database" create
  temporal-sql-tool --plugin postgres12 --db "$database" setup-schema -v 0.0
  temporal-sql-tool --plugin postgres12 --db "$database" update-schema -d "$versions"
done
