// The calls of OpenSSL and zlib that fail.
#include "failing.h"

// A function of the libraries that fails with `result` and, as they do, leaves an error in the queue.
enum { LIBRARY_SSL = 20, REASON_INTERNAL = 259 | (2 << 18), REASON_MEMORY = 256 | (2 << 18) };
static void leave_error(int reason) {
    static void (*new_error)(void), (*set_error)(int, int, const char *, ...);
    if (!new_error) new_error = (void (*)(void))next("ERR_new");
    if (!set_error) set_error = (void (*)(int, int, const char *, ...))next("ERR_set_error");
    new_error();
    set_error(LIBRARY_SSL, reason, NULL);
}

#define LIBRARY_FUNCTION(type, name, failed, parameters, arguments)   \
    type name parameters {                                            \
        if (WAY(#name, FAILURE)) return (leave_error(REASON_MEMORY), failed); \
        return ((type(*) parameters)next(#name)) arguments;           \
    }

LIBRARY_FUNCTION(void *, BIO_meth_new, NULL, (int type, const char *name), (type, name))
LIBRARY_FUNCTION(int, BIO_get_new_index, -1, (void), ())
LIBRARY_FUNCTION(void *, BIO_new, NULL, (const void *method), (method))
LIBRARY_FUNCTION(int, CRYPTO_THREAD_run_once, 0, (void *once, void (*init)(void)), (once, init))
LIBRARY_FUNCTION(int, CRYPTO_set_mem_functions, 0, (void *a, void *b, void *c), (a, b, c))
LIBRARY_FUNCTION(void *, EVP_MD_CTX_new, NULL, (void), ())
LIBRARY_FUNCTION(int, EVP_DigestInit_ex, 0, (void *context, const void *type, void *e), (context, type, e))
LIBRARY_FUNCTION(int, EVP_DigestUpdate, 0, (void *context, const void *bytes, size_t length), (context, bytes, length))
LIBRARY_FUNCTION(int, EVP_DigestFinal_ex, 0, (void *context, unsigned char *d, unsigned *length), (context, d, length))
LIBRARY_FUNCTION(int, EVP_Digest, 0,
    (const void *bytes, size_t length, unsigned char *digest, unsigned *size, const void *type, void *engine),
    (bytes, length, digest, size, type, engine))
LIBRARY_FUNCTION(const char *, OPENSSL_info, NULL, (int what), (what))
LIBRARY_FUNCTION(int, OPENSSL_init_ssl, 0, (uint64_t options, const void *s), (options, s))
LIBRARY_FUNCTION(void *, SSL_CTX_new, NULL, (const void *method), (method))
LIBRARY_FUNCTION(long, SSL_CTX_ctrl, 0, (void *context, int what, long number, void *p), (context, what, number, p))
LIBRARY_FUNCTION(int, SSL_CTX_set_cipher_list, 0, (void *context, const char *list), (context, list))
LIBRARY_FUNCTION(int, SSL_CTX_set_ciphersuites, 0, (void *context, const char *list), (context, list))
LIBRARY_FUNCTION(int, SSL_CTX_load_verify_file, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_load_verify_dir, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_use_certificate_chain_file, 0, (void *context, const char *path), (context, path))
LIBRARY_FUNCTION(int, SSL_CTX_use_PrivateKey_file, 0, (void *c, const char *path, int type), (c, path, type))
LIBRARY_FUNCTION(int, SSL_CTX_check_private_key, 0, (const void *context), (context))
LIBRARY_FUNCTION(void *, SSL_new, NULL, (void *context), (context))
LIBRARY_FUNCTION(long, SSL_ctrl, 0, (void *ssl, int command, long number, void *p), (ssl, command, number, p))
LIBRARY_FUNCTION(int, SSL_set1_host, 0, (void *ssl, const char *host), (ssl, host))
LIBRARY_FUNCTION(int, X509_VERIFY_PARAM_set1_ip_asc, 0, (void *parameters, const char *ip), (parameters, ip))
LIBRARY_FUNCTION(void *, SSL_get1_peer_certificate, NULL, (const void *ssl), (ssl))
LIBRARY_FUNCTION(int, i2d_X509_PUBKEY, -1, (void *key, unsigned char **out), (key, out))
LIBRARY_FUNCTION(int, SSL_shutdown, -1, (void *ssl), (ssl))

#define STREAM_FUNCTION(name, parameters, arguments, ...)                   \
    int name parameters {                                                   \
        int way = WAY(#name, FAILURE, ##__VA_ARGS__);                       \
        if (way == FAILURE) return (leave_error(REASON_INTERNAL), -1);           \
        if (way == TRUNCATED) return (errno = 0, 0);                        \
        return ((int (*) parameters)next(#name)) arguments;                 \
    }

STREAM_FUNCTION(SSL_do_handshake, (void *ssl), (ssl), TRUNCATED)
STREAM_FUNCTION(SSL_read, (void *ssl, void *buffer, int length), (ssl, buffer, length), TRUNCATED)
STREAM_FUNCTION(SSL_write, (void *ssl, const void *buffer, int length), (ssl, buffer, length))

enum { ZLIB_MEMORY = -4 };

int inflateInit2_(void *stream, int bits, const char *version, int size) {
    if (WAY("inflateInit2", FAILURE)) return ZLIB_MEMORY;
    return ((int (*)(void *, int, const char *, int))next("inflateInit2_"))(stream, bits, version, size);
}

int inflate(void *stream, int flush) {
    if (WAY("inflate", FAILURE)) return ZLIB_MEMORY;
    return ((int (*)(void *, int))next("inflate"))(stream, flush);
}
