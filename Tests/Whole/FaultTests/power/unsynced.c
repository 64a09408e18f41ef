/* Loaded into PostgreSQL or a client (LD_PRELOAD), it notes what a power cut would lose: before each write to a file
   beneath POWER_PLACE it appends what stood there to the journal POWER_JOURNAL, and after each successful sync of a file
   that all earlier writes to it are safe. PowerCut.swift puts back what was not safe.

   Only programs named POWER_PROGRAM take part. What a file is called, and that it exists, is taken as safe at once.
   Writes by stdio go unnoticed: PostgreSQL uses it for no data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SAFE = 2 };

/* What an entry begins with. After that of a write come `length` bytes, as they stood at `offset`. */
struct entry {
    uint64_t kind, device, file, offset, length;
    /* Of a write, the size of the file before it; of a sync, the size of the journal when it began. */
    uint64_t size;
};

static int journal = -1;
static const char *place;
static size_t place_length;
static int lies;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *program = getenv("POWER_PROGRAM"), *path = getenv("POWER_JOURNAL");
    const char *beneath = getenv("POWER_PLACE");
    if (!program || !path || !beneath || strcmp(program, program_invocation_short_name)) return;
    /* PostgreSQL writes its title over the environment. */
    place = strdup(beneath);
    place_length = strlen(place);
    lies = getenv("POWER_LIES") != NULL;
    int file = REAL(open)(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    /* Out of the way of programs that count on small numbers. */
    if (file >= 0) journal = fcntl(file, F_DUPFD_CLOEXEC, 700);
    if (file < 0 || journal < 0) {
        dprintf(2, "unsynced: %s: %s\n", path, strerror(errno));
        _exit(70);
    }
    close(file);
}

static void fail(const char *what) {
    dprintf(2, "unsynced: %s: %s\n", what, strerror(errno));
    _exit(70);
}

/* Whether the open file is one of ours. */
static int is_ours(int fd, struct stat *status) {
    char link[64], path[PATH_MAX];
    if (journal < 0 || fstat(fd, status) || !S_ISREG(status->st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length > 0 && (size_t)length > place_length && !memcmp(path, place, place_length);
}

/* One call appends all of it, so that entries of several processes never mix. */
static void append(struct entry entry, const void *bytes) {
    struct iovec parts[2] = {{&entry, sizeof entry}, {(void *)bytes, entry.length}};
    int count = entry.length ? 2 : 1;
    ssize_t length = (ssize_t)(sizeof entry + entry.length);
    if (REAL(writev)(journal, parts, count) != length) fail("the journal is not written");
}

static void note(int fd, off_t offset, size_t length, const struct stat *status) {
    struct entry entry = {WRITE, status->st_dev, status->st_ino, (uint64_t)offset, 0, (uint64_t)status->st_size};
    char *bytes = NULL;
    if (offset < status->st_size && length > 0) {
        char link[64];
        size_t most = (size_t)(status->st_size - offset);
        if (most > length) most = length;
        bytes = malloc(most);
        /* The file may be open for writing only. */
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        int reading = REAL(open)(link, O_RDONLY | O_CLOEXEC);
        if (!bytes || reading < 0) fail("a file cannot be read before it is written");
        ssize_t count = pread(reading, bytes, most, offset);
        close(reading);
        entry.length = count > 0 ? (uint64_t)count : 0;
    }
    append(entry, bytes);
    free(bytes);
}

static void note_at(int fd, off_t offset, size_t length) {
    struct stat status;
    int code = errno;
    if (is_ours(fd, &status)) note(fd, offset, length, &status);
    errno = code;
}

static size_t total(const struct iovec *parts, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    return length;
}

static void note_here(int fd, size_t length) {
    struct stat status;
    int code = errno;
    if (is_ours(fd, &status)) {
        int appends = fcntl(fd, F_GETFL) & O_APPEND;
        note(fd, appends ? status.st_size : lseek(fd, 0, SEEK_CUR), length, &status);
    }
    errno = code;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    note_here(fd, length);
    return REAL(write)(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    note_here(fd, total(parts, count));
    return REAL(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    note_at(fd, offset, length);
    return REAL(pwrite)(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    note_at(fd, offset, length);
    return REAL(pwrite64)(fd, bytes, length, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    note_at(fd, offset, total(parts, count));
    return REAL(pwritev)(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    note_at(fd, offset, total(parts, count));
    return REAL(pwritev64)(fd, parts, count, offset);
}

/* What is cut off, and the size. */
static void note_size(int fd, off_t size) {
    struct stat status;
    int code = errno;
    if (is_ours(fd, &status)) note(fd, size, size < status.st_size ? (size_t)(status.st_size - size) : 0, &status);
    errno = code;
}

int ftruncate(int fd, off_t size) {
    note_size(fd, size);
    return REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    note_size(fd, size);
    return REAL(ftruncate64)(fd, size);
}

int posix_fallocate(int fd, off_t offset, off_t length) {
    note_at(fd, offset, 0);
    return REAL(posix_fallocate)(fd, offset, length);
}

int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    note_at(fd, offset, 0);
    return REAL(posix_fallocate64)(fd, offset, length);
}

/* The journal's size when a sync begins: what is noted later may not be covered by it. */
static uint64_t journal_size(void) {
    struct stat status;
    return fstat(journal, &status) ? 0 : (uint64_t)status.st_size;
}

static int synced(int fd, int (*sync)(int)) {
    struct stat status;
    if (!is_ours(fd, &status)) return sync(fd);
    uint64_t begun = journal_size();
    int result = sync(fd);
    int code = errno;
    if (!result && !lies)
        append((struct entry){SAFE, status.st_dev, status.st_ino, 0, 0, begun}, NULL);
    errno = code;
    return result;
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

/* The number of a file that is gone may be another's soon. */
static void forget(const char *path) {
    struct stat status;
    int code = errno;
    if (journal >= 0 && !lstat(path, &status) && S_ISREG(status.st_mode) && status.st_nlink == 1)
        append((struct entry){SAFE, status.st_dev, status.st_ino, 0, 0, journal_size()}, NULL);
    errno = code;
}

int unlink(const char *path) {
    forget(path);
    return REAL(unlink)(path);
}

int rename(const char *from, const char *to) {
    forget(to);
    return REAL(rename)(from, to);
}
