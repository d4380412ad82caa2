/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: their names, numbers and texts. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_ERROR_H
#define UPLINK_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Every error: its name, its number, which is never reused for another one, and what it means or what to do.
 *
 * Numbers from -1000 down belong to the program: the library will never use one for an error, and a callback may end a
 * transfer with one.
 *
 * UPLINK_ESYSTEM means that the kernel refused something. When malloc(3) fails, that is not an error but ends the
 * process, as anywhere in Swift: set limits on what a server may make large. When libuv's or the Swift runtime's pool
 * cannot start a thread, that also ends the process, or calls wait without a limit: leave room for a dozen threads
 * (RLIMIT_NPROC, pids.max). When libuv or libdispatch (part of that runtime) finds no descriptor at its first use, that
 * ends the process too, so the first uplink_context_create() makes sure that 16 are free. Later it is an error. */
#define UPLINK_ERROR_MAP(X)                                                                                          \
    X(EINVAL, -1, "an argument is not valid: NULL, out of range, too long, or of an unknown kind")                   \
    X(EBADHANDLE, -2, "the context does not exist: it was never created, or has been destroyed")                     \
    X(ESTOPPED, -3, "the context is being destroyed, which ended the call")                                          \
    X(EDEADLK, -4, "called from a callback of this context, which the function would have to wait for")              \
    X(EBUSY, -5, "another thread is in uplink_dispatch; callbacks of a context run one at a time")                   \
    X(ENOENT, -6, "there is no such call, or it has ended, or is not of the kind that was asked for")                \
    X(EAGAIN, -7, "not known yet; wait for it or try again")                                                         \
    X(ESYSTEM, -8, "no thread, descriptor or memory (`ulimit -a`), or this process is a fork of one with contexts")  \
    X(ENAMESPACE, -9, "the network namespace does not exist, or root or CAP_SYS_ADMIN is needed to enter it")        \
    X(ECANCELED, -10, "cancelled")                                                                                   \
    X(ENONETWORK, -11, "the network did not come in time; nothing was started")                                      \
    X(EMONITOR, -12, "the state of the network cannot be told; is netlink forbidden in this sandbox?")               \
    X(ETIMEDOUT, -20, "the transfer took longer than one of its timeouts allows")                                    \
    X(EURL, -21, "the URL is not one that can be asked for; give an absolute http or https URL, percent-encoded")    \
    X(EREQUEST, -22, "the method or a header field must not be sent")                                                \
    X(ERESOLVE, -23, "the host's name has no address, or no name server would tell")                                 \
    X(ECONNECT, -24, "the connection was refused, or there is no way to the host")                                   \
    X(ERESET, -25, "the connection broke")                                                                           \
    X(ETLS, -26, "the server does not speak TLS 1.2 or newer as this library does")                                  \
    X(ECERTIFICATE, -27, "the server's certificate is not trusted, out of date, or for another host")                \
    X(EPROTOCOL, -28, "what the server sent is not HTTP/1.1 as it must be")                                          \
    X(ETRUNCATED, -29, "the body ended before its announced end")                                                    \
    X(ETOOLARGE, -30, "the answer is larger than the limit; raise the limit, or write it to a file")                 \
    X(EREDIRECT, -31, "too many redirects, or one to where this library does not go")                                \
    X(EEXIST, -32, "the file exists; set `replace_existing`, or give another name")                                  \
    X(EFILE, -33, "the file cannot be read or written")                                                              \
    X(EENCODING, -34, "the body has a content coding that nobody asked for")                                         \
    X(ETRANSFER, -35, "the transfer failed in a way that has no number of its own; see the message")                 \
    X(EBODY, -36, "the request's body is longer or shorter than announced, or would have to be sent again")          \
    X(ECHECKSUM, -37, "the checksum is not the one that was expected")                                               \
    X(EINUSE, -38, "another download to the same file is under way, here or in another process")                     \
    X(EDISKFULL, -39, "the disk or the quota is full, or the file may not be so large")                              \
    X(ESTATUS, -40, "the server answered with a status that is no file, such as 404")                                \
    X(ECHANGED, -41, "the server gave something else each time it was asked to go on")                               \
    X(ESIZE, -42, "the size is not the one that was expected")

typedef enum uplink_error {
    UPLINK_OK = 0
#define UPLINK_ERROR_NUMBER(name, number, text) , UPLINK_##name = number
    UPLINK_ERROR_MAP(UPLINK_ERROR_NUMBER)
#undef UPLINK_ERROR_NUMBER
} uplink_error;

/* What an error means, as an English sentence without a full stop; for a number that is no error, a text that says so.
 * Never NULL; the text is static. */
const char *uplink_strerror(int error);

/* The name of an error, such as "UPLINK_EINVAL"; "UPLINK_OK" for 0, and "UPLINK_UNKNOWN" for a number that is no error.
 * Never NULL; the text is static. */
const char *uplink_error_name(int error);

#ifdef __cplusplus
}
#endif

#endif
