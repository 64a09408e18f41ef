#include "CSimdJSON.h"
#include <simdjson.h>
int bw_simdjson_probe(void) { simdjson::dom::parser p; return p.parse(std::string("[1]")).error(); }
