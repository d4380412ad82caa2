/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libuplink: run an operation when the network is there.
 *
 * A context does all work on threads of its own. Whatever takes time is a call: a function that starts it gives an id,
 * and a callback tells its end. These rules hold for every call:
 *
 * - When the function that starts it returns an error, nothing was started and no callback comes.
 * - Otherwise the callback that ends it comes exactly once, whatever happens, and never from inside that function.
 * - On the context's callback thread a callback may run before the caller has looked at the function's return value, and
 *   so before it has stored it: what both write needs a variable for each. The id is written before.
 * - Callbacks of one context run one after the other: on the context's callback thread, or, where the context was
 *   created with `dispatch`, inside uplink_dispatch(). They may block; that delays the context's other callbacks alone.
 * - All signals are blocked on the callback thread, and a program that is executed from there inherits that: reset the
 *   mask in the child (posix_spawnattr_setsigmask(3), or sigprocmask(2) before execve(2)).
 * - A callback returns. It must not leave by longjmp(3), by a C++ exception or by ending its thread: the context could
 *   then run no other, nor be destroyed.
 * - Ids are never used again, so that cancelling a call which has ended is harmless.
 *
 * A child made by fork(2) has none of the library's threads. Contexts do not exist there (UPLINK_EBADHANDLE), and once its
 * parent has asked for one it cannot have its own (UPLINK_ESYSTEM). It has to end with execve(2) or _exit(2), not with
 * exit(3).
 *
 * Destroy every context before main() returns or exit(3) is called, and not in an atexit(3) handler or a static
 * destructor: OpenSSL and libuv take themselves apart there, while the context's threads would still use them. A program
 * that cannot ends with _exit(2).
 *
 * Files are read and written on libuv's thread pool, which is the program's as well if it uses libuv: what runs there
 * must not wait for a call.
 *
 * Unless a function says otherwise it may be called from any thread, also from callbacks, and returns UPLINK_OK or a
 * negative error; a context that is NULL is UPLINK_EINVAL (but uplink_context_destroy() does nothing with it). Nothing
 * given to a function is kept after its return, except `user` and callbacks; a relative path is taken from the working
 * directory of that moment. Pointers that a callback gets are good until it returns.
 *
 * Structures begin with their size, so that they can grow. Begin with the structure's …_INIT, then set what you need:
 *
 *     uplink_requirement requirement = UPLINK_REQUIREMENT_INIT;
 *     requirement.flags = UPLINK_REQUIRE_IPV6;
 */
#ifndef UPLINK_H
#define UPLINK_H

#include "uplink/context.h"
#include "uplink/download.h"
#include "uplink/error.h"
#include "uplink/get.h"
#include "uplink/path.h"
#include "uplink/perform.h"
#include "uplink/request.h"
#include "uplink/response.h"
#include "uplink/version.h"

#endif
