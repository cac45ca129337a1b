#include "../../../Sources/CShims/Connection/openssl_memory.c"
