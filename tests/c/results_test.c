/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of kgate.h return when the system refuses, a gate's file is cut off, another gives up or closes while
 * others wait; what options do, what a status says of waiters, and that a broken contract stops the program.
 *
 * usage: results_test TOOL */
#include <fcntl.h>
#include <sys/resource.h>

#include "c/checks.h"

/* A gate with one inside, and what threads wait for, taken. */
struct taken {
  kgate_gate* gate;
  kgate_member *inside, *outside;
  kgate_semaphore* semaphore;
  kgate_slots* slots;
};
static struct taken take(const char* name) {
  struct taken t = {open_gate(name, 1), NULL, NULL, NULL, NULL};
  ptrdiff_t slot = -1;
  t.inside = join(t.gate);
  t.outside = join(t.gate);
  OK(kgate_enter(t.inside, 1));
  OK(kgate_semaphore_create(&t.semaphore, 1));
  OK(kgate_acquire(t.semaphore, 1));
  OK(kgate_slots_create(&t.slots, 1));
  OK(kgate_slots_acquire(t.slots, &slot));
  return t;
}
static void give_back(struct taken t) {
  kgate_part(t.inside);
  kgate_part(t.outside);
  kgate_gate_close(t.gate);
  OK(kgate_release(t.semaphore, 1));
  kgate_semaphore_destroy(t.semaphore);
  OK(kgate_slots_release(t.slots, 0));
  kgate_slots_destroy(t.slots);
}

/* A process that may have no descriptors: nothing is begun for which one is needed, and the rest goes on. */
static int without_descriptors(void) {
  const struct taken t = take("descriptors");
  const struct rlimit none = {0, 0};
  kgate_member* member = NULL;
  kgate_status* status = NULL;
  kgate_wait* wait = NULL;
  ptrdiff_t slot = -1;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(kgate_acquire_begin(t.semaphore, 1, KGATE_FOREVER, NULL, &wait) == KGATE_SYSTEM && wait == NULL);
  SAYS("Too many open files");
  CHECK(kgate_slots_acquire_begin(t.slots, &slot, KGATE_FOREVER, NULL, &wait) == KGATE_SYSTEM && wait == NULL);
  CHECK(kgate_enter_begin(t.outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_SYSTEM && wait == NULL);
  CHECK(kgate_enter_attend(t.outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_SYSTEM && wait == NULL);
  CHECK(kgate_gate_join(t.gate, &member) == KGATE_SYSTEM && member == NULL);
  SAYS("the limit of this process, ulimit -n");
  CHECK(kgate_gate_resize(t.gate, 2) == KGATE_SYSTEM);
  CHECK(kgate_enter_within(t.outside, 1, 5 * millisecond, NULL) == KGATE_TIMED_OUT);
  OK(kgate_gate_status(t.gate, &status));
  CHECK(status->holder_count == 1 && status->waiter_count == 0 && kgate_semaphore_waiters(t.semaphore) == 0);
  kgate_status_free(status);
  OK(kgate_leave(t.inside));
  OK(kgate_enter(t.outside, 1));
  return 0;
}

/* A process that closes descriptors that are not its own, and can open none: it cannot know which are alive. */
static int with_descriptors_closed(void) {
  const struct taken t = take("closed");
  const struct rlimit none = {0, 0};
  for (int i = 3; i < 256; ++i) (void)close(i);
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK(kgate_enter(t.outside, 1) == KGATE_SYSTEM && kgate_inside(t.outside) == 0);
  SAYS("this process closed its descriptors, and its lock files cannot be opened again");
  CHECK(kgate_enter_within(t.outside, 1, 600000 * millisecond, NULL) == KGATE_SYSTEM);
  CHECK(kgate_gate_remove(t.gate, 1) == KGATE_SYSTEM);
  OK(kgate_leave(t.inside));
  return 0;
}

/* A user who may no longer use the directory. */
static int without_permission(void) {
  const struct taken t = take("permission");
  kgate_gate* gate = NULL;
  int slot = -1;
  CHECK(become_nobody(getenv("KGATE_DIR")) == 0);
  CHECK(kgate_gate_remove(t.gate, 0) == KGATE_NO_PERMISSION && kgate_gate_remove(t.gate, 1) == KGATE_NO_PERMISSION);
  SAYS("cannot remove ");
  CHECK(kgate_gate_open(&gate, "another", 1, NULL) == KGATE_NO_PERMISSION && gate == NULL);
  OK(kgate_slot(t.inside, &slot)); /* what it has is its own */
  OK(kgate_leave(t.inside));
  return 0;
}

/* Every call at a gate whose file was cut off, by one that asked to outlive that. */
static int cut_off(void) {
  kgate_guard_against_truncation();
  struct taken t = take("cut");
  kgate_member* member = NULL;
  kgate_status* status = NULL;
  kgate_wait* wait = NULL;
  int number = -1;
  size_t count = 0;
  uint64_t token = 0;
  CHECK(truncate(path_of("cut"), 0) == 0);
  CHECK(kgate_token(t.inside, &token) == KGATE_DAMAGED && token == 0); /* they would begin anew */
  CHECK(kgate_gate_slots(t.gate, &number) == KGATE_DAMAGED && kgate_gate_status(t.gate, &status) == KGATE_DAMAGED);
  CHECK(kgate_gate_join(t.gate, &member) == KGATE_DAMAGED && member == NULL && status == NULL);
  CHECK(kgate_gate_resize(t.gate, 2) == KGATE_DAMAGED && kgate_gate_remove(t.gate, 0) == KGATE_DAMAGED);
  CHECK(kgate_slot(t.inside, &number) == KGATE_DAMAGED && number == -1);
  CHECK(kgate_slots_of(t.inside, &number, 1, &count) == KGATE_DAMAGED && number == -1);
  CHECK(kgate_enter(t.outside, 1) == KGATE_DAMAGED && kgate_enter_within(t.outside, 1, 0, NULL) == KGATE_DAMAGED);
  CHECK(kgate_enter_begin(t.outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_DAMAGED && wait == NULL);
  CHECK(kgate_enter_attend(t.outside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_DAMAGED && wait == NULL);
  SAYS("is damaged; run `kgate doctor ");
  CHECK(kgate_inside(t.inside) == 1);
  OK(kgate_leave(t.inside)); /* nothing is left to give back */
  OK(kgate_gate_remove(t.gate, 1));
  return 0;
}

/* What is refused to a member for where it stands. */
static void on_the_wrong_side(void) {
  struct taken t = take("sides");
  kgate_wait* wait = NULL;
  int slots[1] = {-1};
  size_t count = 0;
  uint64_t token = 0;
  ptrdiff_t slot = -1;
  CHECK(kgate_slots_of(t.outside, slots, 1, &count) == KGATE_INVALID &&
        kgate_token(t.outside, &token) == KGATE_INVALID);
  SAYS("the member is not inside");
  CHECK(kgate_slots_of(NULL, slots, 1, &count) == KGATE_INVALID && kgate_token(NULL, &token) == KGATE_INVALID);
  CHECK(kgate_slots_of(t.inside, NULL, 1, &count) == KGATE_INVALID &&
        kgate_slots_of(t.inside, slots, 1, NULL) == KGATE_INVALID);
  CHECK(kgate_enter_within(t.inside, 1, 0, NULL) == KGATE_INVALID);
  CHECK(kgate_enter_within(t.outside, 2, 0, NULL) == KGATE_BAD_SLOTS);
  CHECK(kgate_enter_attend(t.inside, 1, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  CHECK(kgate_enter_attend(t.outside, 1, KGATE_FOREVER, NULL, NULL) == KGATE_INVALID);
  CHECK(kgate_enter_attend(t.outside, 2, KGATE_FOREVER, NULL, &wait) == KGATE_BAD_SLOTS);
  CHECK(kgate_enter_attend(t.outside, 1, 0, NULL, &wait) == KGATE_TIMED_OUT);
  CHECK(kgate_acquire_within(t.semaphore, 0, 0, NULL) == KGATE_INVALID);
  CHECK(kgate_slots_acquire_within(NULL, &slot, 0, NULL) == KGATE_INVALID);
  CHECK(kgate_slots_create(NULL, 1) == KGATE_INVALID);
  give_back(t);
}

/* A wait of each kind, ended by its stop object. */
static void stopped(void) {
  struct taken t = take("stopped");
  kgate_stop* stop = NULL;
  kgate_wait *first = NULL, *second = NULL;
  ptrdiff_t slot = -1;
  OK(kgate_stop_create(&stop));
  CHECK(kgate_enter_attend(t.outside, 1, KGATE_FOREVER, stop, &first) == KGATE_WAITING);
  CHECK(kgate_slots_acquire_begin(t.slots, &slot, KGATE_FOREVER, stop, &second) == KGATE_WAITING);
  CHECK(kgate_wait_finish(first) == KGATE_WAITING && kgate_wait_finish(second) == KGATE_WAITING);
  kgate_stop_request(stop);
  CHECK(readable(first, 20000) && kgate_wait_finish(first) == KGATE_STOPPED);
  CHECK(readable(second, 20000) && kgate_wait_finish(second) == KGATE_STOPPED && slot == -1);
  CHECK(kgate_inside(t.outside) == 0 && kgate_slots_waiters(t.slots) == 0);
  /* One that is requested already ends a wait that begins. */
  CHECK(kgate_enter_attend(t.outside, 1, KGATE_FOREVER, stop, &first) == KGATE_WAITING && readable(first, 20000));
  CHECK(kgate_wait_finish(first) == KGATE_STOPPED);
  kgate_stop_destroy(stop);
  give_back(t);
}

struct blocked {
  kgate_slots* slots;
  kgate_semaphore* semaphore;
  kgate_member* member;
  int weight;
  int limited;
  int result;
};
static void* block(void* argument) {
  struct blocked* b = argument;
  const int64_t limit = 600000 * millisecond;
  ptrdiff_t slot = -1;
  if (b->slots != NULL)
    b->result =
        b->limited ? kgate_slots_acquire_within(b->slots, &slot, limit, NULL) : kgate_slots_acquire(b->slots, &slot);
  else if (b->semaphore != NULL)
    b->result = b->limited ? kgate_acquire_within(b->semaphore, b->weight, limit, NULL)
                           : kgate_acquire(b->semaphore, b->weight);
  else
    b->result = b->limited ? kgate_enter_within(b->member, b->weight, limit, NULL) : kgate_enter(b->member, b->weight);
  return NULL;
}

/* Slots that are closed while threads and an event loop wait for them. */
static void closed_while_waited_for(void) {
  struct taken t = take("closed_slots");
  kgate_wait* wait = NULL;
  ptrdiff_t slot = -1;
  struct blocked blocked[2] = {{.slots = t.slots, .result = -1}, {.slots = t.slots, .limited = 1, .result = -1}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, block, &blocked[i]) == 0);
  CHECK(kgate_slots_acquire_begin(t.slots, &slot, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  while (kgate_slots_waiters(t.slots) < 3) sleep_for(millisecond);
  kgate_slots_close(t.slots);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  GETS(kgate_slots_acquire, blocked[0].result, KGATE_CLOSED);
  GETS(kgate_slots_acquire_within, blocked[1].result, KGATE_CLOSED);
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_CLOSED && slot == -1);
  CHECK(kgate_slots_waiters(t.slots) == 0);
  give_back(t);
}

/* One that waits for more than there is after a resize does not wait on in vain. */
static void too_heavy_after_a_resize(void) {
  kgate_semaphore* semaphore = NULL;
  kgate_gate* gate = open_gate("smaller", 2);
  kgate_member *inside = join(gate), *begun = join(gate);
  kgate_wait *first = NULL, *second = NULL;
  OK(kgate_semaphore_create(&semaphore, 2));
  OK(kgate_acquire(semaphore, 1));
  OK(kgate_enter(inside, 1));
  struct blocked blocked[4] = {{.semaphore = semaphore, .weight = 2, .result = -1},
                               {.semaphore = semaphore, .weight = 2, .limited = 1, .result = -1},
                               {.member = join(gate), .weight = 2, .result = -1},
                               {.member = join(gate), .weight = 2, .limited = 1, .result = -1}};
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, block, &blocked[i]) == 0);
  CHECK(kgate_acquire_begin(semaphore, 2, KGATE_FOREVER, NULL, &first) == KGATE_WAITING);
  CHECK(kgate_enter_begin(begun, 2, KGATE_FOREVER, NULL, &second) == KGATE_WAITING);
  while (kgate_semaphore_waiters(semaphore) < 3) sleep_for(millisecond);
  await_waiters(gate, 3);
  OK(kgate_semaphore_resize(semaphore, 1));
  OK(kgate_gate_resize(gate, 1));
  for (int i = 0; i < 4; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  GETS(kgate_acquire, blocked[0].result, KGATE_TOO_HEAVY);
  GETS(kgate_acquire_within, blocked[1].result, KGATE_TOO_HEAVY);
  GETS(kgate_enter, blocked[2].result, KGATE_BAD_SLOTS);
  GETS(kgate_enter_within, blocked[3].result, KGATE_BAD_SLOTS);
  CHECK(readable(first, 20000) && kgate_wait_finish(first) == KGATE_TOO_HEAVY);
  CHECK(readable(second, 20000) && kgate_wait_finish(second) == KGATE_BAD_SLOTS);
  OK(kgate_release(semaphore, 1));
  kgate_semaphore_destroy(semaphore);
  kgate_part(blocked[2].member);
  kgate_part(blocked[3].member);
  kgate_part(inside);
  kgate_part(begun);
  kgate_gate_close(gate);
}

/* What the options of a gate that is made do. */
static void options_do_what_they_say(const char* tool) {
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  kgate_gate* gate = NULL;
  struct stat made;
  const mode_t before = umask(077);
  options.mode = 0660;
  options.group = (int)(geteuid() == 0 ? 65534 : getegid());
  OK(kgate_gate_open(&gate, "shared", 1, &options));
  umask(before);
  CHECK(stat(path_of("shared"), &made) == 0 && (made.st_mode & 0777) == 0660 && made.st_gid == (gid_t)options.group);
  kgate_gate_close(gate);
  gate = open_gate("own", 1);
  CHECK(stat(path_of("own"), &made) == 0 && (made.st_mode & 0777) == 0600);
  kgate_gate_close(gate);
  options.overtakings = 17;
  options.command = "a program of its own";
  OK(kgate_gate_open(&gate, "generous", 1, &options));
  kgate_member* member = join(gate);
  kgate_status* status = NULL;
  OK(kgate_enter(member, 1));
  OK(kgate_gate_status(gate, &status));
  CHECK(strcmp(status->holders[0].command, options.command) == 0);
  kgate_status_free(status);
  char command[9000];
  snprintf(command, sizeof command, "'%s' status -n generous --json | grep -Eq '\"overtake\": ?17\\b'", tool);
  CHECK(system(command) == 0);
  kgate_part(member);
  kgate_gate_close(gate);
}

/* A waiter is shown with all that is known of it; at a strict gate none passes it, though it does not run. */
static void a_waiter_is_shown_and_not_passed(void) {
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  kgate_gate* gate = NULL;
  OK(kgate_gate_open(&gate, "strict", 1, &options));
  kgate_member *holder = join(gate), *newcomer = join(gate);
  OK(kgate_enter(holder, 1));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    kgate_gate* own = open_gate("strict", 1);
    OK(kgate_enter(join(own), 1));
    _exit(0);
  }
  kgate_status* status = NULL;
  await_waiters(gate, 1);
  OK(kgate_gate_status(gate, &status));
  const kgate_participant* who = &status->waiters[0];
  CHECK(who->process == child && who->user == (unsigned)geteuid() && who->weight == 1 && who->slot == -1);
  CHECK(who->position == 1 && strlen(who->host) > 0 && strstr(who->command, "test") != NULL);
  CHECK(who->since >= status->holders[0].since && status->holders[0].position == 0);
  kgate_status_free(status);
  int stop = 0;
  CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &stop, WUNTRACED) == child && WIFSTOPPED(stop));
  OK(kgate_leave(holder));
  CHECK(kgate_enter_within(newcomer, 1, 0, NULL) == KGATE_TIMED_OUT);
  CHECK(kill(child, SIGCONT) == 0);
  kgate_part(newcomer);
  CHECK(waits_for(child) == 0);
  kgate_part(holder);
  kgate_gate_close(gate);
}

/* The broken contracts of docs/c.md, each with a part of what is said. */
static void release_too_much(void) {
  kgate_semaphore* semaphore = NULL;
  OK(kgate_semaphore_create(&semaphore, 2));
  OK(kgate_acquire(semaphore, 1));
  (void)kgate_release(semaphore, 2);
}
static void release_a_free_slot(void) {
  kgate_slots* slots = NULL;
  OK(kgate_slots_create(&slots, 2));
  (void)kgate_slots_release(slots, 1);
}
static void destroy_under_a_waiter(void) {
  const struct taken t = take("contracts");
  kgate_wait* wait = NULL;
  CHECK(kgate_acquire_begin(t.semaphore, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_semaphore_destroy(t.semaphore);
}
static void destroy_slots_under_a_waiter(void) {
  const struct taken t = take("contracts");
  kgate_wait* wait = NULL;
  ptrdiff_t slot = -1;
  CHECK(kgate_slots_acquire_begin(t.slots, &slot, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_slots_destroy(t.slots);
}
static void stops_the_program(void (*break_it)(void), const char* said) {
  int ends[2];
  char text[2000] = "";
  size_t length = 0;
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const struct rlimit no_core = {0, 0};
    CHECK(dup2(ends[1], 2) == 2 && setrlimit(RLIMIT_CORE, &no_core) == 0);
    break_it();
    _exit(0);
  }
  close(ends[1]);
  for (ssize_t got = 1; got > 0 && length<sizeof text - 1; length += got> 0 ? (size_t)got : 0)
    got = read(ends[0], text + length, sizeof text - 1 - length);
  close(ends[0]);
  CHECK(waits_for(child) == 128 + SIGABRT);
  if (strstr(text, said) == NULL) fprintf(stderr, "said: %s\n", text);
  CHECK(strstr(text, said) != NULL);
}

int main(int count, char** arguments) {
  char directory[] = "/tmp/kgate-c-XXXXXX";
  CHECK(count == 2);
  begin_in_a_directory(directory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need descriptors to look at objects */
  CHECK(alone(without_descriptors) == 0);
  CHECK(alone(with_descriptors_closed) == 0);
#else
  (void)without_descriptors;
  (void)with_descriptors_closed;
#endif
  CHECK(alone(without_permission) == 0 && chmod(directory, 0700) == 0);
  CHECK(alone(cut_off) == 0);
  on_the_wrong_side();
  stopped();
  closed_while_waited_for();
  too_heavy_after_a_resize();
  options_do_what_they_say(arguments[1]);
  a_waiter_is_shown_and_not_passed();
  stops_the_program(release_too_much, "permit that nobody holds");
  stops_the_program(release_a_free_slot, "slot that nobody holds");
  stops_the_program(destroy_under_a_waiter, "wait");
  stops_the_program(destroy_slots_under_a_waiter, "wait");
  return end_in_a_directory(directory);
}
