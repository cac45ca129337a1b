#include "sizes.h"

#include <CShims.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define LAYOUT(type) ((abi_layout){sizeof(type), _Alignof(type)})

abi_layout abi_file_status(void) { return LAYOUT(shim_file_status); }
abi_layout abi_address(void) { return LAYOUT(shim_address); }
uint32_t abi_offset_of_file_size(void) { return offsetof(shim_file_status, size); }
uint32_t abi_offset_of_address_length(void) { return offsetof(shim_address, length); }
uint32_t abi_size_of_file_offset(void) { return sizeof(off_t); }
uint32_t abi_size_of_time(void) { return sizeof(time_t); }
