#include "../../../Sources/CShims/Connection/openssl.c"
