#include "shim_network.h"

// Not <netinet/tcp.h>, whose tcp_info ends before most of these fields.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

// An older kernel has a shorter tcp_info.
#define FIELD(name) \
    (length >= offsetof(struct tcp_info, name) + sizeof info.name ? (int64_t)info.name : -1)

void shim_read_tcp_counts(int32_t descriptor, shim_tcp_counts *counts) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) < 0) length = 0;
    *counts = (shim_tcp_counts){
        .segments = FIELD(tcpi_data_segs_out),
        .repeated_segments = FIELD(tcpi_total_retrans),
        .duplicate_segments = FIELD(tcpi_dsack_dups),
        .round_trip = FIELD(tcpi_rtt),
        .least_round_trip = FIELD(tcpi_min_rtt),
        .busy = FIELD(tcpi_busy_time),
        .window_limited = FIELD(tcpi_rwnd_limited),
    };
}
