// Preloaded into a PostgreSQL server: every flush to the disk takes a millisecond longer, as on a
// disk behind a network.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int flush_late(const char *name, int fd)
{
    struct timespec pause = {.tv_sec = 0, .tv_nsec = 1000 * 1000};
    int (*flush)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    nanosleep(&pause, NULL);
    return flush(fd);
}

int fsync(int fd)
{
    return flush_late("fsync", fd);
}

int fdatasync(int fd)
{
    return flush_late("fdatasync", fd);
}
