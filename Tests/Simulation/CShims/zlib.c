#include "../../../Sources/CShims/zlib.c"
