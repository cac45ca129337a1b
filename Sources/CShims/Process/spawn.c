// A process that supervises others.
#include "shim_watch.h"
#include "shim_network.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const int32_t SHIM_TERMINATE = SIGTERM, SHIM_FINISH = SIGUSR1, SHIM_KILL = SIGKILL, SHIM_CONTINUE = SIGCONT;

static volatile sig_atomic_t event, has_hangup;

static void on_signal(int number) {
    if (number == SIGHUP) has_hangup = 1;
    shim_event_raise(event);
}

void shim_watch_signals(int32_t descriptor) {
    event = descriptor;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
}

int32_t shim_take_hangup(void) {
    int32_t result = has_hangup;
    has_hangup = 0;
    return result;
}

int32_t shim_pipe(int32_t ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

void shim_set_nonblocking(int32_t descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

int64_t shim_write(int32_t descriptor, const void *buffer, size_t length) {
    ssize_t count = TEMP_FAILURE_RETRY(write(descriptor, buffer, length));
    return count < 0 ? -errno : count;
}

static _Noreturn void become(
    const char *path, const char *const *arguments, int32_t input, int32_t output, int32_t answers, pid_t parent) {
    // Its own group: a signal of the terminal reaches only the watcher, which passes one on. A second one would cut it short.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    // In the background of a terminal, a message would stop it (stty tostop), and with it all recordings of its group.
    signal(SIGTTOU, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // None can be one of the standard streams, which are always open. What is SHIM_ANSWERS now is one of these, or not needed.
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(127);
    if (answers == SHIM_ANSWERS ? fcntl(answers, F_SETFD, 0) < 0 : dup2(answers, SHIM_ANSWERS) < 0) _exit(127);
    execv(path, (char *const *)arguments);
    _exit(127);
}

int32_t shim_spawn(const char *path, const char *const *arguments, int32_t input, int32_t output, int32_t answers) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) become(path, arguments, input, output, answers, parent);
    return child < 0 ? -errno : child;
}

int32_t shim_reap(int32_t process) {
    int status;
    pid_t ended = TEMP_FAILURE_RETRY(waitpid(process, &status, WNOHANG));
    if (ended == 0) return -EAGAIN;
    // Nobody else waits for it.
    if (ended < 0) return SHIM_KILLED;
    return WIFSIGNALED(status) ? SHIM_KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int32_t shim_stop_signal(int32_t process, int32_t before) {
    siginfo_t change;
    while (1) {
        change.si_pid = 0;
        if (waitid(P_PID, (id_t)process, &change, WSTOPPED | WCONTINUED | WNOHANG) < 0 || !change.si_pid) return before;
        before = change.si_code == CLD_STOPPED ? change.si_status : 0;
    }
}

void shim_signal(int32_t process, int32_t signal) { kill(process, signal); }
