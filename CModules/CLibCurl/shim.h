// SPDX-License-Identifier: Apache-2.0
// What UplinkCurl needs from libcurl and Swift cannot import directly.
#ifndef UPLINK_CLIBCURL_SHIM_H
#define UPLINK_CLIBCURL_SHIM_H

#if !__has_include(<curl/curl.h>)
#error "Uplink needs libcurl, and its header curl/curl.h is not here: apt install libcurl4-openssl-dev"
#endif

// The type checks are macros around the variadic functions; the wrappers below take their place.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Swift cannot call variadic functions: there is one wrapper for each type of their last argument.

static inline CURLcode uplink_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode uplink_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode uplink_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode uplink_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

// Headers and body are received by functions of the same type.
static inline CURLcode uplink_easy_set_write(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode uplink_easy_set_read(CURL *easy, curl_read_callback value) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, value);
}

static inline CURLcode uplink_easy_set_seek(CURL *easy, curl_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode uplink_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode uplink_easy_set_prereq(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode uplink_easy_set_progress(CURL *easy, curl_xferinfo_callback value) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode uplink_easy_set_debug(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLcode uplink_easy_set_closesocket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

static inline CURLcode uplink_easy_set_opensocket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode uplink_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode uplink_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode uplink_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode uplink_easy_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

// Functions of OpenSSL, if libcurl is linked with it; libcurl itself has no equivalent. They may be missing, hence
// weak.
extern int SSL_session_reused(const void *ssl) __attribute__((weak));
extern int SSL_pending(const void *ssl) __attribute__((weak));
extern long SSL_CTX_ctrl(void *context, int command, long number, void *pointer) __attribute__((weak));

// OpenSSL's connection of a running transfer; NULL if there is none.
static inline void *uplink_easy_get_openssl(CURL *easy) {
    struct curl_tlssessioninfo *tls = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls) return NULL;
    return tls->backend == CURLSSLBACKEND_OPENSSL ? tls->internals : NULL;
}

// 1 if the connection's TLS session was resumed, 0 if not, -1 if that is not known.
static inline int uplink_easy_is_tls_resumed(CURL *easy) {
    void *ssl = uplink_easy_get_openssl(easy);
    return ssl && SSL_session_reused ? SSL_session_reused(ssl) != 0 : -1;
}

// How many bytes have been decrypted but not read; 0 if that is not known.
static inline int uplink_easy_tls_pending(CURL *easy) {
    void *ssl = uplink_easy_get_openssl(easy);
    return ssl && SSL_pending ? SSL_pending(ssl) : 0;
}

static inline CURLcode uplink_openssl_set_up(CURL *easy, void *context, void *data) {
    (void)easy, (void)data;
    if (SSL_CTX_ctrl) {
        SSL_CTX_ctrl(context, 78, 4, NULL); // SSL_CTX_clear_mode, SSL_MODE_AUTO_RETRY
        SSL_CTX_ctrl(context, 41, 0, NULL); // SSL_CTX_set_read_ahead
    }
    return CURLE_OK;
}

// Makes OpenSSL return after every message of the handshake's protocol that comes later, such as a ticket: it would go
// on as long as there is more, which may be for ever. What it has read ahead nobody would ask for then, so it may not.
static inline CURLcode uplink_easy_set_up_openssl(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, uplink_openssl_set_up);
}

// Leaves OpenSSL as it is: the inner of two layers of TLS reads from the outer one, which may have what comes behind a
// message, while there is nothing in the socket that would make anyone ask.
static inline CURLcode uplink_easy_leave_openssl(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, NULL);
}

static inline CURLMcode uplink_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode uplink_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode uplink_multi_set_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode uplink_multi_set_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

static inline CURLSHcode uplink_share_set_long(CURLSH *share, CURLSHoption option, long value) {
    return curl_share_setopt(share, option, value);
}

// Deprecated, but the only way to make libcurl before 8.4 try a host's next address in time.
static inline CURLMcode uplink_multi_socket_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}

// Macros with casts, and one that is an alias of an enumerator.
static const CURLversion uplink_version_now = CURLVERSION_NOW;
static const curl_socket_t uplink_socket_timeout = CURL_SOCKET_TIMEOUT;
static const size_t uplink_writefunc_pause = CURL_WRITEFUNC_PAUSE;
static const long uplink_auth_basic = (long)CURLAUTH_BASIC;
static const long uplink_global_default = CURL_GLOBAL_DEFAULT;

// Newer than the headers may be: libcurl says at run time whether it knows them.
static const CURLMoption uplink_multi_quick_exit = (CURLMoption)(CURLOPTTYPE_LONG + 21); // CURLMOPT_QUICK_EXIT, 8.20
static const CURLMoption uplink_multi_resolve_threads_max = (CURLMoption)(CURLOPTTYPE_LONG + 20); // the same
static const CURLcode uplink_code_too_large = (CURLcode)100;                            // CURLE_TOO_LARGE, 8.6

#endif
