#include "../../../Sources/CShims/Process/user.c"
