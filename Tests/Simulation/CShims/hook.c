#include "../../../Sources/CShims/Process/hook.c"
