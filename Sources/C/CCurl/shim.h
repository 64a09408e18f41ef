#pragma once

/* The macros that check an option's type do so for constant options only; the functions below do it for good. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* What Swift cannot say itself: the variadic functions of libcurl, given fixed arguments. */

static inline CURLcode bellwether_curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode bellwether_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode bellwether_curl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode bellwether_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode bellwether_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

/* CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
typedef size_t (*bellwether_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode bellwether_curl_set_receiver(CURL *handle, CURLoption option, bellwether_curl_receiver value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode bellwether_curl_get_number(CURL *handle, CURLINFO what, long *value) {
  return curl_easy_getinfo(handle, what, value);
}
