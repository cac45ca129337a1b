// OpenSSL's own declarations, wrappers for the macros that Swift cannot call, and a BIO over a socket.
#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>

// For a program that owns OpenSSL. Call it first in main, before any thread starts and before OpenSSL is used. OpenSSL then
// uses allocation functions that respect the memory ceiling (shim_on_out_of_memory), and starts without its configuration
// file. Without this call, OpenSSL stays as the host process has set it up.
void shim_openssl_take_over(void);
// Call it before OpenSSL is used. If OpenSSL was taken over, it starts without its configuration file and without most error
// strings, which cost memory that only a failure needs. Otherwise this does nothing.
void shim_openssl_initialize(void);

// A BIO that gathers records and sends them together, up to `capacity` bytes per call, with MSG_NOSIGNAL. It sends when it is
// full, and as much as possible when it is flushed. OpenSSL itself flushes after handshake messages and alerts, not after data.
// When the connection fails, it tells OpenSSL to retry and keeps the error. An SSL that has seen a failed write refuses to
// read, but a response that the server sent before it closed the connection must still be read (RFC 9112, 9.6).
// It does not close the socket.
BIO *shim_bio_new(int32_t descriptor, size_t capacity);
// Sends the gathered bytes. Returns how many the socket has not accepted yet.
size_t shim_bio_flush(BIO *bio);
// How many bytes it accepts before it must send.
size_t shim_bio_room(BIO *bio);
// -errno of the first failure, or 0.
int32_t shim_bio_write_error(BIO *bio);
int32_t shim_bio_read_error(BIO *bio);
// Whether the last read from the socket found no more data.
int32_t shim_bio_is_drained(BIO *bio);

// Whether the processor has AES instructions that OpenSSL uses (respecting OPENSSL_ia32cap and OPENSSL_armcap).
int32_t shim_has_aes_instructions(void);

// SSL_CTX_set_min_proto_version(TLS 1.2), SSL_CTX_set_mode(partial and moving writes), SSL_set_tlsext_host_name.
int32_t shim_ssl_ctx_require_tls12(SSL_CTX *context);
void shim_ssl_ctx_set_modes(SSL_CTX *context);
int32_t shim_ssl_set_server_name(SSL *ssl, const char *name);
// Sends records with at most so much content, and frees the buffers after each (SSL_MODE_RELEASE_BUFFERS).
void shim_ssl_save_memory(SSL *ssl, size_t content_length);
// Offers the key exchange X25519MLKEM768, which a future quantum computer cannot break (draft-ietf-tls-ecdhe-mlkem), besides
// the classical ones. Returns 0 where OpenSSL does not know it (before 3.5).
int32_t shim_ssl_ctx_offer_hybrid(SSL_CTX *context);
// Offers the classical ones only, for one connection. Returns 1 or 0 (no memory).
int32_t shim_ssl_offer_classical(SSL *ssl);
// The name of the key exchange group, such as "x25519", or NULL before the handshake is done.
const char *shim_ssl_group(SSL *ssl);
// SSL_OP_NO_RENEGOTIATION: renegotiation can stall or confuse an upload, and nothing needs it.
uint64_t shim_ssl_no_renegotiation(void);
// No partial wildcards such as "a*.example", and the subject's CN is ignored (RFC 9525, 6.3 and 6.4).
uint32_t shim_x509_strict_host_flags(void);
// Whether the directory holds a certificate under its hash, such as "5ed36f99.0" (openssl-rehash(1)).
int32_t shim_has_hashed_certificates(const char *directory);

// SHA-256 of the server certificate's SubjectPublicKeyInfo (RFC 7469, 2.4), 32 bytes. Returns 0 if there is no memory for it.
int32_t shim_server_key_digest(const SSL *ssl, uint8_t digest[32]);
// How many certificates the server has shown: its own first, then those of its issuers.
int32_t shim_certificate_count(const SSL *ssl);
// The name in one of them, or that of its issuer: the common name, or else the organization; in the encoding of the
// certificate, into a buffer with a NUL at its end. Returns its length; 0 if there is none.
int32_t shim_certificate_name(const SSL *ssl, int32_t index, int32_t of_issuer, char *buffer, int32_t capacity);
// When it becomes valid, and when it expires; in seconds since 1970. 0 if it has no readable time.
int64_t shim_certificate_start(const SSL *ssl, int32_t index);
int64_t shim_certificate_end(const SSL *ssl, int32_t index);
// The hosts that the server's certificate is for (subjectAltName), as "gighive.example, 192.0.2.7", into a buffer with a NUL at
// its end; as many as fit. Returns the length of the text.
int32_t shim_server_host_names(const SSL *ssl, char *buffer, int32_t capacity);
// OpenSSL's text for the first error in the queue, such as "wrong version number", or NULL. Empties the queue.
const char *shim_ssl_failure_text(void);
// The number of the peer's alert (RFC 8446, 6) in the first error of the queue, or -1. Does not change the queue.
int32_t shim_ssl_failure_alert(void);
// Whether the key usage of the server's certificate allows signing (RFC 8446, 4.4.2.2). In all offered suites the server
// signs. 1 also if there is no key usage.
int32_t shim_server_key_may_sign(const SSL *ssl);
enum {
    SHIM_CERTIFICATE_OK = 0,
    SHIM_CERTIFICATE_UNUSABLE = 1, // the queue says why; so for the next two
    SHIM_KEY_UNUSABLE = 2,
    SHIM_KEY_ENCRYPTED = 3,
    SHIM_KEY_OF_ANOTHER = 4
};
// Loads the client certificate chain and its key, both PEM, and checks that they match. Never asks for a
// passphrase.
int32_t shim_ssl_ctx_use_certificate(SSL_CTX *context, const char *certificate_file, const char *key_file);

enum {
    SHIM_TLS_OK = 0,
    SHIM_TLS_WANTS_READ = 1,
    SHIM_TLS_WANTS_WRITE = 2,
    SHIM_TLS_CLOSED = 3,     // close_notify
    SHIM_TLS_TRUNCATED = 4,  // the connection ended without one
    SHIM_TLS_FAILED = 5
};
// SSL_get_error with the same type on every architecture. Call it right after the operation that returned `result`.
int32_t shim_ssl_outcome(const SSL *ssl, int32_t result);
