// The one door to C. Swift code of this package reaches the operating system, OpenSSL and zlib only through the
// headers below; what needs errno, a macro, a variadic call or a platform's struct layout is wrapped here, so that
// the Swift sources are the same for the ordinary and the Embedded build and for 32 and 64 bits.
//
// Conventions: a result below zero is -errno; EINTR is retried where a retry is right; times are milliseconds.
#pragma once
#include "shim_system.h"
#include "shim_memory.h"
#include "shim_network.h"
#include "shim_process.h"
#include "shim_output.h"
#include "shim_openssl.h"
#include "shim_hashing.h"
#include "shim_zlib.h"
