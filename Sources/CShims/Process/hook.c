#include "shim_service.h"
#include "shim_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int32_t shim_can_execute(const char *path) { return access(path, X_OK) < 0 ? -errno : 0; }

static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error) {
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    return error;
}

int32_t shim_start_program(const char *path, const char *variables, size_t length, int32_t *ended) {
    size_t count = 0;
    for (size_t at = 0; at < length; at++) count += variables[at] == 0;
    const char **environment = calloc(count + 1, sizeof *environment);
    if (!environment) return -ENOMEM;
    for (size_t index = 0; index < count; index++) {
        environment[index] = variables;
        variables += strlen(variables) + 1;
    }
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t process = -1;
    const char *arguments[] = {path, NULL};
    int error = posix_spawn_file_actions_init(&files);
    if (!error) {
        error = posix_spawnattr_init(&attributes);
        if (!error) {
            error = prepare(&files, &attributes);
            if (!error) error = posix_spawn(&process, path, &files, &attributes, (char **)arguments, (char **)environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&files);
    }
    free(environment);
    if (error) return -error;
    *ended = (int32_t)syscall(SYS_pidfd_open, process, 0);
    return process;
}

int32_t shim_program_ended(int32_t process, int32_t *code) {
    int32_t result = shim_reap(process);
    if (result == -EAGAIN) return 0;
    *code = result == SHIM_KILLED ? 0 : result > SHIM_KILLED ? 128 + result - SHIM_KILLED : result;
    return 1;
}

void shim_end_program(int32_t process, int32_t at_once) { kill(-process, at_once ? SIGKILL : SIGTERM); }
