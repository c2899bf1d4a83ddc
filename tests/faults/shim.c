/* Lets a chosen system call below a chosen folder fail, or end the process: loaded by LD_PRELOAD, inert until armed.
 *
 * Only calls that change files count: open for writing, write, fsync, rename, unlink, mkdir and their kin. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long fails_at = -1, calls = 0;
static int with_errno = 0; /* 0 ends the process */

void fault_arm(const char *below, long call, int number) {
    strncpy(folder, below, sizeof folder - 1);
    fails_at = call;
    with_errno = number;
    calls = 0;
}

long fault_calls(void) { return calls; }

static int fails(const char *path) {
    if (!folder[0] || !path || strncmp(path, folder, strlen(folder)) != 0) return 0;
    if (__sync_fetch_and_add(&calls, 1) != fails_at) return 0;
    if (with_errno == 0) kill(getpid(), SIGKILL);
    errno = with_errno;
    return 1;
}

static int fails_at_path(const char *path) {
    char whole[PATH_MAX];
    if (!folder[0] || !path || path[0] == '/') return fails(path);
    if (!getcwd(whole, sizeof whole) || strlen(whole) + strlen(path) + 2 > sizeof whole) return 0;
    strcat(strcat(whole, "/"), path);
    return fails(whole);
}

static int fails_in_file(int file) {
    char name[64], target[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    return fails(target);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define BY_PATH(type, name, parameters, path, arguments) \
    type name parameters { return fails_at_path(path) ? (type)-1 : REAL(name) arguments; }
#define BY_FILE(type, name, parameters, file, arguments) \
    type name parameters { return fails_in_file(file) ? (type)-1 : REAL(name) arguments; }
#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return (flags & (O_WRONLY | O_RDWR)) && fails_at_path(path) ? -1 : REAL(name)(path, flags, mode); \
    }
#define OPENING_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return (flags & (O_WRONLY | O_RDWR)) && fails_at_path(path) ? -1 : REAL(name)(at, path, flags, mode); \
    }

OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
BY_FILE(ssize_t, write, (int file, const void *data, size_t size), file, (file, data, size))
BY_FILE(ssize_t, pwrite, (int file, const void *data, size_t size, off_t at), file, (file, data, size, at))
BY_FILE(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t at), file, (file, data, size, at))
BY_FILE(ssize_t, sendfile, (int file, int from, off_t *at, size_t size), file, (file, from, at, size))
BY_FILE(ssize_t, sendfile64, (int file, int from, off64_t *at, size_t size), file, (file, from, at, size))
BY_FILE(int, fsync, (int file), file, (file))
BY_FILE(int, fdatasync, (int file), file, (file))
BY_FILE(int, ftruncate, (int file, off_t size), file, (file, size))
BY_FILE(int, ftruncate64, (int file, off64_t size), file, (file, size))
BY_PATH(int, rename, (const char *from, const char *to), to, (from, to))
BY_PATH(int, renameat, (int at, const char *from, int there, const char *to), to, (at, from, there, to))
BY_PATH(int, unlink, (const char *path), path, (path))
BY_PATH(int, rmdir, (const char *path), path, (path))
BY_PATH(int, mkdir, (const char *path, mode_t mode), path, (path, mode))
BY_PATH(int, chmod, (const char *path, mode_t mode), path, (path, mode))
BY_PATH(int, fchmodat, (int at, const char *path, mode_t mode, int flags), path, (at, path, mode, flags))
