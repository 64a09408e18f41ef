#pragma once

#include <malloc.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* What Swift cannot say itself: what glibc's module leaves out, and OpenSSL's macros. */

/* accept4(2), which glibc shows only to those who ask for all of GNU; the module is compiled without. A descriptor that
   is closed on exec from its first moment cannot slip into a child process that another thread just starts. */
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

/* A key with a passphrase is refused; nobody is asked for it on a terminal. */
static inline int bellwether_no_passphrase(char *text, int size, int writing, void *context) {
  (void) text; (void) size; (void) writing; (void) context;
  return 0;
}

/* Gives the system what was freed. glibc's module leaves out <malloc.h>. */
static inline void bellwether_give_memory_back(void) { malloc_trim(0); }

/* For servers: TLS 1.2 and up, and only what is both authenticated encryption and forward secret. So nothing of a session is
   kept either, in tickets or in a cache: its key would be worth as much as all of its connections. */
static inline SSL_CTX *bellwether_tls_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (NULL == context) return NULL;
  SSL_CTX_set_default_passwd_cb(context, bellwether_no_passphrase);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
                               | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  /* Buffers of 34 KiB go while a connection is idle. */
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (1 != SSL_CTX_set_num_tickets(context, 0)
      || 1 != SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
      || 1 != SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
      || 1 != SSL_CTX_set_ciphersuites(
          context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")) {
    SSL_CTX_free(context);
    return NULL;
  }
  return context;
}
