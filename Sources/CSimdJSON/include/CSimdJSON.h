#pragma once
int bw_simdjson_probe(void);
