// The simulated machine's part of the C library: the product's own C sources are compiled against these functions, by
// macros that take the place of the real ones (see ../CShims). Everything that is not named here is the real thing and
// must neither wait nor depend on the machine.
#pragma once
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simulated_directory simulated_directory;

int simulated_open(const char *path, int flags, ...);
int simulated_openat(int directory, const char *path, int flags, ...);
/// openat2(2) alone, which has no function.
long simulated_syscall(long number, int directory, const char *path, const void *how, size_t length);
int simulated_close(int descriptor);
ssize_t simulated_read(int descriptor, void *buffer, size_t length);
ssize_t simulated_pread(int descriptor, void *buffer, size_t length, off_t offset);
ssize_t simulated_write(int descriptor, const void *buffer, size_t length);
ssize_t simulated_pwrite(int descriptor, const void *buffer, size_t length, off_t offset);
int simulated_ftruncate(int descriptor, off_t length);
int simulated_fstat(int descriptor, struct stat *status);
int simulated_fstatfs(int descriptor, struct statfs *status);
int simulated_statvfs(const char *path, struct statvfs *status);
int simulated_fsync(int descriptor);
int simulated_fchmod(int descriptor, mode_t mode);
int simulated_flock(int descriptor, int operation);
off_t simulated_lseek(int descriptor, off_t offset, int whence);
int simulated_posix_fadvise(int descriptor, off_t offset, off_t length, int advice);
int simulated_mkdir(const char *path, mode_t mode);
int simulated_rename(const char *from, const char *to);
int simulated_renameat(int from_directory, const char *from, int to_directory, const char *to);
int simulated_renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned int flags);
int simulated_linkat(int from_directory, const char *from, int to_directory, const char *to, int flags);
int simulated_fcntl(int descriptor, int command, ...);
int simulated_lstat(const char *path, struct stat *status);
int simulated_fstatat(int directory, const char *path, struct stat *status, int flags);
int simulated_stat(const char *path, struct stat *status);
int simulated_unlink(const char *path);
int simulated_unlinkat(int directory, const char *path, int flags);
simulated_directory *simulated_opendir(const char *path);
struct dirent *simulated_readdir(simulated_directory *directory);
int simulated_closedir(simulated_directory *directory);
simulated_directory *simulated_fdopendir(int descriptor);
int simulated_dirfd(simulated_directory *directory);
char *simulated_realpath(const char *path, char *buffer);
char *simulated_getcwd(char *buffer, size_t capacity);
uid_t simulated_geteuid(void);

/// Processes. What each has of its own among the variables of the C sources is exchanged when another one runs.
typedef struct {
    int received, event, finish_received, finish_event, argument_count;
    char **arguments;
} simulated_variables;
typedef struct {
    int event, has_hangup;
} simulated_watchers_variables;
void simulated_exchange_variables(simulated_variables *others);
void simulated_exchange_watchers_variables(simulated_watchers_variables *others);
void simulated_forget_options(void);
int simulated_spawn(const char *const *arguments, int input, int output, int answers);
int simulated_pipe2(int ends[2], int flags);
pid_t simulated_waitpid(pid_t process, int *status, int options);
int simulated_waitid(idtype_t kind, id_t process, siginfo_t *change, int options);
int simulated_kill(pid_t process, int signal);
pid_t simulated_getpid(void);
int simulated_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
sighandler_t simulated_signal(int signal, sighandler_t handler);
const char *simulated_getenv(const char *name);

int simulated_inotify_init1(int flags);
int simulated_inotify_add_watch(int descriptor, const char *path, uint32_t mask);
int simulated_inotify_rm_watch(int descriptor, int watch);

int simulated_clock_gettime(clockid_t clock, struct timespec *time);
time_t simulated_time(time_t *time);
struct tm *simulated_localtime_r(const time_t *time, struct tm *local);
ssize_t simulated_getrandom(void *buffer, size_t length, unsigned int flags);

int simulated_poll(struct pollfd *entries, nfds_t count, int milliseconds);
int simulated_dup(int descriptor);
int simulated_eventfd(unsigned int value, int flags);
int simulated_ioctl(int descriptor, unsigned long request, ...);
int simulated_isatty(int descriptor);
int simulated_capget(cap_user_header_t header, cap_user_data_t data);

int simulated_socket(int family, int type, int protocol);
int simulated_connect(int descriptor, const struct sockaddr *address, socklen_t length);
int simulated_setsockopt(int descriptor, int level, int name, const void *value, socklen_t length);
int simulated_getsockopt(int descriptor, int level, int name, void *value, socklen_t *length);
ssize_t simulated_send(int descriptor, const void *buffer, size_t length, int flags);
ssize_t simulated_recv(int descriptor, void *buffer, size_t length, int flags);
ssize_t simulated_sendfile(int descriptor, int file, off_t *offset, size_t length);

ssize_t simulated_sendmsg(int descriptor, const struct msghdr *message, int flags);
ssize_t simulated_recvmsg(int descriptor, struct msghdr *message, int flags);
int simulated_getifaddrs(struct ifaddrs **all);
void simulated_freeifaddrs(struct ifaddrs *all);
unsigned int simulated_if_nametoindex(const char *name);

int simulated_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found);
void simulated_freeaddrinfo(struct addrinfo *found);
int simulated_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int simulated_sched_getaffinity(pid_t process, size_t length, cpu_set_t *processors);

#ifdef __cplusplus
}
#else
#define DIR simulated_directory
#define open(...) simulated_open(__VA_ARGS__)
#define openat(...) simulated_openat(__VA_ARGS__)
#define syscall(...) simulated_syscall(__VA_ARGS__)
#define close(...) simulated_close(__VA_ARGS__)
#define read(...) simulated_read(__VA_ARGS__)
#define pread(...) simulated_pread(__VA_ARGS__)
#define write(...) simulated_write(__VA_ARGS__)
#define pwrite(...) simulated_pwrite(__VA_ARGS__)
#define ftruncate(...) simulated_ftruncate(__VA_ARGS__)
#define fstat(...) simulated_fstat(__VA_ARGS__)
#define fstatfs(...) simulated_fstatfs(__VA_ARGS__)
#define statvfs(...) simulated_statvfs(__VA_ARGS__)
#define fsync(...) simulated_fsync(__VA_ARGS__)
#define fchmod(...) simulated_fchmod(__VA_ARGS__)
#define flock(...) simulated_flock(__VA_ARGS__)
#define lseek(...) simulated_lseek(__VA_ARGS__)
#define posix_fadvise(...) simulated_posix_fadvise(__VA_ARGS__)
#define mkdir(...) simulated_mkdir(__VA_ARGS__)
#define rename(...) simulated_rename(__VA_ARGS__)
#define renameat(...) simulated_renameat(__VA_ARGS__)
#define renameat2(...) simulated_renameat2(__VA_ARGS__)
#define linkat(...) simulated_linkat(__VA_ARGS__)
#define fcntl(...) simulated_fcntl(__VA_ARGS__)
#define lstat(...) simulated_lstat(__VA_ARGS__)
#define stat(...) simulated_stat(__VA_ARGS__)
#define fstatat(...) simulated_fstatat(__VA_ARGS__)
#define unlink(...) simulated_unlink(__VA_ARGS__)
#define unlinkat(...) simulated_unlinkat(__VA_ARGS__)
#define opendir(...) simulated_opendir(__VA_ARGS__)
#define readdir(...) simulated_readdir(__VA_ARGS__)
#define closedir(...) simulated_closedir(__VA_ARGS__)
#define fdopendir(...) simulated_fdopendir(__VA_ARGS__)
#define dirfd(...) simulated_dirfd(__VA_ARGS__)
#define realpath(...) simulated_realpath(__VA_ARGS__)
#define pipe2(...) simulated_pipe2(__VA_ARGS__)
#define waitpid(...) simulated_waitpid(__VA_ARGS__)
#define waitid(...) simulated_waitid(__VA_ARGS__)
#define setrlimit(...) 0
#define kill(...) simulated_kill(__VA_ARGS__)
#define getpid(...) simulated_getpid(__VA_ARGS__)
#define sigaction(...) simulated_sigaction(__VA_ARGS__)
#define signal(...) simulated_signal(__VA_ARGS__)
#define getenv(...) simulated_getenv(__VA_ARGS__)
#define inotify_init1(...) simulated_inotify_init1(__VA_ARGS__)
#define inotify_add_watch(...) simulated_inotify_add_watch(__VA_ARGS__)
#define inotify_rm_watch(...) simulated_inotify_rm_watch(__VA_ARGS__)
#define getcwd(...) simulated_getcwd(__VA_ARGS__)
#define geteuid(...) simulated_geteuid(__VA_ARGS__)
#define clock_gettime(...) simulated_clock_gettime(__VA_ARGS__)
#define time(...) simulated_time(__VA_ARGS__)
#define localtime_r(...) simulated_localtime_r(__VA_ARGS__)
#define getrandom(...) simulated_getrandom(__VA_ARGS__)
#define poll(...) simulated_poll(__VA_ARGS__)
#define dup(...) simulated_dup(__VA_ARGS__)
#define eventfd(...) simulated_eventfd(__VA_ARGS__)
#define ioctl(...) simulated_ioctl(__VA_ARGS__)
#define isatty(...) simulated_isatty(__VA_ARGS__)
#define capget(...) simulated_capget(__VA_ARGS__)
#define socket(...) simulated_socket(__VA_ARGS__)
#define connect(...) simulated_connect(__VA_ARGS__)
#define setsockopt(...) simulated_setsockopt(__VA_ARGS__)
#define getsockopt(...) simulated_getsockopt(__VA_ARGS__)
#define send(...) simulated_send(__VA_ARGS__)
#define recv(...) simulated_recv(__VA_ARGS__)
#define sendfile(...) simulated_sendfile(__VA_ARGS__)
#define sendmsg(...) simulated_sendmsg(__VA_ARGS__)
#define recvmsg(...) simulated_recvmsg(__VA_ARGS__)
#define getifaddrs(...) simulated_getifaddrs(__VA_ARGS__)
#define freeifaddrs(...) simulated_freeifaddrs(__VA_ARGS__)
#define if_nametoindex(...) simulated_if_nametoindex(__VA_ARGS__)
#define getaddrinfo(...) simulated_getaddrinfo(__VA_ARGS__)
#define freeaddrinfo(...) simulated_freeaddrinfo(__VA_ARGS__)
#define pthread_create(...) simulated_pthread_create(__VA_ARGS__)
#define sched_getaffinity(...) simulated_sched_getaffinity(__VA_ARGS__)
#endif
