#include "../../../Sources/CShims/openssl_memory.c"
