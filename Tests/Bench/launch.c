// Writes the time (CLOCK_MONOTONIC, nanoseconds) to descriptor 3 and becomes the program that it is given: what is
// measured begins at that program's exec, without the cost of the driver's fork.
//
//     launch PROGRAM ARGUMENT...
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2) return 2;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    dprintf(3, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec);
    close(3);
    execvp(arguments[1], arguments + 1);
    return 127;
}
