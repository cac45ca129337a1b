#include "shim_user.h"
#include "shim_process.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int32_t shim_owner(const char *path, uint32_t *user, uint32_t *group) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    if (status.st_uid == 0 && S_ISLNK(status.st_mode) && stat(path, &status) < 0) return -errno;
    *user = status.st_uid;
    *group = status.st_gid;
    return 0;
}

enum { GROUPS_CAPACITY = 256 };

// The files are read without the name services of getpwuid(3), which a static binary would have to load. A user from elsewhere
// (LDAP, DynamicUser=) keeps the name and the groups that the caller has set.
static int find_user(uid_t user, gid_t *group, char *name, size_t capacity) {
    FILE *file = fopen("/etc/passwd", "re");
    if (!file) return errno == ENOENT ? 0 : -errno;
    struct passwd *entry;
    int result = 0;
    while ((entry = fgetpwent(file))) {
        if (entry->pw_uid != user) continue;
        *group = entry->pw_gid;
        snprintf(name, capacity, "%s", entry->pw_name);
        if (setenv("HOME", entry->pw_dir, 1) < 0) result = -errno;
        break;
    }
    fclose(file);
    return result;
}

// Adds the groups that name the user as a member. Without all of them, the user could read less than the service.
static int find_groups(const char *name, gid_t *groups, size_t *count) {
    FILE *file = fopen("/etc/group", "re");
    if (!file) return errno == ENOENT ? 0 : -errno;
    struct group *entry;
    int result = 0;
    while (!result && (entry = fgetgrent(file))) {
        for (char **member = entry->gr_mem; *member; member++) {
            if (strcmp(*member, name)) continue;
            if (*count < GROUPS_CAPACITY) groups[(*count)++] = entry->gr_gid;
            else result = -E2BIG;
            break;
        }
    }
    fclose(file);
    return result;
}

// Drops all capabilities but CAP_LEASE, which shows whether another user's file is being written. A watcher's processes inherit it.
static int keep_lease(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[2], kept[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capget, &header, held) < 0) return -errno;
    uint32_t lease = held[0].permitted & 1u << CAP_LEASE;
    kept[0] = (struct __user_cap_data_struct){lease, lease, lease};
    if (syscall(SYS_capset, &header, kept) < 0) return -errno;
    // Not before Linux 4.3. There only the watcher itself has it.
    if (lease) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_LEASE, 0, 0);
    return 0;
}

int32_t shim_become(uint32_t user, uint32_t group, char *name, size_t capacity) {
    gid_t groups[GROUPS_CAPACITY] = {group};
    size_t count = 1;
    name[0] = 0;
    int result = find_user(user, groups, name, capacity);
    if (!result && name[0]) result = find_groups(name, groups, &count);
    if (result) return result;
    if (prctl(PR_SET_KEEPCAPS, 1) < 0) return -errno;
    if (setresgid(groups[0], groups[0], groups[0]) < 0) return -errno;
    if (setgroups(count, groups) < 0) return -errno;
    if (setresuid(user, user, user) < 0) return -errno;
    result = keep_lease();
    // Where fs.suid_dumpable is set, the change of the user has allowed core dumps and debuggers again.
    shim_forbid_core_dumps();
    return result;
}
