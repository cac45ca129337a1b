// replay TARGET FILE...: says which file it is at, so that the last one is known when a rule is broken.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool run_target(const char *name, const uint8_t *bytes, size_t count);

static uint8_t content[1 << 20];

int main(int count, char **arguments) {
    for (int i = 2; i < count; i++) {
        FILE *file = fopen(arguments[i], "r");
        if (!file) return 2;
        size_t length = fread(content, 1, sizeof content, file);
        fclose(file);
        puts(arguments[i]);
        fflush(stdout);
        if (!run_target(arguments[1], content, length)) return 3;
    }
    return 0;
}
