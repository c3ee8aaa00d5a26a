#!/bin/sh
# Brings Temporal's two databases to the schema of the tool's version, which carries it; harmless to repeat. Needs SQL_* of temporal-sql-tool.
set -eu

for database in temporal temporal_visibility; do
  temporal-sql-tool --plugin postgres12 --db "$database" create
  temporal-sql-tool --plugin postgres12 --db "$database" setup-schema -v 0.0
  temporal-sql-tool --plugin postgres12 --db "$database" update-schema --schema-name "postgresql/v12/${database#temporal_}"
done
