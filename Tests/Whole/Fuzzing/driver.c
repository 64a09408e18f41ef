// What libFuzzer calls. LAW is the door of a law.
#include <stddef.h>
#include <stdint.h>

void LAW(const uint8_t *bytes, long count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const uint8_t nothing[1];
    LAW(count ? bytes : nothing, (long)count);
    return 0;
}
