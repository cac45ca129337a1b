// The receiver of the bench: takes one upload after the other and throws the bodies away, faster than any client sends
// them. Plain TCP: MSG_TRUNC drops the bytes inside the kernel (tcp(7)). TLS: the handshake and the request's head are
// really decrypted; of the body, the first bytes are (so that "first body byte" means what it says), and then it hops
// from record to record by their headers. Decrypting all of it would take as long as the client's encrypting, so that
// the slower of the two would be measured instead of the client.
//
//     receiver                           plain
//     receiver CERTIFICATE KEY           TLS
//     receiver CERTIFICATE KEY decrypt   TLS, and all of it is decrypted
//
// POST /api/uploads.php is answered as GigHive does it, with the SHA-256 of a file that the bench knows.
//
// It also supports tus, with GigHive's finalize, on connections that stay: OPTIONS, POST, HEAD and PATCH at /files/. Over
// TLS that takes "decrypt", because records after a skipped one cannot be decrypted. A
// PATCH to any other path is a separate upload.
//
// Below /bucket/, it is an S3 server that takes one object in parts (over TLS with "decrypt", too), and forgets it as soon as
// it has been asked for.
//
// The first line on stdout is the port; each upload then gives a line:
// BODY-BYTES NANOSECONDS-OF-THE-FIRST-BODY-BYTE(CLOCK_MONOTONIC) CIPHER
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_CAPACITY = 64 << 10, DISCARD_LENGTH = 4 << 20, WAKE_LENGTH = 256 << 10 };

typedef struct {
    int socket;
    SSL *ssl; // NULL: plain
    char head[HEAD_CAPACITY + 1];
    size_t head_filled;
} connection;

static uint8_t scratch[DISCARD_LENGTH];
static bool may_hop = true; // from record to record

static ssize_t receive(connection *c, void *buffer, size_t length) {
    if (!c->ssl) return recv(c->socket, buffer, length, 0);
    int count = SSL_read(c->ssl, buffer, (int)length);
    return count;
}

static bool answer(connection *c, const char *text) {
    size_t length = strlen(text);
    if (c->ssl) return SSL_write(c->ssl, text, (int)length) == (int)length;
    return send(c->socket, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Lets a read sleep until WAKE_LENGTH are there. A read that took less sleeps until as many again are there, so twice
// as many must be to come.
static void wake_late(connection *c, int64_t to_come) {
    int bytes = to_come >= 2 * WAKE_LENGTH ? WAKE_LENGTH : 1;
    static int set_to = 1;
    static int set_on = -1;
    if (set_to == bytes && set_on == c->socket) return;
    setsockopt(c->socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
    set_to = bytes;
    set_on = c->socket;
}

// Bytes that a record's length counts beside its content, where that is constant: TLS 1.3 and the AEADs of 1.2.
static int record_overhead(const SSL *ssl) {
    if (SSL_version(ssl) == TLS1_3_VERSION) return 17; // tag and content type (RFC 8446, 5.2)
    const char *cipher = SSL_get_cipher_name(ssl);
    if (strstr(cipher, "GCM")) return 24;      // nonce and tag (RFC 5288)
    if (strstr(cipher, "CHACHA20")) return 16; // tag (RFC 7905)
    errx(1, "cannot hop over records of %s", cipher);
}

static int64_t discard_plain(connection *c, int64_t length) {
    int64_t left = length;
    while (left > 0) {
        wake_late(c, left);
        ssize_t count = recv(c->socket, scratch, left < DISCARD_LENGTH ? (size_t)left : DISCARD_LENGTH, MSG_TRUNC);
        if (count <= 0) break;
        left -= count;
    }
    wake_late(c, 0);
    return length - left;
}

// OpenSSL reads no further than the record that it was asked for, so the socket stands between two records here.
static int64_t discard_records(connection *c, int64_t length) {
    const int overhead = record_overhead(c->ssl);
    int64_t content = 0;
    size_t filled = 0, position = 0; // of the next header, which may lie beyond what is filled
    while (content < length || position > filled) {
        // The records' own bytes make more of it than the content alone, never less.
        wake_late(c, length - content);
        ssize_t count = recv(c->socket, scratch + filled, sizeof scratch - filled, 0);
        if (count <= 0) return content;
        filled += (size_t)count;
        while (position + 5 <= filled) {
            size_t record = (size_t)scratch[position + 3] << 8 | scratch[position + 4];
            content += (int64_t)record - overhead;
            position += 5 + record;
        }
        size_t kept = filled > position ? filled - position : 0;
        if (kept) memmove(scratch, scratch + position, kept);
        position = filled > position ? 0 : position - filled;
        filled = kept;
    }
    wake_late(c, 0);
    return content;
}

static const char *field(const char *head, const char *name) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') return line + length + 1;
    }
    return NULL;
}

// What a POST has created, or a PATCH without one; there is one at a time, and it outlives connections.
static struct {
    int64_t length, offset, first_byte;
} upload;

// Takes a request's content. `from` counts what came along with the head. Returns the bytes that came.
static int64_t take_content(connection *c, int64_t from, int64_t length, int64_t *first_byte) {
    int64_t taken = from;
    if (from > 0 && !*first_byte) *first_byte = nanoseconds();
    while (taken < length && (!*first_byte || (c->ssl && (may_hop ? SSL_pending(c->ssl) > 0 : true)))) {
        int64_t most = length - taken < DISCARD_LENGTH ? length - taken : DISCARD_LENGTH;
        ssize_t count = receive(c, scratch, *first_byte ? (size_t)most : 1);
        if (count <= 0) return taken;
        if (!*first_byte) *first_byte = nanoseconds();
        taken += count;
    }
    if (taken < length) taken += c->ssl ? discard_records(c, length - taken) : discard_plain(c, length - taken);
    return taken;
}

static void report(connection *c, int64_t taken, int64_t length, int64_t first_byte) {
    if (taken != length) printf("%lld of %lld bytes\n", (long long)taken, (long long)length);
    else printf("%lld %lld %s\n", (long long)taken, (long long)first_byte, c->ssl ? SSL_get_cipher_name(c->ssl) : "-");
}

// GigHive's answer to an upload. The bytes were discarded, so the bench passes their SHA-256: $DIGESTS
// has LENGTH:HEX for each file, separated by commas. Around the file, `length` may count a form of up to FORM_LENGTH.
enum { FORM_LENGTH = 4096 };

static bool confirm(connection *c, int64_t length, const char *more) {
    char answer_text[768], body[512];
    const char *hex = NULL;
    int64_t size = -1;
    for (const char *entry = getenv("DIGESTS"); entry; entry = strchr(entry, ',')) {
        if (*entry == ',') entry++;
        int64_t found = atoll(entry);
        if (found > length || found < length - FORM_LENGTH || found <= size) continue;
        size = found;
        hex = strchr(entry, ':') + 1;
    }
    if (!hex) errx(1, "no digest of a file of %lld bytes", (long long)length);
    int count = snprintf(body, sizeof body,
                         "{\"id\":1,\"asset_id\":1,\"event_id\":1,\"event_item_id\":1,\"position\":1,\"file_name\":\"1.mp4\","
                         "\"file_type\":\"video\",\"mime_type\":\"video/mp4\",\"size_bytes\":%lld,\"checksum_sha256\":\"%.64s\"}",
                         (long long)size, hex);
    snprintf(answer_text, sizeof answer_text,
             "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", more, count, body);
    return answer(c, answer_text);
}

#define TUS "Tus-Resumable: 1.0.0\r\n"

static bool answer_offset(connection *c, const char *status, const char *more) {
    char text[512];
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\n" TUS "Upload-Offset: %lld\r\nUpload-Length: %lld\r\n%s\r\n", status,
             (long long)upload.offset, (long long)upload.length, more);
    return answer(c, text);
}

// The object that is sent in parts.
static struct {
    int64_t taken, first_byte;
    char token[64]; // of the upload, which the object's metadata repeat
    bool is_there;
} object;

typedef enum { NO_OBJECT, OBJECT_QUESTION, OBJECT_CREATION, OBJECT_PART, OBJECT_JOIN } object_request;

static object_request object_request_of(const char *head) {
    const char *path = strchr(head, ' ');
    if (!path || strncmp(path, " /bucket/", 9) != 0) return NO_OBJECT;
    if (strncmp(head, "HEAD ", 5) == 0) return OBJECT_QUESTION;
    if (strncmp(head, "PUT ", 4) == 0 && strstr(head, "&partNumber=")) return OBJECT_PART;
    if (strncmp(head, "POST ", 5) != 0) errx(1, "not a request for an object in parts: %.200s", head);
    return strstr(head, "?uploads=") ? OBJECT_CREATION : OBJECT_JOIN;
}

static bool answer_xml(connection *c, const char *root, const char *content) {
    char text[1024], body[512];
    int count = snprintf(body, sizeof body, "<%s xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">%s</%s>", root, content, root);
    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s", count, body);
    return answer(c, text);
}

static bool answer_of_object(connection *c, object_request request) {
    char text[512];
    switch (request) {
    case OBJECT_CREATION: return answer_xml(c, "InitiateMultipartUploadResult", "<UploadId>1</UploadId>");
    case OBJECT_PART:
        return answer(c, "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nContent-Length: 0\r\n\r\n");
    case OBJECT_JOIN:
        object.is_there = true;
        report(c, object.taken, object.taken, object.first_byte);
        return answer_xml(c, "CompleteMultipartUploadResult", "<ETag>\"1-1\"</ETag>");
    default:
        if (!object.is_there) return answer(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        object.is_there = false;
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nETag: \"1-1\"\r\nContent-Length: %lld\r\nx-amz-meta-gighive-upload: %s\r\n\r\n",
                 (long long)object.taken, object.token);
        return answer(c, text);
    }
}

// One request. Returns whether another one can follow on the connection.
static bool serve(connection *c) {
    char *end = NULL;
    while (!(end = strstr(c->head, "\r\n\r\n"))) {
        if (c->head_filled == HEAD_CAPACITY) errx(1, "the request's head is too long");
        ssize_t count = receive(c, c->head + c->head_filled, HEAD_CAPACITY - c->head_filled);
        if (count <= 0) return false; // A connection without a request is no upload.
        c->head_filled += (size_t)count;
        c->head[c->head_filled] = 0;
    }
    const bool is_patch = strncmp(c->head, "PATCH ", 6) == 0, is_head = strncmp(c->head, "HEAD ", 5) == 0;
    const bool is_options = strncmp(c->head, "OPTIONS ", 8) == 0;
    const bool is_finalize = strncmp(c->head, "POST /api/uploads/finalize ", 27) == 0;
    const bool is_form = strncmp(c->head, "POST /api/uploads.php", 21) == 0;
    const bool is_known = strncmp(c->head, "PATCH /files/", 13) == 0;
    int64_t came = (int64_t)c->head_filled - (end + 4 - c->head);
    end[2] = 0;
    const object_request of_object = object_request_of(c->head);
    if (of_object == OBJECT_CREATION) {
        object.taken = object.first_byte = 0;
        const char *token = field(c->head, "x-amz-meta-gighive-upload");
        if (!token || sscanf(token, " %63[^\r\n]", object.token) != 1) errx(1, "an upload without a token");
    }
    const bool is_creation = strncmp(c->head, "POST ", 5) == 0 && field(c->head, "Upload-Length");
    const char *length_field = field(c->head, "Content-Length");
    int64_t length = length_field ? atoll(length_field) : 0;
    if (!length_field && !is_options && !is_head) errx(1, "a request without Content-Length: %.200s", c->head);
    if (field(c->head, "Expect") && !answer(c, "HTTP/1.1 100 Continue\r\n\r\n")) return false;
    if (is_creation) {
        upload.length = atoll(field(c->head, "Upload-Length"));
        upload.offset = upload.first_byte = 0;
    } else if (is_patch && !is_known) {
        upload.length = length;
        upload.offset = upload.first_byte = 0;
    }
    int64_t of_request = came < length ? came : length, first_byte = 0;
    const bool is_tus = is_patch || is_creation;
    int64_t *first = of_object == OBJECT_PART ? &object.first_byte : is_tus && length > 0 ? &upload.first_byte : &first_byte;
    int64_t taken = take_content(c, of_request, length, first);
    if (of_object == OBJECT_PART) object.taken += taken;
    // The part of the next request that arrived along with this one.
    memmove(c->head, end + 4 + of_request, (size_t)(came - of_request));
    c->head_filled = (size_t)(came - of_request);
    c->head[c->head_filled] = 0;
    if (of_object) return taken == length && answer_of_object(c, of_object);
    if (is_options) return answer(c, "HTTP/1.1 204 No Content\r\n" TUS "Tus-Version: 1.0.0\r\n"
                                     "Tus-Extension: creation,creation-with-upload,termination\r\n\r\n");
    if (is_head) return answer_offset(c, "200 OK", "Content-Length: 0\r\nCache-Control: no-store\r\n");
    if (is_finalize) return confirm(c, upload.length, "");
    if (!is_tus) {
        report(c, taken, length, first_byte);
        if (taken != length) return false;
        if (is_form) confirm(c, length, "Connection: close\r\n");
        else answer(c, "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                       "Connection: close\r\n\r\n{}");
        return false;
    }
    upload.offset += taken;
    if (taken != length || upload.offset == upload.length) report(c, upload.offset, upload.length, upload.first_byte);
    if (taken != length) return false;
    if (is_creation) return answer_offset(c, "201 Created", "Location: /files/1\r\nContent-Length: 0\r\n");
    return answer_offset(c, "204 No Content", "");
}

static void end(connection *c) {
    if (c->ssl) SSL_shutdown(c->ssl);
    shutdown(c->socket, SHUT_WR);
    while (recv(c->socket, scratch, sizeof scratch, MSG_TRUNC) > 0) {}
    if (c->ssl) SSL_free(c->ssl);
    close(c->socket);
}

static SSL_CTX *make_context(const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        errx(1, "the certificate or its key cannot be used");
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE); // as Apache and nginx are mostly set up
    if (!may_hop) { // Then many records are read with one call.
        SSL_CTX_set_read_ahead(context, 1);
        SSL_CTX_set_default_read_buffer_len(context, WAKE_LENGTH);
    }
    return context;
}

int main(int count, char **arguments) {
    may_hop = !(count == 4 && strcmp(arguments[3], "decrypt") == 0);
    if (count != 1 && count != 3 && may_hop) errx(2, "usage: receiver [CERTIFICATE KEY [decrypt]]");
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    SSL_CTX *context = count >= 3 ? make_context(arguments[1], arguments[2]) : NULL;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (void *)&address, sizeof address) < 0 || listen(listener, 16) < 0) err(1, "listen");
    getsockname(listener, (void *)&address, &length);
    printf("%u\n", ntohs(address.sin_port));
    static connection c;
    for (;;) {
        c.socket = accept(listener, NULL, NULL);
        if (c.socket < 0) err(1, "accept");
        int on = 1;
        setsockopt(c.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        c.ssl = context ? SSL_new(context) : NULL;
        bool is_ready = !context || (SSL_set_fd(c.ssl, c.socket) == 1 && SSL_accept(c.ssl) == 1);
        c.head_filled = 0;
        c.head[0] = 0;
        while (is_ready && serve(&c)) {}
        end(&c);
    }
}
