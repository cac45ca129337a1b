// OpenSSL's own declarations, and what of it Swift cannot call: macros, and a BIO over a socket.
#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>

// For a program that has OpenSSL to itself, called first thing in main, before any thread and before OpenSSL is used: OpenSSL
// gets memory functions that know the memory ceiling (shim_on_out_of_memory), and will start without its configuration
// file. A process that uses the library without this call keeps its OpenSSL as it is.
void shim_openssl_take_over(void);
// Before OpenSSL is used. Where it was taken over it starts without its configuration file and without error strings (they
// cost memory that only a failure needs); elsewhere this does nothing, and OpenSSL starts as the process has it.
void shim_openssl_initialize(void);

// A BIO that gathers records and sends them together, up to `capacity` bytes a call, with MSG_NOSIGNAL. It sends when
// it is full, and what is possible when it is flushed; OpenSSL itself flushes behind handshake messages and alerts, not behind data.
// When the connection fails it asks OpenSSL to try again later and keeps the error: an SSL that has seen a write fail
// would refuse to read, and what the server said before it closed the connection must still be read (RFC 9112, 9.6).
// Does not close the socket.
BIO *shim_bio_new(int32_t descriptor, size_t capacity);
// Sends what was gathered. Returns how many bytes the socket has not taken yet.
size_t shim_bio_flush(BIO *bio);
// How many bytes it takes without having to send.
size_t shim_bio_room(BIO *bio);
// -errno of the first failure, or 0.
int32_t shim_bio_write_error(BIO *bio);
int32_t shim_bio_read_error(BIO *bio);
// Did the last read from the socket find nothing more?
int32_t shim_bio_is_drained(BIO *bio);

// Does the processor have AES instructions, as far as OpenSSL uses them (OPENSSL_ia32cap and OPENSSL_armcap count)?
int32_t shim_has_aes_instructions(void);

// SSL_CTX_set_min_proto_version(TLS 1.2), SSL_CTX_set_mode(partial and moving writes), SSL_set_tlsext_host_name.
int32_t shim_ssl_ctx_require_tls12(SSL_CTX *context);
void shim_ssl_ctx_set_modes(SSL_CTX *context);
int32_t shim_ssl_set_server_name(SSL *ssl, const char *name);
// SSL_OP_NO_RENEGOTIATION: a peer that renegotiates can stall or confuse an upload, and nobody needs to.
uint64_t shim_ssl_no_renegotiation(void);
// No partial wildcards such as "a*.example" and no look at the subject's CN (RFC 9525, 6.3 and 6.4).
uint32_t shim_x509_strict_host_flags(void);
// Does the directory hold a certificate under its hash, such as "5ed36f99.0" (openssl-rehash(1))?
int32_t shim_has_hashed_certificates(const char *directory);

// SHA-256 of the server certificate's SubjectPublicKeyInfo (RFC 7469, 2.4), 32 bytes; 0 if there is no memory for it.
int32_t shim_server_key_digest(const SSL *ssl, uint8_t digest[32]);
// The library's words for the first error in the queue, such as "wrong version number", or NULL. Empties the queue.
const char *shim_ssl_failure_text(void);
// The number of the peer's alert (RFC 8446, 6) that the first error in the queue is about, or -1. Leaves the queue alone.
int32_t shim_ssl_failure_alert(void);
// May the key of the server's certificate sign, as its key usage says (RFC 8446, 4.4.2.2)? In all suites that are offered the
// server signs. 1 also where it does not say.
int32_t shim_server_key_may_sign(const SSL *ssl);
enum {
    SHIM_CERTIFICATE_OK = 0,
    SHIM_CERTIFICATE_UNUSABLE = 1, // the queue says why, as of the next
    SHIM_KEY_UNUSABLE = 2,
    SHIM_KEY_ENCRYPTED = 3,
    SHIM_KEY_OF_ANOTHER = 4
};
// Loads the client certificate chain and its key, both PEM, and checks that they belong together. Never asks for a pass
// phrase.
int32_t shim_ssl_ctx_use_certificate(SSL_CTX *context, const char *certificate_file, const char *key_file);

enum {
    SHIM_TLS_OK = 0,
    SHIM_TLS_WANTS_READ = 1,
    SHIM_TLS_WANTS_WRITE = 2,
    SHIM_TLS_CLOSED = 3,     // close_notify
    SHIM_TLS_TRUNCATED = 4,  // the connection ended without one
    SHIM_TLS_FAILED = 5
};
// SSL_get_error in values of one type on every architecture; call it right after the operation that returned `result`.
int32_t shim_ssl_outcome(const SSL *ssl, int32_t result);
