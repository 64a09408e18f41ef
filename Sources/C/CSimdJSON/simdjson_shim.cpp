#include "CSimdJSON.h"

#include <algorithm>
#include <memory>
#include <new>

#include <simdjson.h>

struct bw_json_parser {
    explicit bw_json_parser(size_t maximum) noexcept : maximum(maximum), parser(maximum) {}

    size_t maximum;
    simdjson::dom::parser parser;
    simdjson::dom::document document;
};

namespace {

// Room grows by doubling, or a body that is a little longer each time would have all the buffers made anew each time.
bw_json_status make_room(bw_json_parser &self, size_t count) noexcept {
    if (count > self.maximum) { return BW_JSON_TOO_LARGE; }
    if (count <= self.parser.capacity() && count <= self.document.capacity()) { return BW_JSON_OK; }
    size_t room = 4096;
    while (room < count) { room *= 2; }
    room = std::max(count, std::min(room, self.maximum));
    if (self.document.allocate(room) != simdjson::SUCCESS) { return BW_JSON_NO_MEMORY; }
    return self.parser.allocate(room) == simdjson::SUCCESS ? BW_JSON_OK : BW_JSON_NO_MEMORY;
}

bool starts_with_byte_order_mark(const uint8_t *bytes, size_t count) noexcept {
    return count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf;
}

}  // namespace

bw_json_parser *bw_json_parser_create(size_t maximum_bytes) {
    return new (std::nothrow) bw_json_parser(maximum_bytes);
}

void bw_json_parser_destroy(bw_json_parser *parser) { delete parser; }

bw_json_status bw_json_parser_parse(bw_json_parser *self, const uint8_t *bytes, size_t count) {
    // Some versions of simdjson skip a byte order mark; RFC 8259 lets a reader refuse it, and all must answer alike.
    if (count == 0 || starts_with_byte_order_mark(bytes, count)) { return BW_JSON_REFUSED; }
    const bw_json_status room = make_room(*self, count);
    if (room != BW_JSON_OK) { return room; }
    switch (self->parser.parse_into_document(self->document, bytes, count, true).error()) {
    case simdjson::SUCCESS: return BW_JSON_OK;
    case simdjson::CAPACITY: return BW_JSON_TOO_LARGE;
    case simdjson::MEMALLOC: return BW_JSON_NO_MEMORY;
    default: return BW_JSON_REFUSED;
    }
}

const uint64_t *bw_json_parser_tape(const bw_json_parser *self) { return self->document.tape.get(); }

const uint8_t *bw_json_parser_strings(const bw_json_parser *self) { return self->document.string_buf.get(); }

size_t bw_json_parser_capacity(const bw_json_parser *self) { return self->document.capacity(); }

void bw_json_parser_release(bw_json_parser *self) {
    self->parser = simdjson::dom::parser(self->maximum);
    self->document = simdjson::dom::document();
}

bool bw_json_is_utf8(const uint8_t *bytes, size_t count) {
    return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), count);
}
