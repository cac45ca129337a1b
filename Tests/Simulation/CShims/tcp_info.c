#include "shim_network.h"

// Only a diagnosis asks. A simulated connection counts nothing.
void shim_read_tcp_counts(int32_t descriptor, shim_tcp_counts *counts) {
    (void)descriptor;
    *counts = (shim_tcp_counts){-1, -1, -1, -1, -1, -1, -1};
}
