// The limit: what remains of an uploader when everything but the data's path is left out. No form, no answer's meaning,
// no timeouts, no file checks; one blocking loop. And what a client cannot do without that verifies an upload: the hash.
//
//     bare sendfile FILE PORT            sendfile(2)
//     bare write    FILE PORT            pread(2) and write(2) of 512 KiB
//     bare tls      FILE PORT CAFILE     pread(2) and SSL_write(3) of 512 KiB
//     bare sha256   FILE                 pread(2) and EVP_DigestUpdate(3) of 512 KiB, in one thread; prints the SHA-256
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUN_LENGTH = 512 << 10 };

static uint8_t run[RUN_LENGTH];
static SSL *ssl;

static int connect_to(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(descriptor, (void *)&address, sizeof address) < 0) err(1, "connect");
    return descriptor;
}

static void start_tls(int descriptor, const char *ca_file) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_file(context, ca_file) != 1) errx(1, "%s cannot be used", ca_file);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    ssl = SSL_new(context);
    if (!ssl || SSL_set_fd(ssl, descriptor) != 1 || SSL_connect(ssl) != 1) errx(1, "the handshake failed");
}

static void write_all(int descriptor, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = ssl ? SSL_write(ssl, bytes, (int)length) : write(descriptor, bytes, length);
        if (count <= 0) err(1, "write");
        bytes += count;
        length -= (size_t)count;
    }
}

static void send_runs(int descriptor, int file) {
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    ssize_t count;
    for (int64_t offset = 0; (count = pread(file, run, sizeof run, offset)) > 0; offset += count)
        write_all(descriptor, run, (size_t)count);
    if (count < 0) err(1, "read");
}

static void send_file(int descriptor, int file, int64_t size) {
    for (off_t offset = 0; offset < size;)
        if (sendfile(descriptor, file, &offset, (size_t)(size - offset)) <= 0) err(1, "sendfile");
}

static int hash(int file) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) errx(1, "no SHA-256");
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    ssize_t count;
    for (int64_t offset = 0; (count = pread(file, run, sizeof run, offset)) > 0; offset += count)
        if (EVP_DigestUpdate(context, run, (size_t)count) != 1) errx(1, "EVP_DigestUpdate failed");
    if (count < 0) err(1, "read");
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (EVP_DigestFinal_ex(context, digest, &length) != 1) errx(1, "EVP_DigestFinal_ex failed");
    for (unsigned i = 0; i < length; i++) printf("%02x", digest[i]);
    printf("\n");
    return 0;
}

int main(int count, char **arguments) {
    bool is_sendfile = count == 4 && strcmp(arguments[1], "sendfile") == 0;
    bool is_write = count == 4 && strcmp(arguments[1], "write") == 0;
    bool is_tls = count == 5 && strcmp(arguments[1], "tls") == 0;
    bool is_hash = count == 3 && strcmp(arguments[1], "sha256") == 0;
    if (!is_sendfile && !is_write && !is_tls && !is_hash)
        errx(2, "usage: bare sendfile|write|tls FILE PORT [CAFILE], or bare sha256 FILE");
    int file = open(arguments[2], O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) err(1, "%s", arguments[2]);
    if (is_hash) return hash(file);
    int descriptor = connect_to(atoi(arguments[3]));
    if (is_tls) start_tls(descriptor, arguments[4]);
    char head[256];
    int length = snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %lld\r\n\r\n",
                          (long long)status.st_size);
    write_all(descriptor, (uint8_t *)head, (size_t)length);
    if (is_sendfile) send_file(descriptor, file, status.st_size);
    else send_runs(descriptor, file);
    char answer[4096] = "";
    ssize_t received = ssl ? SSL_read(ssl, answer, sizeof answer - 1) : read(descriptor, answer, sizeof answer - 1);
    if (received <= 0 || strncmp(answer, "HTTP/1.1 201", 12) != 0) errx(1, "not accepted: %.80s", answer);
    return 0;
}
