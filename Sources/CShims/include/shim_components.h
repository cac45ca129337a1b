// What the program consists of. The texts have one item a line, and no newline at the end.
#pragma once

// The versions of OpenSSL, zlib and the C library, as they report them at run time.
const char *shim_library_versions(void);
// What a static binary was built from, after a newline. Empty in other builds.
const char *shim_components(void);
