#!/bin/bash
# Creates the logins of the services in each database, as the owner, whose password is PGPASSWORD.
set -euo pipefail
for database in $BELLWETHER_DATABASES; do
    psql --no-psqlrc --quiet --file="$(dirname "$0")/logins.sql" "postgresql://bellwether_owner@$database/bellwether"
done
