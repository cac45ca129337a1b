#include "../World/libc.h"
// What comes from here on calls the simulated machine.
#include "../../../Sources/CShims/Process/process.c"

// Two processes of the simulated machine take turns with these variables.
void simulated_exchange_variables(simulated_variables *others) {
    simulated_variables own = {received, event, finish_received, finish_event, argument_count, arguments};
    received = others->received;
    event = others->event;
    finish_received = others->finish_received;
    finish_event = others->finish_event;
    argument_count = others->argument_count;
    arguments = others->arguments;
    *others = own;
}

// Each process adds the options anew.
void simulated_forget_options(void) {
    option_count = 0;
    letter_count = 1;
    opposites_length = 0;
    memset(letters + 1, 0, sizeof letters - 1);
}
