/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of kgate.h from C as it is used; fork and a killed holder. */

#include "c/checks.h"

static void texts(void) {
  CHECK(strchr(kgate_version(), '.') != NULL);
  for (int code = KGATE_OK; code <= KGATE_WAITING; ++code) {
    CHECK(strlen(kgate_result_text(code)) > 3);
    CHECK(strcmp(kgate_result_text(code), "unknown result") != 0);
  }
  CHECK(strcmp(kgate_result_text(-1), "unknown result") == 0);
  CHECK(strcmp(kgate_result_text(KGATE_WAITING + 1), "unknown result") == 0);
}

static void gate_life(void) {
  kgate_gate* gate = open_gate("life", 2);
  kgate_member *a = join(gate), *b = join(gate), *c = join(gate);
  int slot = -1, slots = 0;
  uint64_t first = 0, second = 0;
  OK(kgate_gate_slots(gate, &slots));
  CHECK(slots == 2);
  OK(kgate_enter(a, 1));
  CHECK(kgate_inside(a) == 1 && kgate_inside(b) == 0);
  OK(kgate_slot(a, &slot));
  CHECK(slot == 0);
  OK(kgate_token(a, &first));
  OK(kgate_enter_within(b, 1, 0, NULL));
  OK(kgate_slot(b, &slot));
  CHECK(slot == 1);
  OK(kgate_token(b, &second));
  CHECK(second > first);
  CHECK(kgate_enter_within(c, 1, 0, NULL) == KGATE_TIMED_OUT);
  CHECK(kgate_enter_within(c, 1, -1, NULL) == KGATE_TIMED_OUT &&
        kgate_enter_within(c, 1, INT64_MIN, NULL) == KGATE_TIMED_OUT);
  SAYS("': no slot now; ");
  CHECK(kgate_enter_within(c, 1, 2 * millisecond, NULL) == KGATE_TIMED_OUT);
  SAYS("': no slot within 2 ms; wait longer, or see who is inside: kgate status -n ");
  SAYS(getenv("KGATE_DIR"));
  CHECK(kgate_enter_within(c, 2, 0, NULL) == KGATE_TIMED_OUT);
  SAYS("': no 2 slots at once now; ");
  CHECK(kgate_gate_remove(gate, 0) == KGATE_IN_USE);
  SAYS("': in use (2 inside, 0 waiting; process ");
  SAYS(" is one of them); wait until they have left, or remove it by force; see who they are: kgate status -n ");

  kgate_status* status = NULL;
  OK(kgate_gate_status(gate, &status));
  CHECK(status->slots == 2 && status->free == 0 && status->holder_count == 2 && status->waiter_count == 0);
  CHECK(status->holders[0].process == getpid() && status->holders[0].slot == 0 && status->holders[0].since > 0);
  CHECK(strlen(status->holders[1].host) > 0 && strlen(status->holders[1].command) > 0);
  kgate_status_free(status);

  CHECK(kgate_leave(a) == KGATE_OK && kgate_leave(b) == KGATE_OK);
  OK(kgate_enter(c, 2));
  int both[1] = {-1};
  size_t count = 0;
  OK(kgate_slots_of(c, both, 1, &count));
  CHECK(count == 2 && both[0] == 0);
  OK(kgate_slots_of(c, NULL, 0, &count));
  CHECK(count == 2);
  OK(kgate_gate_resize(gate, 1));
  OK(kgate_gate_status(gate, &status));
  CHECK(status->slots == 1 && status->free == 0 && status->over == 1);
  kgate_status_free(status);
  OK(kgate_leave(c));
  OK(kgate_gate_status(gate, &status));
  CHECK(status->free == 1 && status->over == 0);
  kgate_status_free(status);
  CHECK(kgate_enter(c, 2) == KGATE_BAD_SLOTS);
  kgate_part(a);
  kgate_part(b);
  kgate_part(c);
  OK(kgate_gate_remove(gate, 0));
  kgate_gate_close(gate);
}

static void gate_errors(void) {
  kgate_gate* gate = NULL;
  kgate_member* member = NULL;
  int number = 0;
  CHECK(kgate_gate_open(NULL, "x", 1, NULL) == KGATE_INVALID);
  CHECK(kgate_gate_open(&gate, NULL, 1, NULL) == KGATE_INVALID);
  CHECK(kgate_gate_open(&gate, "a/b", 1, NULL) == KGATE_BAD_NAME);
  CHECK(strlen(kgate_last_error()) > 10);
  CHECK(kgate_gate_open(&gate, "errors", 4096, NULL) == KGATE_BAD_SLOTS);
  CHECK(kgate_gate_open(&gate, "absent", 0, NULL) == KGATE_NOT_FOUND);
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  options.size = 1;
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.size = sizeof options;
  options.mode = 04755;
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.mode = 0200;
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.mode = 0600;
  options.group = -2;
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.group = -1;
  options.overtakings = 0xFFFFFFFFU;
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.overtakings = 0;
  options.directory = "";
  CHECK(kgate_gate_open(&gate, "errors", 1, &options) == KGATE_INVALID);
  options.directory = NULL;
  CHECK(gate == NULL);
  options.command = "somebody";
  OK(kgate_gate_open(&gate, "errors", 1, &options));
  kgate_gate* other = NULL;
  CHECK(kgate_gate_open(&other, "errors", 2, NULL) == KGATE_WRONG_SLOTS);
  CHECK(kgate_gate_slots(NULL, &number) == KGATE_INVALID && kgate_gate_slots(gate, NULL) == KGATE_INVALID);
  CHECK(kgate_gate_resize(NULL, 1) == KGATE_INVALID && kgate_gate_resize(gate, 0) == KGATE_BAD_SLOTS);
  CHECK(kgate_gate_remove(NULL, 0) == KGATE_INVALID && kgate_gate_status(gate, NULL) == KGATE_INVALID);
  CHECK(kgate_gate_join(NULL, &member) == KGATE_INVALID && kgate_gate_join(gate, NULL) == KGATE_INVALID);
  member = join(gate);
  CHECK(kgate_enter(NULL, 1) == KGATE_INVALID && kgate_leave(NULL) == KGATE_INVALID);
  CHECK(kgate_leave(member) == KGATE_INVALID && kgate_slot(member, &number) == KGATE_INVALID);
  CHECK(kgate_enter(member, 0) == KGATE_BAD_SLOTS && kgate_enter(member, 2) == KGATE_BAD_SLOTS);
  OK(kgate_enter(member, 1));
  CHECK(kgate_enter(member, 1) == KGATE_INVALID);
  CHECK(kgate_slot(member, NULL) == KGATE_INVALID && kgate_token(member, NULL) == KGATE_INVALID);
  kgate_status* status = NULL;
  OK(kgate_gate_status(gate, &status));
  CHECK(strcmp(status->holders[0].command, "somebody") == 0);
  kgate_status_free(status);
  kgate_member* waits = join(gate);
  OK(kgate_gate_remove(gate, 1));
  CHECK(kgate_enter_within(waits, 1, 50 * millisecond, NULL) == KGATE_REMOVED);
  kgate_part(waits);
  kgate_part(member);
  kgate_gate_close(gate);
  kgate_gate_close(NULL);
  kgate_part(NULL);
  kgate_status_free(NULL);

  char path[4096];
  snprintf(path, sizeof path, "%s/foreign.gate", getenv("KGATE_DIR"));
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fputs("not a gate\n", file) >= 0 && fclose(file) == 0);
  CHECK(kgate_gate_open(&gate, "foreign", 1, NULL) == KGATE_NOT_A_GATE);
}

struct waiter {
  kgate_member* member;
  kgate_semaphore* semaphore;
  kgate_stop* stop;
  int result;
};
static void* wait_at_gate(void* argument) {
  struct waiter* w = argument;
  w->result = kgate_enter_within(w->member, 1, KGATE_FOREVER, w->stop);
  return NULL;
}
static void* wait_at_semaphore(void* argument) {
  struct waiter* w = argument;
  w->result = kgate_acquire_within(w->semaphore, 1, KGATE_FOREVER, w->stop);
  return NULL;
}

static void stop_ends_waits(void) {
  kgate_gate* gate = open_gate("stops", 1);
  kgate_member *holder = join(gate), *waiting = join(gate);
  kgate_semaphore* semaphore = NULL;
  kgate_stop* stop = NULL;
  OK(kgate_stop_create(&stop));
  CHECK(kgate_stop_create(NULL) == KGATE_INVALID && kgate_stop_requested(stop) == 0);
  OK(kgate_semaphore_create(&semaphore, 1));
  OK(kgate_enter(holder, 1));
  OK(kgate_acquire(semaphore, 1));
  struct waiter one = {waiting, NULL, stop, -1}, other = {NULL, semaphore, stop, -1};
  pthread_t a, b;
  CHECK(pthread_create(&a, NULL, wait_at_gate, &one) == 0 && pthread_create(&b, NULL, wait_at_semaphore, &other) == 0);
  sleep_for(20 * millisecond);
  kgate_stop_request(stop);
  CHECK(pthread_join(a, NULL) == 0 && pthread_join(b, NULL) == 0);
  GETS(kgate_enter_within, one.result, KGATE_STOPPED);
  GETS(kgate_acquire_within, other.result, KGATE_STOPPED);
  CHECK(kgate_stop_requested(stop) == 1);
  CHECK(kgate_enter_within(waiting, 1, KGATE_FOREVER, stop) == KGATE_STOPPED);
  kgate_stop_destroy(stop);
  kgate_stop_destroy(NULL);
  OK(kgate_release(semaphore, 1));
  kgate_semaphore_destroy(semaphore);
  kgate_part(holder);
  kgate_part(waiting);
  kgate_gate_close(gate);
}

static void semaphore_life(void) {
  kgate_semaphore* s = NULL;
  CHECK(kgate_semaphore_create(NULL, 1) == KGATE_INVALID && kgate_semaphore_create(&s, 0) == KGATE_INVALID);
  CHECK(strstr(kgate_last_error(), "permits must be 1 to ") != NULL && strstr(kgate_last_error(), "not 0") != NULL);
  OK(kgate_semaphore_create(&s, 3));
  CHECK(kgate_semaphore_permits(s) == 3 && kgate_semaphore_available(s) == 3 && kgate_semaphore_waiters(s) == 0);
  CHECK(kgate_acquire(NULL, 1) == KGATE_INVALID && kgate_acquire(s, 0) == KGATE_INVALID);
  CHECK(kgate_acquire_within(s, 4, 0, NULL) == KGATE_TOO_HEAVY && kgate_acquire(s, 4) == KGATE_TOO_HEAVY);
  SAYS("semaphore: 4 permits asked for, and there are 3; ask for fewer, or resize it");
  OK(kgate_acquire(s, 2));
  CHECK(kgate_acquire_within(s, 2, 0, NULL) == KGATE_TIMED_OUT);
  CHECK(kgate_acquire_within(s, 2, -5, NULL) == KGATE_TIMED_OUT);
  SAYS("semaphore: 2 permits not free now (1 of 3 free, 0 waiting); wait longer");
  CHECK(kgate_acquire_within(s, 2, millisecond, NULL) == KGATE_TIMED_OUT);
  SAYS("semaphore: 2 permits not free within 1 ms (");
  OK(kgate_release(s, 2));
  OK(kgate_release(s, 0));
  CHECK(kgate_release(s, -1) == KGATE_INVALID && kgate_release(NULL, 1) == KGATE_INVALID);
  OK(kgate_semaphore_resize(s, 5));
  CHECK(kgate_semaphore_resize(s, 0) == KGATE_INVALID && kgate_semaphore_resize(NULL, 1) == KGATE_INVALID);
  OK(kgate_acquire_within(s, 5, KGATE_FOREVER, NULL));
  struct waiter w = {NULL, s, NULL, -1};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_at_semaphore, &w) == 0);
  while (kgate_semaphore_waiters(s) == 0) sleep_for(millisecond);
  kgate_semaphore_close(s);
  CHECK(pthread_join(thread, NULL) == 0);
  GETS(kgate_acquire_within, w.result, KGATE_CLOSED);
  CHECK(kgate_acquire(s, 1) == KGATE_CLOSED && kgate_semaphore_permits(s) == 0);
  OK(kgate_release(s, 5));
  kgate_semaphore_destroy(s);
  kgate_semaphore_destroy(NULL);
  kgate_semaphore_close(NULL);
}

static void slots_life(void) {
  kgate_slots* s = NULL;
  ptrdiff_t a = -1, b = -1, c = -1;
  CHECK(kgate_slots_create(&s, 0) == KGATE_INVALID && kgate_slots_create(NULL, 1) == KGATE_INVALID);
  OK(kgate_slots_create(&s, 2));
  CHECK(kgate_slots_size(s) == 2 && kgate_slots_available(s) == 2 && kgate_slots_waiters(s) == 0);
  CHECK(kgate_slots_acquire(NULL, &a) == KGATE_INVALID && kgate_slots_acquire(s, NULL) == KGATE_INVALID);
  OK(kgate_slots_acquire(s, &a));
  OK(kgate_slots_acquire_within(s, &b, 0, NULL));
  CHECK(a != b && a + b == 1);
  CHECK(kgate_slots_acquire_within(s, &c, -3, NULL) == KGATE_TIMED_OUT && c == -1);
  CHECK(kgate_slots_acquire_within(s, &c, millisecond, NULL) == KGATE_TIMED_OUT && c == -1);
  SAYS("slots: none free within 1 ms (0 of 2 free, 0 waiting); wait longer");
  CHECK(kgate_slots_release(s, 2) == KGATE_INVALID && kgate_slots_release(NULL, 0) == KGATE_INVALID);
  OK(kgate_slots_release(s, a));
  kgate_slots_close(s);
  CHECK(kgate_slots_acquire_within(s, &c, 0, NULL) == KGATE_CLOSED && kgate_slots_acquire(s, &c) == KGATE_CLOSED);
  SAYS("slots: closed");
  OK(kgate_slots_release(s, b));
  kgate_slots_destroy(s);
  kgate_slots_destroy(NULL);
}

static void child_may_only_close(void) {
  kgate_gate* gate = open_gate("forked", 1);
  kgate_member* member = join(gate);
  OK(kgate_enter(member, 1));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int number = 0;
    if (kgate_inside(member) != 0 || kgate_enter(member, 1) != KGATE_FORKED) _exit(5);
    if (kgate_leave(member) != KGATE_FORKED || kgate_gate_slots(gate, &number) != KGATE_FORKED) _exit(1);
    if (kgate_gate_resize(gate, 2) != KGATE_FORKED) _exit(2);
    kgate_part(member);
    kgate_gate_close(gate);
    kgate_gate* own = NULL;
    kgate_member* mine = NULL;
    if (kgate_gate_open(&own, "forked", 1, NULL) != KGATE_OK || kgate_gate_join(own, &mine) != KGATE_OK) _exit(3);
    _exit(kgate_enter_within(mine, 1, 0, NULL) == KGATE_TIMED_OUT ? 0 : 4);
  }
  CHECK(waits_for(child) == 0);
  CHECK(kgate_inside(member) == 1);
  OK(kgate_leave(member));
  kgate_part(member);
  kgate_gate_close(gate);
}

static void killed_holder_is_healed(void) {
  kgate_gate* gate = open_gate("killed", 1);
  int ready[2];
  CHECK(pipe(ready) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    kgate_gate* own = open_gate("killed", 1);
    OK(kgate_enter(join(own), 1));
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
  }
  char byte = 0;
  CHECK(read(ready[0], &byte, 1) == 1);
  kgate_member* member = join(gate);
  CHECK(kgate_enter_within(member, 1, 0, NULL) == KGATE_TIMED_OUT);
  CHECK(kill(child, SIGKILL) == 0 && waits_for(child) == 128 + SIGKILL);
  OK(kgate_enter(member, 1));
  kgate_status* status = NULL;
  OK(kgate_gate_status(gate, &status));
  CHECK(status->healed >= 1 && status->holder_count == 1);
  kgate_status_free(status);
  kgate_part(member);
  kgate_gate_close(gate);
}

enum { workers = 4, rounds = 2000 };
static kgate_slots* shared_slots;
static int owner_of[2];
static void* work(void* nothing) {
  for (int i = 0; i < rounds; ++i) {
    ptrdiff_t slot = -1;
    OK(kgate_slots_acquire(shared_slots, &slot));
    CHECK(__atomic_exchange_n(&owner_of[slot], 1, __ATOMIC_SEQ_CST) == 0);
    __atomic_store_n(&owner_of[slot], 0, __ATOMIC_SEQ_CST);
    OK(kgate_slots_release(shared_slots, slot));
  }
  return nothing;
}
static void threads_share(void) {
  pthread_t threads[workers];
  OK(kgate_slots_create(&shared_slots, 2));
  for (int i = 0; i < workers; ++i) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < workers; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  kgate_slots_destroy(shared_slots);
}

/* For tests in other languages: enters this gate of $KGATE_DIR, prints its slot, and leaves at the end of input. */
static int hold(const char* name) {
  kgate_gate* gate = open_gate(name, 0);
  kgate_member* member = join(gate);
  int slot = -1;
  OK(kgate_enter(member, 1));
  OK(kgate_slot(member, &slot));
  printf("%d\n", slot);
  fflush(stdout);
  while (getchar() != EOF) continue;
  kgate_part(member);
  kgate_gate_close(gate);
  return 0;
}

/* Times that no clock reaches are as good as no limit: they neither wrap nor are over at once. */
static void longest_times(void) {
  static const int64_t times[] = {KGATE_FOREVER, KGATE_FOREVER - 1, KGATE_FOREVER / 2};
  kgate_gate* gate = open_gate("longest", 1);
  kgate_member *inside = join(gate), *outside = join(gate);
  kgate_semaphore* semaphore = NULL;
  kgate_slots* slots = NULL;
  kgate_stop* stop = NULL;
  kgate_wait* wait = NULL;
  ptrdiff_t slot = -1, other = -1;
  OK(kgate_semaphore_create(&semaphore, 1));
  OK(kgate_slots_create(&slots, 1));
  OK(kgate_enter(inside, 1));
  OK(kgate_acquire(semaphore, 1));
  OK(kgate_slots_acquire(slots, &slot));
  OK(kgate_stop_create(&stop));
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    CHECK(kgate_enter_begin(outside, 1, times[i], NULL, &wait) == KGATE_WAITING && !readable(wait, 2));
    kgate_wait_destroy(wait);
    CHECK(kgate_acquire_begin(semaphore, 1, times[i], NULL, &wait) == KGATE_WAITING && !readable(wait, 2));
    kgate_wait_destroy(wait);
    CHECK(kgate_slots_acquire_begin(slots, &other, times[i], NULL, &wait) == KGATE_WAITING && !readable(wait, 2));
    kgate_wait_destroy(wait);
  }
  kgate_stop_request(stop);
  for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
    CHECK(kgate_enter_within(outside, 1, times[i], stop) == KGATE_STOPPED);
    CHECK(kgate_acquire_within(semaphore, 1, times[i], stop) == KGATE_STOPPED);
    CHECK(kgate_slots_acquire_within(slots, &other, times[i], stop) == KGATE_STOPPED && other == -1);
  }
  kgate_stop_destroy(stop);
  OK(kgate_slots_release(slots, slot));
  kgate_slots_destroy(slots);
  OK(kgate_release(semaphore, 1));
  kgate_semaphore_destroy(semaphore);
  kgate_part(inside);
  kgate_part(outside);
  kgate_gate_close(gate);
}

static void gate_waits_without_a_thread(void) {
  kgate_gate* gate = open_gate("unblocked", 1);
  kgate_member *a = join(gate), *b = join(gate), *c = join(gate);
  kgate_wait *wait = NULL, *other = NULL;
  CHECK(kgate_enter_begin(a, 1, KGATE_FOREVER, NULL, NULL) == KGATE_INVALID);
  CHECK(kgate_enter_begin(NULL, 1, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  CHECK(kgate_enter_begin(a, 2, KGATE_FOREVER, NULL, &wait) == KGATE_BAD_SLOTS);
  OK(kgate_enter_begin(a, 1, KGATE_FOREVER, NULL, &wait));
  CHECK(wait == NULL && kgate_inside(a));
  CHECK(kgate_enter_begin(b, 1, 0, NULL, &wait) == KGATE_TIMED_OUT && wait == NULL);
  CHECK(kgate_enter_begin(b, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING && wait != NULL);
  CHECK(kgate_enter_begin(b, 1, KGATE_FOREVER, NULL, &other) == KGATE_INVALID && other == NULL);
  CHECK(kgate_enter(b, 1) == KGATE_INVALID && kgate_leave(b) == KGATE_INVALID);
  CHECK(kgate_wait_finish(wait) == KGATE_WAITING && !readable(wait, 0));
  OK(kgate_leave(a));
  CHECK(readable(wait, 20000));
  OK(kgate_wait_finish(wait));
  CHECK(kgate_inside(b));

  CHECK(kgate_enter_begin(c, 1, 10 * millisecond, NULL, &wait) == KGATE_WAITING);
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_TIMED_OUT);
  SAYS("gate 'unblocked': no slot within 10 ms; ");
  CHECK(kgate_enter_begin(c, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_wait_cancel(wait);
  CHECK(readable(wait, 0) && kgate_wait_finish(wait) == KGATE_STOPPED);
  kgate_stop* stop = NULL;
  OK(kgate_stop_create(&stop));
  CHECK(kgate_enter_begin(c, 1, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  kgate_stop_request(stop);
  CHECK(readable(wait, 0) && kgate_wait_finish(wait) == KGATE_STOPPED);
  kgate_stop_destroy(stop);

  CHECK(kgate_enter_begin(c, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  OK(kgate_leave(b));
  CHECK(readable(wait, 20000));
  kgate_wait_destroy(wait); /* goes back */
  CHECK(!kgate_inside(c));
  OK(kgate_enter_within(a, 1, 0, NULL));
  CHECK(kgate_enter_begin(c, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(kgate_wait_finish(wait) == KGATE_FORKED);
    kgate_wait_cancel(wait);
    kgate_wait_destroy(wait);
    _exit(0);
  }
  CHECK(waits_for(child) == 0);
  CHECK(kgate_wait_finish(wait) == KGATE_WAITING);
  OK(kgate_gate_remove(gate, 1));
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_REMOVED);
  kgate_part(a);
  kgate_part(b);
  kgate_part(c);
  kgate_gate_close(gate);

  gate = open_gate("parted", 1);
  a = join(gate);
  b = join(gate);
  OK(kgate_enter(a, 1));
  CHECK(kgate_enter_begin(b, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_part(b); /* ends its wait as well */
  kgate_part(a);
  OK(kgate_gate_remove(gate, 0));
  kgate_gate_close(gate);
}

static void threads_wait_without_a_thread(void) {
  kgate_semaphore* semaphore = NULL;
  kgate_slots* slots = NULL;
  kgate_wait* wait = NULL;
  ptrdiff_t first = -1, second = -1;
  OK(kgate_semaphore_create(&semaphore, 2));
  CHECK(kgate_acquire_begin(NULL, 1, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  CHECK(kgate_acquire_begin(semaphore, 0, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  CHECK(kgate_acquire_begin(semaphore, 1, KGATE_FOREVER, NULL, NULL) == KGATE_INVALID);
  OK(kgate_acquire_begin(semaphore, 2, KGATE_FOREVER, NULL, &wait));
  CHECK(wait == NULL && kgate_semaphore_available(semaphore) == 0);
  /* What no wait can bring is refused at once, as by the calls that block. */
  CHECK(kgate_acquire_begin(semaphore, 3, KGATE_FOREVER, NULL, &wait) == KGATE_TOO_HEAVY && wait == NULL);
  SAYS("semaphore: 3 permits asked for, and there are 2; ");
  CHECK(kgate_acquire_begin(semaphore, 1, 0, NULL, &wait) == KGATE_TIMED_OUT);
  CHECK(kgate_acquire_begin(semaphore, 2, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  OK(kgate_release(semaphore, 1));
  CHECK(kgate_wait_finish(wait) == KGATE_WAITING && !readable(wait, 0));
  OK(kgate_release(semaphore, 1));
  CHECK(readable(wait, 0));
  OK(kgate_wait_finish(wait));
  CHECK(kgate_acquire_begin(semaphore, 1, 10 * millisecond, NULL, &wait) == KGATE_WAITING);
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_TIMED_OUT);
  SAYS("semaphore: 1 permit not free within 10 ms (0 of 2 free, 0 waiting)");
  kgate_stop* stop = NULL;
  OK(kgate_stop_create(&stop));
  CHECK(kgate_acquire_begin(semaphore, 1, 3600 * 1000 * millisecond, stop, &wait) == KGATE_WAITING);
  kgate_stop_request(stop);
  CHECK(readable(wait, 0) && kgate_wait_finish(wait) == KGATE_STOPPED);
  kgate_stop_destroy(stop);
  CHECK(kgate_acquire_begin(semaphore, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_wait_destroy(wait);
  CHECK(kgate_semaphore_waiters(semaphore) == 0);
  CHECK(kgate_acquire_begin(semaphore, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  OK(kgate_release(semaphore, 1));
  kgate_wait_destroy(wait); /* goes back */
  CHECK(kgate_semaphore_available(semaphore) == 1);
  CHECK(kgate_acquire_begin(semaphore, 2, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_semaphore_close(semaphore);
  CHECK(readable(wait, 0) && kgate_wait_finish(wait) == KGATE_CLOSED);
  CHECK(kgate_acquire_begin(semaphore, 1, KGATE_FOREVER, NULL, &wait) == KGATE_CLOSED && wait == NULL);
  SAYS("semaphore: closed");
  OK(kgate_release(semaphore, 1));
  kgate_semaphore_destroy(semaphore);

  OK(kgate_slots_create(&slots, 1));
  CHECK(kgate_slots_acquire_begin(NULL, &first, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  OK(kgate_slots_acquire_begin(slots, &first, KGATE_FOREVER, NULL, &wait));
  CHECK(first == 0 && wait == NULL);
  CHECK(kgate_slots_acquire_begin(slots, &second, 0, NULL, &wait) == KGATE_TIMED_OUT);
  CHECK(kgate_slots_acquire_begin(slots, &second, 10 * millisecond, NULL, &wait) == KGATE_WAITING);
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_TIMED_OUT && second == -1);
  SAYS("slots: none free within 10 ms (0 of 1 free, 0 waiting)");
  CHECK(kgate_slots_acquire_begin(slots, &second, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  OK(kgate_slots_release(slots, first));
  CHECK(readable(wait, 0));
  OK(kgate_wait_finish(wait));
  CHECK(second == 0);
  OK(kgate_slots_release(slots, second));
  kgate_slots_close(slots);
  CHECK(kgate_slots_acquire_begin(slots, &second, 0, NULL, &wait) == KGATE_CLOSED);
  CHECK(kgate_slots_acquire_begin(slots, &second, KGATE_FOREVER, NULL, &wait) == KGATE_CLOSED && wait == NULL);
  kgate_slots_destroy(slots);

  CHECK(kgate_wait_descriptor(NULL) == -1 && kgate_wait_finish(NULL) == KGATE_INVALID);
  kgate_wait_cancel(NULL);
  kgate_wait_destroy(NULL);
}

int main(int count, char** arguments) {
  if (count == 3 && strcmp(arguments[1], "hold") == 0) return hold(arguments[2]);
  char directory[] = "/tmp/kgate-c-XXXXXX";
  begin_in_a_directory(directory);
  texts();
  gate_life();
  gate_errors();
  stop_ends_waits();
  semaphore_life();
  slots_life();
  child_may_only_close();
  killed_holder_is_healed();
  threads_share();
  longest_times();
  gate_waits_without_a_thread();
  threads_wait_without_a_thread();
  return end_in_a_directory(directory);
}
