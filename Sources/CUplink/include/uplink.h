/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libuplink: run an operation when the network is there.
 *
 * A context does all its work on threads of its own. Anything that takes time is a call: a function starts it and gives
 * it an id, and a callback reports its end. These rules hold for every call:
 *
 * - When the function that starts it returns an error, nothing was started and no callback runs.
 * - Otherwise the callback that ends it runs exactly once, whatever happens, and never from inside that function.
 * - A callback on the context's callback thread may run before the function that started the call has returned, so do
 *   not let the callback and the caller store their statuses in the same variable. The id is written before any
 *   callback runs.
 * - Callbacks of one context run one after the other: on the context's callback thread, or, where the context was
 *   created with `dispatch`, inside uplink_dispatch(). They may block; that delays only the context's other callbacks.
 * - All signals but those of faults (SIGSEGV, SIGABRT and the like) are blocked on the callback thread, and a program
 *   executed from there inherits that mask: reset it in the child (posix_spawnattr_setsigmask(3), or sigprocmask(2)
 *   before execve(2)).
 * - A callback must return. It must not leave by longjmp(3), by a C++ exception or by ending its thread: the context
 *   could then neither run another callback nor be destroyed.
 * - Ids are never reused, so cancelling a call that has ended is harmless.
 *
 * A child made by fork(2) has none of the library's threads. Its parent's contexts do not exist there
 * (UPLINK_EBADHANDLE), and it cannot create its own once the parent has asked for one (UPLINK_ESYSTEM). It must end
 * with execve(2) or _exit(2), not with exit(3).
 *
 * Destroy every context before main() returns or exit(3) is called, and not in an atexit(3) handler or a static
 * destructor: OpenSSL and libuv tear themselves down there, while the context's threads would still be using them. A
 * program that cannot do so must end with _exit(2).
 *
 * Files are read and written on libuv's thread pool, which a program that uses libuv shares: code that runs there must
 * not wait for a call.
 *
 * Unless its comment says otherwise, a function may be called from any thread, also from a callback, and returns
 * UPLINK_OK or a negative error; for a context that is NULL it returns UPLINK_EINVAL (but uplink_context_destroy() does
 * nothing). Nothing passed to a function is kept after it returns, except `user` and callbacks; a relative path is
 * taken from the working directory at that moment. Pointers passed to a callback are valid until it returns.
 *
 * Structures begin with their size, so that they can grow. Start from the structure's …_INIT, then set what you need:
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
