/* SPDX-License-Identifier: Apache-2.0 */
/* The errors of kgate.h that it takes more than a wrong argument to get, from every call that can return them.
 *
 * usage: errors_test TOOL, or with `full`, or `fill GATE`: as many participants as a gate can have */
#include <fcntl.h>
#include <sys/resource.h>

#include "c/checks.h"

static int opened(void) {
  kgate_gate* gate = NULL;
  const int result = kgate_gate_open(&gate, "errors", 0, NULL);
  if (result != KGATE_OK && (gate != NULL || strlen(kgate_last_error()) < 10)) return -1;
  return result;
}

static int opened_by_nobody(void) {
  if (geteuid() != 0) return KGATE_NO_PERMISSION; /* no user to become: results_test.c has the directory say no */
  return become_nobody(getenv("KGATE_DIR")) == 0 ? opened() : -1;
}

static int opened_without_descriptors(void) {
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_NOFILE, &none) == 0 ? opened() : -1;
}

static void errors_of_opening(void) {
  kgate_gate* gate = open_gate("errors", 1);
  CHECK(alone(opened) == KGATE_OK);
  /* An error of its kind before the one without descriptors: a sanitizer needs some for its first look at an object. */
  kgate_gate* other = NULL;
  CHECK(kgate_gate_open(&other, "absent", 0, NULL) == KGATE_NOT_FOUND && other == NULL);
  GETS(kgate_gate_open, alone(opened_by_nobody), KGATE_NO_PERMISSION);
  GETS(kgate_gate_open, alone(opened_without_descriptors), KGATE_SYSTEM);
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  options.directory = "/proc";
  CHECK(kgate_gate_open(&other, "errors", 1, &options) == KGATE_BAD_FILESYSTEM && other == NULL);
  options.directory = "/nowhere/at/all";
  CHECK(kgate_gate_open(&other, "errors", 1, &options) == KGATE_NOT_FOUND && other == NULL);
  OK(kgate_gate_remove(gate, 0));
  kgate_gate_close(gate);

  const int file = open(path_of("damaged"), O_WRONLY | O_CREAT, 0600);
  kgate_gate* whole = open_gate("whole", 1);
  char command[9000];
  char from[4096];
  snprintf(from, sizeof from, "%s", path_of("whole"));
  snprintf(command, sizeof command, "cp '%s' '%s' && printf x >> '%s'", from, path_of("damaged"), path_of("damaged"));
  CHECK(file >= 0 && close(file) == 0 && system(command) == 0);
  CHECK(kgate_gate_open(&other, "damaged", 0, NULL) == KGATE_DAMAGED && other == NULL);
  kgate_gate_close(whole);
}

/* Fills the gate of $KGATE_DIR with participants; for tests in other languages, until the end of input. */
static int fill(const char* name, int for_others) {
  enum { most = 16384 };
  static kgate_member* members[most];
  kgate_gate* gate = open_gate(name, 1);
  for (int i = 0; i < most; ++i) members[i] = join(gate);
  kgate_member* one_more = NULL;
  CHECK(kgate_gate_join(gate, &one_more) == KGATE_TOO_MANY && one_more == NULL);
  CHECK(kgate_gate_resize(gate, 2) == KGATE_TOO_MANY);
  puts("full");
  fflush(stdout);
  while (for_others && getchar() != EOF) continue;
  for (int i = 0; i < most; ++i) kgate_part(members[i]);
  kgate_part(join(gate));
  kgate_gate_close(gate);
  return 0;
}

/* Every call on what a parent made. */
static void forked(void) {
  kgate_gate* gate = open_gate("forked", 1);
  kgate_member *inside = join(gate), *outside = join(gate), *waiting = join(gate);
  kgate_wait* wait = NULL;
  OK(kgate_enter(inside, 1));
  CHECK(kgate_enter_begin(waiting, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int number = 0;
    size_t count = 0;
    uint64_t token = 0;
    kgate_status* status = NULL;
    kgate_member* member = NULL;
    kgate_wait* other = NULL;
    CHECK(kgate_gate_slots(gate, &number) == KGATE_FORKED && kgate_gate_resize(gate, 2) == KGATE_FORKED);
    CHECK(kgate_gate_remove(gate, 1) == KGATE_FORKED && kgate_gate_status(gate, &status) == KGATE_FORKED);
    CHECK(kgate_gate_join(gate, &member) == KGATE_FORKED && member == NULL && status == NULL);
    CHECK(kgate_enter(outside, 1) == KGATE_FORKED && kgate_enter_within(outside, 1, 0, NULL) == KGATE_FORKED);
    CHECK(kgate_enter_begin(outside, 1, KGATE_FOREVER, NULL, &other) == KGATE_FORKED && other == NULL);
    CHECK(kgate_enter_attend(outside, 1, KGATE_FOREVER, NULL, &other) == KGATE_FORKED && other == NULL);
    CHECK(kgate_leave(inside) == KGATE_FORKED && kgate_inside(inside) == 0);
    CHECK(kgate_slot(inside, &number) == KGATE_FORKED && kgate_token(inside, &token) == KGATE_FORKED);
    CHECK(kgate_slots_of(inside, &number, 1, &count) == KGATE_FORKED && kgate_wait_finish(wait) == KGATE_FORKED);
    kgate_wait_cancel(wait);
    kgate_wait_destroy(wait);
    kgate_part(inside);
    kgate_part(outside);
    kgate_gate_close(gate);
    _exit(0);
  }
  CHECK(waits_for(child) == 0);
  CHECK(kgate_inside(inside) == 1 && kgate_wait_finish(wait) == KGATE_WAITING);
  OK(kgate_leave(inside));
  CHECK(readable(wait, 20000));
  OK(kgate_wait_finish(wait));
  kgate_part(waiting);
  kgate_part(inside);
  kgate_part(outside);
  kgate_gate_close(gate);
}

/* A gate whose file is cut off, by one that asked to outlive that; also asleep in its queue. */
static int cut_off(void) {
  kgate_guard_against_truncation();
  kgate_gate* gate = open_gate("cut", 1);
  kgate_member *inside = join(gate), *waiting = join(gate);
  kgate_wait* wait = NULL;
  if (kgate_enter(inside, 1) != KGATE_OK) return 1;
  if (kgate_enter_begin(waiting, 1, KGATE_FOREVER, NULL, &wait) != KGATE_WAITING) return 2;
  if (truncate(path_of("cut"), 0) != 0 || kgate_gate_resize(gate, 2) != KGATE_DAMAGED) return 3;
  if (!readable(wait, 20000) || kgate_wait_finish(wait) != KGATE_DAMAGED) return 4;
  return kgate_enter(waiting, 1) == KGATE_DAMAGED ? 0 : 5;
}

/* Every call on a gate that is gone. */
static void removed(void) {
  kgate_gate *gate = open_gate("removed", 1), *other = open_gate("removed", 1);
  kgate_member *inside = join(gate), *outside = join(gate), *member = NULL;
  kgate_wait* wait = NULL;
  kgate_status* status = NULL;
  int slot = -1;
  OK(kgate_enter(inside, 1));
  OK(kgate_gate_remove(other, 1));
  CHECK(kgate_enter(outside, 1) == KGATE_REMOVED && kgate_enter_within(outside, 1, 0, NULL) == KGATE_REMOVED);
  CHECK(kgate_enter_begin(outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_REMOVED);
  CHECK(kgate_enter_attend(outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_REMOVED);
  CHECK(kgate_gate_resize(gate, 2) == KGATE_REMOVED);
  OK(kgate_gate_join(gate, &member)); /* those inside may need it */
  kgate_part(member);
  OK(kgate_gate_remove(gate, 1));       /* nothing is left to do */
  OK(kgate_gate_status(gate, &status)); /* the one inside still is */
  CHECK(status->holder_count == 1);
  kgate_status_free(status);
  OK(kgate_slot(inside, &slot));
  OK(kgate_leave(inside));
  kgate_part(inside);
  kgate_part(outside);
  kgate_gate_close(gate);
  kgate_gate_close(other);
}

struct entering {
  kgate_member* member;
  int limited;
  int result;
};
static void* enter(void* argument) {
  struct entering* e = argument;
  e->result = e->limited ? kgate_enter_within(e->member, 1, 600000 * millisecond, NULL) : kgate_enter(e->member, 1);
  return NULL;
}

/* Every way to wait, taken out of the queue by the tool. */
static void cancelled(const char* tool) {
  kgate_gate* gate = open_gate("cancelled", 1);
  kgate_member *inside = join(gate), *begun = join(gate), *attended = join(gate);
  kgate_wait *first = NULL, *second = NULL;
  OK(kgate_enter(inside, 1));
  struct entering blocked[2] = {{join(gate), 0, -1}, {join(gate), 1, -1}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, enter, &blocked[i]) == 0);
  CHECK(kgate_enter_begin(begun, 1, KGATE_FOREVER, NULL, &first) == KGATE_WAITING);
  CHECK(kgate_enter_attend(attended, 1, KGATE_FOREVER, NULL, &second) == KGATE_WAITING);
  await_waiters(gate, 4);
  char command[9000];
  snprintf(command, sizeof command, "'%s' cancel -n cancelled --all >/dev/null", tool);
  CHECK(system(command) == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    kgate_part(blocked[i].member);
  }
  GETS(kgate_enter, blocked[0].result, KGATE_CANCELLED);
  GETS(kgate_enter_within, blocked[1].result, KGATE_CANCELLED);
  CHECK(readable(first, 20000) && kgate_wait_finish(first) == KGATE_CANCELLED);
  CHECK(readable(second, 20000) && kgate_wait_finish(second) == KGATE_CANCELLED);
  kgate_part(begun);
  kgate_part(attended);
  kgate_part(inside);
  kgate_gate_close(gate);
}

/* Takes all memory there is to be had below a limit. */
static void use_up_memory(void) {
  const struct rlimit little = {1 << 20, 1 << 20};
  CHECK(setrlimit(RLIMIT_AS, &little) == 0);
  for (size_t size = 1 << 16; size >= 8; size /= 2)
    while (malloc(size) != NULL) continue;
}
static int refused(int result) { return result == KGATE_NO_MEMORY || result == KGATE_SYSTEM; }

/* Every call that makes something, when there is no memory. */
static int without_memory(void) {
  kgate_gate *gate = open_gate("memory", 1), *other = NULL;
  kgate_member *inside = join(gate), *outside = join(gate), *member = NULL;
  kgate_semaphore *semaphore = NULL, *another = NULL;
  kgate_slots *slots = NULL, *more = NULL;
  kgate_stop* stop = NULL;
  kgate_wait* wait = NULL;
  kgate_status* status = NULL;
  ptrdiff_t slot = -1;
  OK(kgate_semaphore_create(&semaphore, 1));
  OK(kgate_slots_create(&slots, 1));
  OK(kgate_enter(inside, 1));
  OK(kgate_acquire(semaphore, 1));
  OK(kgate_slots_acquire(slots, &slot));
  use_up_memory();
  if (kgate_semaphore_create(&another, 1) != KGATE_NO_MEMORY || another != NULL) return 1;
  if (strlen(kgate_last_error()) < 5) return 2;
  if (kgate_slots_create(&more, 1) != KGATE_NO_MEMORY || more != NULL) return 3;
  if (kgate_stop_create(&stop) != KGATE_NO_MEMORY || stop != NULL) return 4;
  if (kgate_acquire_begin(semaphore, 1, KGATE_FOREVER, NULL, &wait) != KGATE_NO_MEMORY || wait != NULL) return 5;
  if (kgate_slots_acquire_begin(slots, &slot, KGATE_FOREVER, NULL, &wait) != KGATE_NO_MEMORY || wait != NULL) return 6;
  if (!refused(kgate_gate_open(&other, "memory", 1, NULL)) || other != NULL) return 7;
  if (!refused(kgate_gate_join(gate, &member)) || member != NULL) return 8;
  if (!refused(kgate_enter_begin(outside, 1, KGATE_FOREVER, NULL, &wait)) || wait != NULL) return 9;
  if (!refused(kgate_enter_attend(outside, 1, KGATE_FOREVER, NULL, &wait)) || wait != NULL) return 10;
  if (!refused(kgate_gate_status(gate, &status)) || status != NULL) return 11;
  /* What needs none goes on. */
  if (kgate_leave(inside) != KGATE_OK || kgate_enter(inside, 1) != KGATE_OK || kgate_leave(inside) != KGATE_OK)
    return 12;
  if (kgate_release(semaphore, 1) != KGATE_OK || kgate_acquire(semaphore, 1) != KGATE_OK) return 13;
  return 0;
}

int main(int count, char** arguments) {
  char directory[] = "/tmp/kgate-c-XXXXXX";
  if (count == 3 && strcmp(arguments[1], "fill") == 0) return fill(arguments[2], 1);
  CHECK(count == 2);
  begin_in_a_directory(directory);
  if (strcmp(arguments[1], "full") == 0) {
    CHECK(fill("full", 0) == 0);
    return end_in_a_directory(directory);
  }
  errors_of_opening();
  forked();
  removed();
  cancelled(arguments[1]);
  CHECK(alone(cut_off) == 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* whose own memory is beyond any limit */
  const int step = alone(without_memory);
  if (step != 0) fprintf(stderr, "without memory: step %d\n", step);
  CHECK(step == 0);
#endif
  return end_in_a_directory(directory);
}
