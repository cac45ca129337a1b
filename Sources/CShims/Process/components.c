#include "shim_components.h"

#include <gnu/libc-version.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <zlib.h>

// Sources/Packaging/components writes the definition that the Makefile links into static binaries.
extern const char gighive_upload_components[];
__attribute__((weak)) const char gighive_upload_components[] = "";

const char *shim_components(void) { return gighive_upload_components; }

const char *shim_library_versions(void) {
    static char text[256];
    snprintf(text, sizeof text, "OpenSSL %u.%u.%u\nzlib %s\nglibc %s", OPENSSL_version_major(), OPENSSL_version_minor(),
             OPENSSL_version_patch(), zlibVersion(), gnu_get_libc_version());
    return text;
}
