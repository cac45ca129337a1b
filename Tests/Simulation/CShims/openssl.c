#include "../../../Sources/CShims/openssl.c"
