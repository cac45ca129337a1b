#include "shim_openssl.h"
#include "shim_memory.h"
#include "shim_network.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/pemerr.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int descriptor;
    int32_t write_error;
    int32_t read_error;
    int32_t is_drained; // the last read found no data
    size_t capacity;
    size_t start; // the gathered bytes are start ..< end
    size_t end;
    uint8_t gathered[];
} socket_state;

static void keep_error(int32_t *slot, int64_t error) {
    if (error != -EAGAIN && *slot == 0) *slot = (int32_t)error;
}

size_t shim_bio_flush(BIO *bio) {
    socket_state *state = BIO_get_data(bio);
    // After an error nothing is sent any more, and must not be counted as sent.
    while (state->write_error == 0 && state->start < state->end) {
        int64_t count = shim_send(state->descriptor, state->gathered + state->start, state->end - state->start);
        if (count < 0) {
            keep_error(&state->write_error, count);
            return state->end - state->start;
        }
        state->start += (size_t)count;
    }
    if (state->write_error != 0) return state->end - state->start;
    state->start = state->end = 0;
    return 0;
}

size_t shim_bio_room(BIO *bio) {
    socket_state *state = BIO_get_data(bio);
    return state->capacity - state->end;
}

static int socket_write(BIO *bio, const char *bytes, int length) {
    socket_state *state = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if ((size_t)length > state->capacity) return -1;
    if (state->capacity - state->end < (size_t)length && shim_bio_flush(bio) > 0) {
        BIO_set_retry_write(bio);
        return -1;
    }
    memcpy(state->gathered + state->end, bytes, (size_t)length);
    state->end += (size_t)length;
    return length;
}

static int socket_read(BIO *bio, char *bytes, int length) {
    socket_state *state = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    int64_t count = shim_receive(state->descriptor, bytes, (size_t)length);
    state->is_drained = count <= 0;
    if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    if (count >= 0) return (int)count;
    keep_error(&state->read_error, count);
    BIO_set_retry_read(bio);
    return -1;
}

static long socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH:
        // What the socket does not accept now is left for the next shim_bio_flush. A failure here would end a handshake,
        // because the buffer that OpenSSL puts in front of this BIO does not pass "retry" on.
        shim_bio_flush(bio);
        return 1;
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    default: return 0;
    }
}

static int socket_destroy(BIO *bio) {
    free(BIO_get_data(bio));
    BIO_set_data(bio, NULL);
    return 1;
}

static BIO_METHOD *socket_method;

static void make_socket_method(void) {
    socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (!socket_method) return;
    BIO_meth_set_write(socket_method, socket_write);
    BIO_meth_set_read(socket_method, socket_read);
    BIO_meth_set_ctrl(socket_method, socket_control);
    BIO_meth_set_destroy(socket_method, socket_destroy);
}

BIO *shim_bio_new(int32_t descriptor, size_t capacity) {
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    if (!CRYPTO_THREAD_run_once(&once, make_socket_method) || !socket_method) return NULL;
    // Its pages become resident when they are first used.
    socket_state *state = shim_allocate(sizeof *state + capacity);
    BIO *bio = state ? BIO_new(socket_method) : NULL;
    if (!bio) {
        free(state);
        return NULL;
    }
    *state = (socket_state){.descriptor = descriptor, .capacity = capacity};
    BIO_set_data(bio, state);
    BIO_set_init(bio, 1);
    return bio;
}

int32_t shim_bio_write_error(BIO *bio) { return ((socket_state *)BIO_get_data(bio))->write_error; }
int32_t shim_bio_read_error(BIO *bio) { return ((socket_state *)BIO_get_data(bio))->read_error; }
int32_t shim_bio_is_drained(BIO *bio) { return ((socket_state *)BIO_get_data(bio))->is_drained; }

int32_t shim_has_aes_instructions(void) {
    // "OPENSSL_ia32cap=0x7ffaf3bfffebffff:0x…" (bit 57 is AES-NI) or "OPENSSL_armcap=0x…" (bit 2 is ARMV8_AES).
    const char *settings = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
    if (!settings) return 0;
    const char *value = strchr(settings, '=');
    unsigned long long bits = value ? strtoull(value + 1, NULL, 16) : 0;
    if (strncmp(settings, "OPENSSL_ia32cap", 15) == 0) return (int32_t)(bits >> 57 & 1);
    if (strncmp(settings, "OPENSSL_armcap", 14) == 0) return (int32_t)(bits >> 2 & 1);
    return 0;
}

int32_t shim_ssl_ctx_require_tls12(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

void shim_ssl_ctx_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // A server that keeps sending session tickets must not keep SSL_read from returning.
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
}

void shim_ssl_save_memory(SSL *ssl, size_t content_length) {
    SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_set_max_send_fragment(ssl, (long)content_length);
}

int32_t shim_ssl_set_server_name(SSL *ssl, const char *name) { return (int32_t)SSL_set_tlsext_host_name(ssl, name); }

// OpenSSL's own choice, written out: the tuples are separated by slashes, and a key share is sent for each group with a star.
#define CLASSICAL_GROUPS "X25519:secp256r1:X448:secp384r1:secp521r1:ffdhe2048:ffdhe3072"
#define HYBRID_GROUPS "*X25519MLKEM768/*X25519:secp256r1/X448:secp384r1:secp521r1/ffdhe2048:ffdhe3072"

int32_t shim_ssl_ctx_offer_hybrid(SSL_CTX *context) {
    int is_known = SSL_CTX_set1_groups_list(context, HYBRID_GROUPS) == 1;
    if (!is_known) ERR_clear_error();
    return is_known;
}

int32_t shim_ssl_offer_classical(SSL *ssl) { return SSL_set1_groups_list(ssl, CLASSICAL_GROUPS) == 1; }

const char *shim_ssl_group(SSL *ssl) {
    int group = SSL_get_negotiated_group(ssl);
    return group > 0 ? SSL_group_to_name(ssl, group) : NULL;
}

uint64_t shim_ssl_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }

uint32_t shim_x509_strict_host_flags(void) {
    return X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
}

int32_t shim_has_hashed_certificates(const char *directory) {
    DIR *entries = opendir(directory);
    if (!entries && errno == ENOMEM) shim_out_of_memory();
    if (!entries) return 0;
    int found = 0;
    for (struct dirent *entry; !found && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        found = strlen(name) == 10 && strspn(name, "0123456789abcdef") == 8 && name[8] == '.';
    }
    closedir(entries);
    return found;
}

int32_t shim_server_key_digest(const SSL *ssl, uint8_t digest[32]) {
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    if (!certificate) return 0;
    uint8_t *encoded = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    int done = length > 0 && EVP_Digest(encoded, (size_t)length, digest, NULL, EVP_sha256(), NULL);
    OPENSSL_free(encoded);
    X509_free(certificate);
    return done;
}

// The certificate belongs to the connection.
static X509 *shown_certificate(const SSL *ssl, int32_t index) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    return index < sk_X509_num(chain) ? sk_X509_value(chain, index) : NULL;
}

int32_t shim_certificate_count(const SSL *ssl) {
    int count = sk_X509_num(SSL_get_peer_cert_chain(ssl));
    return count < 0 ? 0 : count;
}

int32_t shim_certificate_name(const SSL *ssl, int32_t index, int32_t of_issuer, char *buffer, int32_t capacity) {
    X509 *certificate = shown_certificate(ssl, index);
    if (!certificate) return 0;
    X509_NAME *name = of_issuer ? X509_get_issuer_name(certificate) : X509_get_subject_name(certificate);
    int length = X509_NAME_get_text_by_NID(name, NID_commonName, buffer, capacity);
    if (length <= 0) length = X509_NAME_get_text_by_NID(name, NID_organizationName, buffer, capacity);
    return length < 0 ? 0 : length;
}

int32_t shim_server_host_names(const SSL *ssl, char *buffer, int32_t capacity) {
    X509 *certificate = shown_certificate(ssl, 0);
    GENERAL_NAMES *names = certificate ? X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL) : NULL;
    int32_t length = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);
        const unsigned char *bytes = ASN1_STRING_get0_data(value);
        char text[256];
        if (type == GEN_DNS) {
            snprintf(text, sizeof text, "%.*s", ASN1_STRING_length(value), (const char *)bytes);
        } else if (type == GEN_IPADD && (ASN1_STRING_length(value) == 4 || ASN1_STRING_length(value) == 16)) {
            inet_ntop(ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
        } else {
            continue;
        }
        int written = snprintf(buffer + length, (size_t)(capacity - length), "%s%s", length ? ", " : "", text);
        if (written >= capacity - length) {
            // Not a part of a name.
            buffer[length] = 0;
            break;
        }
        length += written;
    }
    GENERAL_NAMES_free(names);
    return length;
}

static int64_t seconds_of(const ASN1_TIME *time) {
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0;
    int seconds = 0;
    int done = epoch && time && ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return done ? (int64_t)days * 86400 + seconds : 0;
}

int64_t shim_certificate_start(const SSL *ssl, int32_t index) {
    X509 *certificate = shown_certificate(ssl, index);
    return certificate ? seconds_of(X509_get0_notBefore(certificate)) : 0;
}

int64_t shim_certificate_end(const SSL *ssl, int32_t index) {
    X509 *certificate = shown_certificate(ssl, index);
    return certificate ? seconds_of(X509_get0_notAfter(certificate)) : 0;
}

const char *shim_ssl_failure_text(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    // Deprecated in favour of OPENSSL_init_crypto, which would no longer load them after NO_LOAD.
    ERR_load_X509_strings();
    ERR_load_PEM_strings();
    ERR_load_ASN1_strings();
    ERR_load_EVP_strings();
    ERR_load_ERR_strings();
    ERR_load_BIO_strings();
    ERR_load_RSA_strings();
    ERR_load_EC_strings();
    ERR_load_CRYPTO_strings();
    ERR_load_X509V3_strings();
#pragma GCC diagnostic pop
    unsigned long first = ERR_get_error();
    ERR_clear_error();
    if (!first) return NULL;
    if (ERR_SYSTEM_ERROR(first)) return strerror(ERR_GET_REASON(first));
    const char *reason = ERR_reason_error_string(first);
    if (reason) {
        // "sslv3 alert handshake failure": SSL 3 is not used, and the rest is the name of the alert.
        static const char *const prefixes[] = {"ssl/tls alert ", "sslv3 alert ", "tlsv1 alert ", "tlsv13 alert ", "tlsv1 "};
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
            if (strncmp(reason, prefixes[i], strlen(prefixes[i])) == 0) return reason + strlen(prefixes[i]);
        }
        return reason;
    }
    static _Thread_local char number[32];
    snprintf(number, sizeof number, "OpenSSL error %lX", first);
    return number;
}

int32_t shim_ssl_failure_alert(void) {
    unsigned long first = ERR_peek_error();
    int reason = ERR_GET_REASON(first);
    int is_alert = ERR_GET_LIB(first) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET;
    return is_alert ? reason - SSL_AD_REASON_OFFSET : -1;
}

int32_t shim_server_key_may_sign(const SSL *ssl) {
    X509 *certificate = SSL_get1_peer_certificate(ssl);
    // Every bit is set if the certificate has no such extension.
    uint32_t usage = certificate ? X509_get_key_usage(certificate) : 0;
    X509_free(certificate);
    return (usage & KU_DIGITAL_SIGNATURE) != 0;
}

static int note_pass_phrase(char *buffer, int size, int writing, void *was_wanted) {
    (void)buffer;
    (void)size;
    (void)writing;
    *(int *)was_wanted = 1;
    return -1;
}

int32_t shim_ssl_ctx_use_certificate(SSL_CTX *context, const char *certificate_file, const char *key_file) {
    int was_wanted = 0;
    SSL_CTX_set_default_passwd_cb(context, note_pass_phrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &was_wanted);
    int32_t result = SHIM_CERTIFICATE_OK;
    if (SSL_CTX_use_certificate_chain_file(context, certificate_file) != 1) {
        result = SHIM_CERTIFICATE_UNUSABLE;
    } else if (SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1) {
        int reason = ERR_GET_REASON(ERR_peek_last_error());
        int is_other = reason == X509_R_KEY_VALUES_MISMATCH;
        // A cipher that this OpenSSL does not have, such as 3DES
        int is_encrypted = was_wanted || reason == PEM_R_UNSUPPORTED_ENCRYPTION;
        result = is_encrypted ? SHIM_KEY_ENCRYPTED : is_other ? SHIM_KEY_OF_ANOTHER : SHIM_KEY_UNUSABLE;
    } else if (SSL_CTX_check_private_key(context) != 1) {
        result = SHIM_KEY_OF_ANOTHER;
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    return result;
}

int32_t shim_ssl_outcome(const SSL *ssl, int32_t result) {
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_NONE: return SHIM_TLS_OK;
    case SSL_ERROR_WANT_READ: return SHIM_TLS_WANTS_READ;
    case SSL_ERROR_WANT_WRITE: return SHIM_TLS_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN: return SHIM_TLS_CLOSED;
    case SSL_ERROR_SSL:
        if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return SHIM_TLS_TRUNCATED;
        return SHIM_TLS_FAILED;
    case SSL_ERROR_SYSCALL: return SHIM_TLS_TRUNCATED;
    default: return SHIM_TLS_FAILED;
    }
}
