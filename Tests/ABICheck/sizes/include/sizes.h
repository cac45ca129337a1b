// What the C compiler makes of the structs that Swift and C hand each other.
#pragma once
#include <stdint.h>

typedef struct {
    uint32_t size;
    uint32_t alignment;
} abi_layout;

abi_layout abi_file_status(void);
abi_layout abi_address(void);
// Offsets of the fields whose place depends on the width of the architecture.
uint32_t abi_offset_of_file_size(void);
uint32_t abi_offset_of_address_length(void);
// sizeof(off_t) and sizeof(time_t) as CShims is compiled: 8 where files over 2 GiB and years after 2038 work.
uint32_t abi_size_of_file_offset(void);
uint32_t abi_size_of_time(void);
