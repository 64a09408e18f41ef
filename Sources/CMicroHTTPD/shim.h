#pragma once

#include <microhttpd.h>

/* What Swift cannot say itself: variadic functions of libmicrohttpd, given fixed arguments. */

/* The callbacks and limits of a daemon; `context` is handed to each callback. */
struct bellwether_daemon_options {
  void *context;
  MHD_LogCallback log;
  MHD_AccessHandlerCallback answer;
  void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback request_completed;
  MHD_NotifyConnectionCallback connection_changed;
  size_t memory_per_connection;
  unsigned int connection_limit;
  unsigned int threads;
  /* PEM texts, or both NULL for plain HTTP. */
  const char *certificate;
  const char *private_key;
};

/* A daemon with its own threads and no listen socket: connections come by MHD_add_connection. */
static inline struct MHD_Daemon *
bellwether_start_daemon(const struct bellwether_daemon_options *options) {
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME
                       | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
  struct MHD_OptionItem tls[] = {
    { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) options->certificate },
    { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) options->private_key },
    { MHD_OPTION_END, 0, NULL },
  };
  struct MHD_OptionItem pool[] = {
    /* A pool of one is refused with a warning: one thread is no pool. */
    { options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t) options->threads, NULL },
    { MHD_OPTION_END, 0, NULL },
  };
  if (NULL != options->certificate)
    flags |= MHD_USE_TLS;
  else
    tls[0].option = MHD_OPTION_END;
  return MHD_start_daemon(
      flags, 0, NULL, NULL, options->answer, options->context,
      MHD_OPTION_EXTERNAL_LOGGER, options->log, options->context,
      MHD_OPTION_URI_LOG_CALLBACK, options->request_line, options->context,
      MHD_OPTION_NOTIFY_COMPLETED, options->request_completed, options->context,
      MHD_OPTION_NOTIFY_CONNECTION, options->connection_changed, options->context,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->memory_per_connection,
      MHD_OPTION_CONNECTION_LIMIT, options->connection_limit,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_ARRAY, tls,
      MHD_OPTION_ARRAY, pool,
      MHD_OPTION_END);
}

/* What MHD_OPTION_NOTIFY_CONNECTION stored for this connection; NULL if nothing. */
static inline void *bellwether_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return NULL == info ? NULL : info->socket_context;
}

static inline int bellwether_connection_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return NULL == info ? -1 : info->connect_fd;
}

/* Bytes of the request line and header fields as they came. */
static inline size_t bellwether_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return NULL == info ? 0 : info->header_size;
}

/* accept4(2), which glibc shows only to those who ask for all of GNU; the module is compiled without. A descriptor that
   is closed on exec from its first moment cannot slip into a child process that another thread just starts. */
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
