// The one door to C. Swift code of this package reaches the operating system, OpenSSL and zlib only through the
// headers below. Calls that need errno, a macro, variadic arguments or a platform's struct layout are wrapped here, so
// that the same Swift sources build as ordinary and as Embedded Swift, for 32 and 64 bits.
//
// Conventions: a negative result is -errno, EINTR is retried where a retry is correct, and times are in milliseconds.
#pragma once
#include "shim_system.h"
#include "shim_memory.h"
#include "shim_network.h"
#include "shim_multicast.h"
#include "shim_process.h"
#include "shim_user.h"
#include "shim_service.h"
#include "shim_watch.h"
#include "shim_output.h"
#include "shim_openssl.h"
#include "shim_hashing.h"
#include "shim_thread.h"
#include "shim_zlib.h"
#include "shim_components.h"
#include "shim_machine_checks.h"
