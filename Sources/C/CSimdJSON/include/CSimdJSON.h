#pragma once
// The only door to simdjson: C on this side, C++ on the other. A parser turns a document into simdjson's tape
// (doc/tape.md of simdjson describes it), which the caller then walks without coming back here.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bw_json_parser bw_json_parser;

typedef enum bw_json_status {
    BW_JSON_OK = 0,
    // Not JSON, or well-formed JSON that simdjson cannot hold. Which of the two is for the caller to find out: the
    // codes behind this differ between versions and processors.
    BW_JSON_REFUSED = 1,
    BW_JSON_TOO_LARGE = 2,
    BW_JSON_NO_MEMORY = 3,
} bw_json_status;

// NULL when there is no memory. Belongs to one thread at a time.
bw_json_parser *bw_json_parser_create(size_t maximum_bytes);
void bw_json_parser_destroy(bw_json_parser *parser);

// The bytes are copied and need no padding. A new parse ends the life of the old tape.
bw_json_status bw_json_parser_parse(bw_json_parser *parser, const uint8_t *bytes, size_t count);

// After BW_JSON_OK, until the next parse or release.
const uint64_t *bw_json_parser_tape(const bw_json_parser *parser);
const uint8_t *bw_json_parser_strings(const bw_json_parser *parser);

// The longest document that fits without asking for memory, and a way to give that memory back.
size_t bw_json_parser_capacity(const bw_json_parser *parser);
void bw_json_parser_release(bw_json_parser *parser);

bool bw_json_is_utf8(const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
