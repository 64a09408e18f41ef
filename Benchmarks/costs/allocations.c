// Counts the allocations of a program, for LD_PRELOAD. The counts lie in a file that the environment names
// (ALLOCATION_COUNTS), so that whoever asks can read them while the program runs, and allocations.py does. While `tracing`
// is set there, every so-manieth allocation is also counted for the calls that led to it.
//
// For glibc, whose own functions are called behind ours.

#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

// allocations.py knows these numbers and the order of the members.
enum { FRAMES = 46, SITES = 16384 };

struct site {
    _Atomic uint64_t hash; // 0: free
    _Atomic uint64_t count;
    uint64_t frames[FRAMES];
};

struct counts {
    _Atomic uint64_t allocations, tracing;
    // Where the program itself lies in memory.
    uint64_t begin, end;
    struct site sites[SITES];
};

static struct counts *counts;
static __thread int is_inside __attribute__((tls_model("initial-exec")));

static void trace(void) {
    // The first of them is this function, which the compiler may have put into `count`.
    void *frames[FRAMES];
    int depth = backtrace(frames, FRAMES);
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < depth; i++) hash = (hash ^ (uint64_t)frames[i]) * 1099511628211u;
    hash |= 1;
    for (unsigned tries = 0; tries < 64; tries++) {
        struct site *site = &counts->sites[(hash >> 20 ^ hash) % SITES];
        site = counts->sites + (site - counts->sites + tries) % SITES;
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&site->hash, &found, hash)) {
            for (int i = 0; i < depth; i++) site->frames[i] = (uint64_t)frames[i];
            found = hash;
        }
        if (found == hash) {
            atomic_fetch_add(&site->count, 1);
            return;
        }
    }
}

static void count(void) {
    if (!counts || is_inside) return;
    uint64_t number = atomic_fetch_add_explicit(&counts->allocations, 1, memory_order_relaxed);
    uint64_t tracing = atomic_load_explicit(&counts->tracing, memory_order_relaxed);
    if (!tracing || number % tracing) return;
    is_inside = 1;
    trace();
    is_inside = 0;
}

static int locate(struct dl_phdr_info *program, size_t size, void *place) {
    struct counts *found = place;
    found->begin = program->dlpi_addr;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        uint64_t end = program->dlpi_addr + program->dlpi_phdr[i].p_vaddr + program->dlpi_phdr[i].p_memsz;
        if (program->dlpi_phdr[i].p_type == PT_LOAD && end > found->end) found->end = end;
    }
    // The first is the program, the others are its libraries.
    return 1;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("ALLOCATION_COUNTS");
    if (!path) return;
    // Programs that this one starts are not meant.
    unsetenv("LD_PRELOAD");
    // The first backtrace loads a library, which allocates.
    void *frame;
    backtrace(&frame, 1);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) _exit(127);
    void *memory = mmap(0, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) _exit(127);
    dl_iterate_phdr(locate, memory);
    counts = memory;
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count();
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
    count();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *place = memory;
    return 0;
}
