#include "../../../Sources/CShims/Process/components.c"
