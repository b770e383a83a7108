/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KGATE_H
#define KGATE_H

/**
 * kgate for C and for languages that call C: gates between processes, semaphores and slots between threads.
 *
 *     kgate_gate *gpus;
 *     kgate_member *me;
 *     int slot;
 *     if (kgate_gate_open(&gpus, "gpu", 4, NULL) || kgate_gate_join(gpus, &me) || kgate_enter(me, 1) ||
 *         kgate_slot(me, &slot)) {
 *       fprintf(stderr, "%s\n", kgate_last_error());
 *       return 1;
 *     }
 *     train_on(slot);
 *     kgate_leave(me);
 *
 * Link with what `pkg-config --libs libkgate` prints. docs/c.md has the whole of it.
 *
 * Results   A function that can fail returns 0 (KGATE_OK) or one of the codes below. kgate_last_error() is a sentence
 *           on the last failure of the calling thread. Nothing is thrown across this border, and only a broken
 *           contract (releasing more than is held, destroying a semaphore with waiters) stops the program.
 * Threads   Everything may be called from any thread, but a member serves one thread at a time.
 * fork      A child may close what it inherits, which does nothing to its parent; other calls on an inherited gate or
 *           member return KGATE_FORKED. Semaphores and slots belong to one process.
 * Cancel    No function is a cancellation point of pthread_cancel. None may be called from a signal handler, but
 *           kgate_stop_request() may be called from a thread that waits for signals.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KGATE_API __attribute__((visibility("default")))
#define KGATE_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define KGATE_API
#define KGATE_CHECKED
#endif

/** Codes. Their numbers are part of the binary interface; new ones are added at the end. */
typedef enum kgate_result {
  KGATE_OK = 0,
  KGATE_INVALID = 1, /**< an argument is null or out of its range */
  KGATE_NO_MEMORY = 2,
  KGATE_TIMED_OUT = 3,       /**< not in the time given, or not at once; nothing was taken */
  KGATE_STOPPED = 4,         /**< the stop object was requested meanwhile; nothing was taken */
  KGATE_CLOSED = 5,          /**< the semaphore is closed */
  KGATE_TOO_HEAVY = 6,       /**< more permits asked for than there are */
  KGATE_BAD_NAME = 7,        /**< a name is 1 to 64 of A-Z a-z 0-9 . _ - and begins with a letter or digit */
  KGATE_BAD_SLOTS = 8,       /**< k is 1 to 4095, a weight 1 to k */
  KGATE_NOT_FOUND = 9,       /**< no such gate, and no size given to create it with */
  KGATE_NO_PERMISSION = 10,  /**< the file or directory may not be used by this user */
  KGATE_WRONG_SLOTS = 11,    /**< the gate was created with another k, and not resized since */
  KGATE_NOT_A_GATE = 12,     /**< the file is something else, or of another version */
  KGATE_DAMAGED = 13,        /**< the file contradicts itself or has been cut off */
  KGATE_BAD_FILESYSTEM = 14, /**< a file system whose mappings or locks are not shared by its users */
  KGATE_IN_USE = 15,         /**< not while there are holders or waiters */
  KGATE_TOO_MANY = 16,       /**< more participants than a gate can have */
  KGATE_REMOVED = 17,        /**< the gate was removed while it was used */
  KGATE_FORKED = 18,         /**< the object belongs to the process that forked this one */
  KGATE_SYSTEM = 19,         /**< the system refused; kgate_last_error() has its words */
  KGATE_CANCELLED = 20,      /**< the waiter was taken out of the queue (kgate cancel) */
  KGATE_WAITING = 21         /**< not an error: the wait goes on, and its descriptor will tell of its end */
} kgate_result;

/** "1.0.0": the version of the library that runs. */
KGATE_API const char* kgate_version(void);
/** What a code means, in a few words. */
KGATE_API const char* kgate_result_text(int code);
/** A sentence on the last failure in this thread, valid until its next one; "" if there was none. */
KGATE_API const char* kgate_last_error(void);

/** A waiter gives up when its stop object is requested, from any thread; that is for good. */
typedef struct kgate_stop kgate_stop;
KGATE_CHECKED int kgate_stop_create(kgate_stop** stop);
KGATE_API void kgate_stop_request(kgate_stop* stop);
KGATE_API int kgate_stop_requested(const kgate_stop* stop);
KGATE_API void kgate_stop_destroy(kgate_stop* stop);

/** As time limit: none. Limits are nanoseconds from the call; 0 and less is now or not at all. */
#define KGATE_FOREVER INT64_MAX

/**
 * A wait that blocks no thread: a position in the queue with a descriptor for poll, epoll or an event loop. A ..._begin
 * call returns KGATE_OK if it got what it asked for at once (*wait is null then), KGATE_WAITING with a wait in *wait,
 * or an error. When the descriptor is readable kgate_wait_finish() says how the wait ended. One thread at a time.
 *
 *     kgate_wait *wait;
 *     int result = kgate_enter_begin(me, 1, KGATE_FOREVER, NULL, &wait);
 *     if (result == KGATE_WAITING) {
 *       struct pollfd watched = {kgate_wait_descriptor(wait), POLLIN, 0};
 *       poll(&watched, 1, -1);
 *       result = kgate_wait_finish(wait);
 *     }
 */
typedef struct kgate_wait kgate_wait;
/** Readable once the wait has ended, and from then on. Not to be read from, written to or closed. -1 of null. */
KGATE_API int kgate_wait_descriptor(const kgate_wait* wait);
/** How the wait ended, as the blocking call would have said; the wait is freed. KGATE_WAITING if it has not ended: then
 * it goes on. */
KGATE_CHECKED int kgate_wait_finish(kgate_wait* wait);
/** Ends the wait if it has not ended. kgate_wait_finish() then says KGATE_STOPPED, or how it had ended before. */
KGATE_API void kgate_wait_cancel(kgate_wait* wait);
/** Ends the wait, hands back what it was granted, and frees it. For a wait that is not finished. */
KGATE_API void kgate_wait_destroy(kgate_wait* wait);

/* ---- gates between processes ---- */

typedef struct kgate_gate kgate_gate;
typedef struct kgate_member kgate_member;

typedef struct kgate_gate_options {
  size_t size;           /**< sizeof(kgate_gate_options), so that later versions can add to it */
  const char* directory; /**< null: $KGATE_DIR, or a directory of the user's own */
  unsigned mode;         /**< of a gate that is created, whatever the umask; 0660 shares it with a group. At most 0777,
                              and the owner reads and writes */
  int group;             /**< of a gate that is created, by number; -1: that of the process or directory */
  unsigned overtakings;  /**< of a gate that is created: how many may pass the waiters between two grants */
  const char* command;   /**< what others see as the command of this process; null: the program's own name */
} kgate_gate_options;
#define KGATE_GATE_OPTIONS_INIT \
  { sizeof(kgate_gate_options), NULL, 0600, -1, 0, NULL }

/** Opens the gate, or creates it with `slots`. With slots = 0 it must exist. `options` may be null. */
KGATE_CHECKED int kgate_gate_open(kgate_gate** gate, const char* name, int slots, const kgate_gate_options* options);
/** Members that joined keep what they need of it. */
KGATE_API void kgate_gate_close(kgate_gate* gate);
KGATE_CHECKED int kgate_gate_slots(kgate_gate* gate, int* slots);
/** Changes k. Those inside stay; no other enters until there is room under the new k. */
KGATE_CHECKED int kgate_gate_resize(kgate_gate* gate, int slots);
/** Removes the gate. KGATE_IN_USE if it has holders or waiters, unless forced. */
KGATE_CHECKED int kgate_gate_remove(kgate_gate* gate, int forced);
/** If the file of a gate is truncated, its users get KGATE_DAMAGED from now on, instead of being ended by SIGBUS;
 * waiters asleep in the queue check once a second. Installs a handler for SIGBUS for the whole process, which forwards
 * faults outside of gates to the handler before it. */
KGATE_API void kgate_guard_against_truncation(void);

/** A membership: can be inside once, and serves one thread at a time. */
KGATE_CHECKED int kgate_gate_join(kgate_gate* gate, kgate_member** member);
/** Leaves if inside, and ends the membership. */
KGATE_API void kgate_part(kgate_member* member);
/** Waits in the queue for `weight` permits. */
KGATE_CHECKED int kgate_enter(kgate_member* member, int weight);
/** The same within a time limit and until `stop` is requested; KGATE_FOREVER and null are no limits. */
KGATE_CHECKED int kgate_enter_within(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop);
/** The same without blocking. Until the wait is finished or destroyed the member can do nothing else but part. */
KGATE_CHECKED int kgate_enter_begin(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop,
                                    kgate_wait** wait);
/** The same for an event loop that goes on watching: the descriptor may become readable before the wait has ended,
 * when a process that this one waits for has died. kgate_wait_finish() then heals it, and returns KGATE_WAITING. So no
 * thread is needed that watches for deaths. */
KGATE_CHECKED int kgate_enter_attend(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop,
                                     kgate_wait** wait);
KGATE_API int kgate_leave(kgate_member* member);
KGATE_API int kgate_inside(const kgate_member* member);
/** A number 0..k-1 that no other inside has. Only inside. */
KGATE_CHECKED int kgate_slot(kgate_member* member, int* slot);
/** All slots of a weight, at most `room` of them; *count says how many there are. */
KGATE_CHECKED int kgate_slots_of(kgate_member* member, int* slots, size_t room, size_t* count);
/** Greater than every token taken before: a fencing token. Only inside. */
KGATE_CHECKED int kgate_token(kgate_member* member, uint64_t* token);

typedef struct kgate_participant {
  int process; /**< its number in its own PID namespace */
  unsigned user;
  int weight;
  int slot;      /**< its first slot if it is inside and has asked for one, else -1 */
  int position;  /**< 1 is next if it waits, 0 if it is inside */
  int64_t since; /**< inside or waiting since, nanoseconds of the system's clock */
  const char* host;
  const char* command; /**< as the other process wrote it: nothing to show unescaped */
} kgate_participant;

typedef struct kgate_status {
  int slots;
  int free; /**< how many more may be inside now */
  uint64_t healed;
  size_t holder_count;
  const kgate_participant* holders;
  size_t waiter_count;
  const kgate_participant* waiters; /**< in the order of the queue */
  int over;                         /**< by how many those inside exceed a gate that was made smaller */
} kgate_status;
/** The holders and the waiters, after healing dead members. To be freed. */
KGATE_CHECKED int kgate_gate_status(kgate_gate* gate, kgate_status** status);
KGATE_API void kgate_status_free(kgate_status* status);

/* ---- semaphores and slots between threads ---- */

typedef struct kgate_semaphore kgate_semaphore;
KGATE_CHECKED int kgate_semaphore_create(kgate_semaphore** semaphore, ptrdiff_t k);
/** There may be no waiters. */
KGATE_API void kgate_semaphore_destroy(kgate_semaphore* semaphore);
KGATE_CHECKED int kgate_acquire(kgate_semaphore* semaphore, ptrdiff_t permits);
KGATE_CHECKED int kgate_acquire_within(kgate_semaphore* semaphore, ptrdiff_t permits, int64_t nanoseconds,
                                       kgate_stop* stop);
/** The same without blocking. The wait is finished or destroyed before the semaphore is destroyed. */
KGATE_CHECKED int kgate_acquire_begin(kgate_semaphore* semaphore, ptrdiff_t permits, int64_t nanoseconds,
                                      kgate_stop* stop, kgate_wait** wait);
/** Hands permits back. More than are out stops the program. */
KGATE_API int kgate_release(kgate_semaphore* semaphore, ptrdiff_t permits);
KGATE_CHECKED int kgate_semaphore_resize(kgate_semaphore* semaphore, ptrdiff_t k);
/** Refuses waiters and all later calls (KGATE_CLOSED); those inside stay. Final. */
KGATE_API void kgate_semaphore_close(kgate_semaphore* semaphore);
/** What was true at some moment during the call. */
KGATE_API ptrdiff_t kgate_semaphore_permits(const kgate_semaphore* semaphore);
KGATE_API ptrdiff_t kgate_semaphore_available(const kgate_semaphore* semaphore);
KGATE_API ptrdiff_t kgate_semaphore_waiters(const kgate_semaphore* semaphore);

typedef struct kgate_slots kgate_slots;
KGATE_CHECKED int kgate_slots_create(kgate_slots** slots, ptrdiff_t k);
KGATE_API void kgate_slots_destroy(kgate_slots* slots);
/** Waits in the queue for one of the k slots. */
KGATE_CHECKED int kgate_slots_acquire(kgate_slots* slots, ptrdiff_t* slot);
KGATE_CHECKED int kgate_slots_acquire_within(kgate_slots* slots, ptrdiff_t* slot, int64_t nanoseconds,
                                             kgate_stop* stop);
/** The same without blocking; *slot is set by this call or by kgate_wait_finish(). */
KGATE_CHECKED int kgate_slots_acquire_begin(kgate_slots* slots, ptrdiff_t* slot, int64_t nanoseconds, kgate_stop* stop,
                                            kgate_wait** wait);
/** Gives a slot back. One that is not held stops the program. */
KGATE_API int kgate_slots_release(kgate_slots* slots, ptrdiff_t slot);
KGATE_API void kgate_slots_close(kgate_slots* slots);
KGATE_API ptrdiff_t kgate_slots_size(const kgate_slots* slots);
KGATE_API ptrdiff_t kgate_slots_available(const kgate_slots* slots);
KGATE_API ptrdiff_t kgate_slots_waiters(const kgate_slots* slots);

#ifdef __cplusplus
}
#endif

#endif
