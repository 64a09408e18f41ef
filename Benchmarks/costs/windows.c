// Lets somebody outside say when callgrind counts, by a socket that the program inherits (CALLGRIND_WINDOWS): callgrind's own
// control waits until the program does something. For LD_PRELOAD; callgrind.py asks.

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

static void *obey(void *socket) {
    int file = (int)(long)socket;
    char word;
    while (read(file, &word, 1) == 1) {
        if (word == 'z') CALLGRIND_ZERO_STATS;
        if (word == 'd') CALLGRIND_DUMP_STATS;
        if (write(file, &word, 1) != 1) break;
    }
    return 0;
}

__attribute__((constructor)) static void start(void) {
    const char *socket = getenv("CALLGRIND_WINDOWS");
    pthread_t thread;
    // Valgrind is a program itself, which starts another.
    if (!socket || !RUNNING_ON_VALGRIND) return;
    pthread_create(&thread, 0, obey, (void *)(long)atoi(socket));
}
