#!/bin/bash
# Makes a cluster: cells with as many shards each, and a hub. It may run at each start. A cluster that has events keeps its shards where
# they are, so move them with `bellwether cluster move`.
#
# BELLWETHER_DATABASE_URL is the URL of the first cell, as its owner, and PGPASSWORD the owner's password, the same in all databases.
# BELLWETHER_CELLS are the URLs of all cells and BELLWETHER_HUB that of the hub, without a user.
set -euo pipefail
read -ra cells <<<"$BELLWETHER_CELLS"

bellwether migrate
bellwether cluster create --name cell-1 --place "${cells[0]}"
for ((number = 2; number <= ${#cells[@]}; number++)); do
    bellwether cluster add "${cells[number - 1]}" --name "cell-$number"
done
bellwether cluster add "$BELLWETHER_HUB" --name hub --hub

read -r shards events < <(bellwether cluster status | awk '$1 ~ /^cell-/ { shards += $2; events += $5 } END { print shards, events }')
for ((number = 2; number <= ${#cells[@]} && events == 0; number++)); do
    words=()
    for ((shard = shards * (number - 1) / ${#cells[@]}; shard < shards * number / ${#cells[@]}; shard++)); do
        words+=(--shard "$shard")
    done
    bellwether cluster move --to "cell-$number" "${words[@]}"
done
bellwether cluster check
bellwether cluster status
