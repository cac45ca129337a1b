#include "../../../Sources/CShims/Process/machine_checks.c"
