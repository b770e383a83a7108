/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, pthread_cancel and kill -9, at gates, semaphores and slots, in calls that block and in waits of an event
 * loop. */
#include "c/checks.h"

static volatile sig_atomic_t handled;
static void on_signal(int number) {
  (void)number;
  ++handled;
}

enum what { at_gate, at_gate_limited, at_semaphore, at_semaphore_limited, at_slots, at_slots_limited, kinds };
static kgate_gate* gate;
static kgate_semaphore* semaphore;
static kgate_slots* slots;

struct waiter {
  enum what what;
  int64_t limit;
  kgate_stop* stop;
  int result;
};
static void* wait_there(void* argument) {
  struct waiter* w = argument;
  ptrdiff_t slot = -1;
  kgate_member* member = NULL;
  switch (w->what) {
    case at_gate:
    case at_gate_limited:
      member = join(gate);
      w->result = w->what == at_gate ? kgate_enter(member, 1) : kgate_enter_within(member, 1, w->limit, w->stop);
      kgate_part(member);
      break;
    case at_semaphore:
    case at_semaphore_limited:
      w->result =
          w->what == at_semaphore ? kgate_acquire(semaphore, 1) : kgate_acquire_within(semaphore, 1, w->limit, w->stop);
      if (w->result == KGATE_OK) OK(kgate_release(semaphore, 1));
      break;
    default:
      w->result = w->what == at_slots ? kgate_slots_acquire(slots, &slot)
                                      : kgate_slots_acquire_within(slots, &slot, w->limit, w->stop);
      if (w->result == KGATE_OK) OK(kgate_slots_release(slots, slot));
  }
  return NULL;
}

/* A handler that returns, in the middle of a wait, again and again: the wait goes on, and ends as it would have. */
static void handlers_do_not_end_a_wait(void) {
  const struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  for (int kind = 0; kind < kinds; ++kind) {
    kgate_member* holder = join(gate);
    ptrdiff_t slot = -1;
    OK(kgate_enter(holder, 1));
    OK(kgate_acquire(semaphore, 1));
    OK(kgate_slots_acquire(slots, &slot));
    struct waiter w = {(enum what)kind, KGATE_FOREVER, NULL, -1};
    pthread_t thread;
    const sig_atomic_t before = handled;
    CHECK(pthread_create(&thread, NULL, wait_there, &w) == 0);
    for (int i = 0; i < 50; ++i) {
      sleep_for(millisecond);
      CHECK(pthread_kill(thread, SIGUSR1) == 0);
    }
    CHECK(w.result == -1 && handled > before);
    kgate_part(holder);
    OK(kgate_release(semaphore, 1));
    OK(kgate_slots_release(slots, slot));
    CHECK(pthread_join(thread, NULL) == 0 && w.result == KGATE_OK);
  }
}

/* Nor do they keep a time limit from ending it. */
static void handlers_do_not_stretch_a_limit(void) {
  kgate_member* holder = join(gate);
  ptrdiff_t slot = -1;
  OK(kgate_enter(holder, 1));
  OK(kgate_acquire(semaphore, 1));
  OK(kgate_slots_acquire(slots, &slot));
  const struct itimerspec often = {{0, millisecond}, {0, millisecond}};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
  const enum what limited[] = {at_gate_limited, at_semaphore_limited, at_slots_limited};
  for (int i = 0; i < 3; ++i) {
    struct waiter w = {limited[i], 30 * millisecond, NULL, -1};
    wait_there(&w); /* in this thread, which the timer interrupts */
    CHECK(w.result == KGATE_TIMED_OUT);
  }
  CHECK(timer_delete(timer) == 0);
  kgate_part(holder);
  OK(kgate_release(semaphore, 1));
  OK(kgate_slots_release(slots, slot));
}

/* pthread_cancel does not end a wait, however long it has slept, and in whatever call of the kernel. */
static void cancellation_does_not_end_a_wait(void) {
  for (int kind = 0; kind < kinds; ++kind) {
    kgate_member* holder = join(gate);
    ptrdiff_t slot = -1;
    OK(kgate_enter(holder, 1));
    OK(kgate_acquire(semaphore, 1));
    OK(kgate_slots_acquire(slots, &slot));
    struct waiter w = {(enum what)kind, 3600 * 1000 * millisecond, NULL, -1};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_there, &w) == 0);
    sleep_for(100 * millisecond); /* until it waits by events */
    CHECK(pthread_cancel(thread) == 0);
    sleep_for(50 * millisecond);
    CHECK(w.result == -1);
    kgate_part(holder);
    OK(kgate_release(semaphore, 1));
    OK(kgate_slots_release(slots, slot));
    CHECK(pthread_join(thread, NULL) == 0 && w.result == KGATE_OK);
  }
}

/* A thread that is cancelled already makes every call of kgate.h; the first to end it is not one of them.
 * symbols_test.py sees to it that none is left out. */
static void* every_call_while_cancelled(void* finished) {
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  kgate_gate* own = NULL;
  kgate_member *one = NULL, *two = NULL;
  kgate_wait* wait = NULL;
  kgate_stop* stop = NULL;
  kgate_status* status = NULL;
  kgate_semaphore* s = NULL;
  kgate_slots* all_slots = NULL;
  int number = 0;
  size_t count = 0;
  uint64_t token = 0;
  ptrdiff_t slot = -1, other = -1;
  CHECK(pthread_cancel(pthread_self()) == 0);
  kgate_guard_against_truncation();
  OK(kgate_gate_open(&own, "cancelled", 1, &options));
  CHECK(kgate_gate_open(&own, "no/name", 1, NULL) == KGATE_BAD_NAME && strlen(kgate_last_error()) > 0);
  CHECK(strlen(kgate_version()) > 0 && strlen(kgate_result_text(KGATE_OK)) > 0);
  OK(kgate_stop_create(&stop));
  OK(kgate_gate_join(own, &one));
  OK(kgate_gate_join(own, &two));
  OK(kgate_enter(one, 1));
  CHECK(kgate_inside(one) == 1 && kgate_slot(one, &number) == KGATE_OK && kgate_token(one, &token) == KGATE_OK);
  OK(kgate_slots_of(one, NULL, 0, &count));
  CHECK(kgate_enter_within(two, 1, 20 * millisecond, stop) == KGATE_TIMED_OUT);
  SAYS("': no slot within 20 ms; ");
  CHECK(kgate_enter_begin(two, 1, KGATE_FOREVER, stop, &wait) == KGATE_WAITING && kgate_wait_descriptor(wait) >= 0);
  CHECK(kgate_wait_finish(wait) == KGATE_WAITING);
  OK(kgate_gate_status(own, &status));
  kgate_status_free(status);
  kgate_wait_cancel(wait);
  CHECK(kgate_wait_finish(wait) == KGATE_STOPPED);
  CHECK(kgate_enter_attend(two, 1, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  kgate_wait_destroy(wait);
  OK(kgate_leave(one));
  kgate_part(one);
  kgate_part(two);
  CHECK(kgate_gate_resize(own, 2) == KGATE_OK && kgate_gate_slots(own, &number) == KGATE_OK);
  OK(kgate_gate_remove(own, 1));
  kgate_gate_close(own);

  OK(kgate_semaphore_create(&s, 1));
  OK(kgate_acquire(s, 1));
  CHECK(kgate_acquire_within(s, 1, 20 * millisecond, stop) == KGATE_TIMED_OUT);
  CHECK(kgate_acquire_begin(s, 1, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  kgate_wait_destroy(wait);
  CHECK(kgate_acquire_begin(s, 1, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  OK(kgate_release(s, 1)); /* to one that waits by a descriptor */
  OK(kgate_wait_finish(wait));
  OK(kgate_release(s, 1));
  OK(kgate_semaphore_resize(s, 2));
  CHECK(kgate_semaphore_permits(s) == 2 && kgate_semaphore_available(s) == 2 && kgate_semaphore_waiters(s) == 0);
  kgate_semaphore_close(s);
  kgate_semaphore_destroy(s);
  OK(kgate_slots_create(&all_slots, 1));
  OK(kgate_slots_acquire(all_slots, &slot));
  CHECK(kgate_slots_acquire_within(all_slots, &other, 20 * millisecond, stop) == KGATE_TIMED_OUT);
  CHECK(kgate_slots_acquire_begin(all_slots, &other, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  kgate_wait_destroy(wait);
  CHECK(kgate_slots_acquire_begin(all_slots, &other, KGATE_FOREVER, stop, &wait) == KGATE_WAITING);
  OK(kgate_slots_release(all_slots, slot));
  OK(kgate_wait_finish(wait));
  OK(kgate_slots_release(all_slots, other));
  CHECK(kgate_slots_size(all_slots) == 1 && kgate_slots_available(all_slots) == 1 &&
        kgate_slots_waiters(all_slots) == 0);
  kgate_slots_close(all_slots);
  kgate_slots_destroy(all_slots);
  kgate_stop_request(stop);
  CHECK(kgate_stop_requested(stop) == 1);
  kgate_stop_destroy(stop);
  *(int*)finished = 1;
  pthread_testcancel();
  return NULL;
}
static void no_call_is_a_cancellation_point(void) {
  pthread_t thread;
  int finished = 0;
  void* ended = NULL;
  CHECK(pthread_create(&thread, NULL, every_call_while_cancelled, &finished) == 0);
  CHECK(pthread_join(thread, &ended) == 0 && finished == 1 && ended == PTHREAD_CANCELED);
}

static void* request_at_signal(void* stop) {
  sigset_t waited;
  int number = 0;
  CHECK(sigemptyset(&waited) == 0 && sigaddset(&waited, SIGUSR2) == 0 && sigwait(&waited, &number) == 0);
  kgate_stop_request(stop);
  return NULL;
}
/* What kgate.h advises for signals that are to end waits. */
static void a_thread_that_waits_for_signals_ends_waits(void) {
  kgate_member* holder = join(gate);
  OK(kgate_enter(holder, 1));
  sigset_t blocked, before;
  CHECK(sigemptyset(&blocked) == 0 && sigaddset(&blocked, SIGUSR2) == 0);
  CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  kgate_stop* stop = NULL;
  OK(kgate_stop_create(&stop));
  pthread_t listener, thread;
  struct waiter w = {at_gate_limited, KGATE_FOREVER, stop, -1};
  CHECK(pthread_create(&listener, NULL, request_at_signal, stop) == 0);
  CHECK(pthread_create(&thread, NULL, wait_there, &w) == 0);
  sleep_for(20 * millisecond);
  CHECK(kill(getpid(), SIGUSR2) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && pthread_join(listener, NULL) == 0 && w.result == KGATE_STOPPED);
  CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  kgate_stop_destroy(stop);
  kgate_part(holder);
}

/* A process that enters, or waits to, and reports when it is inside. */
static pid_t starts_to_enter(int begins, int report) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  kgate_gate* own = open_gate("signals", 0);
  kgate_member* member = join(own);
  kgate_wait* wait = NULL;
  int result = begins ? kgate_enter_begin(member, 1, KGATE_FOREVER, NULL, &wait) : kgate_enter(member, 1);
  if (result == KGATE_WAITING) {
    CHECK(readable(wait, -1));
    result = kgate_wait_finish(wait);
  }
  CHECK(result == KGATE_OK && write(report, "x", 1) == 1);
  for (;;) pause();
}
static size_t waiters_there(void) {
  kgate_status* status = NULL;
  OK(kgate_gate_status(gate, &status));
  const size_t count = status->waiter_count;
  kgate_status_free(status);
  return count;
}
static void killed(pid_t child) { CHECK(kill(child, SIGKILL) == 0 && waits_for(child) == 128 + SIGKILL); }

/* One inside, then three waiters, in calls that block and by events; killed: the first waiter, the one inside, and the
 * next. The last gets in. */
static void kill_9_of_holders_and_waiters(void) {
  for (int begins = 0; begins < 2; ++begins) {
    int report[2];
    char byte = 0;
    pid_t children[4];
    CHECK(pipe(report) == 0);
    children[0] = starts_to_enter(begins, report[1]);
    CHECK(read(report[0], &byte, 1) == 1);
    for (size_t i = 1; i < 4; ++i) {
      children[i] = starts_to_enter(begins ^ (int)(i & 1), report[1]);
      while (waiters_there() < i) sleep_for(millisecond);
    }
    killed(children[1]);
    killed(children[0]);
    CHECK(read(report[0], &byte, 1) == 1);
    CHECK(waiters_there() == 1);
    killed(children[2]);
    CHECK(read(report[0], &byte, 1) == 1);
    killed(children[3]);
    kgate_member* member = join(gate);
    OK(kgate_enter(member, 1));
    kgate_part(member);
    CHECK(close(report[0]) == 0 && close(report[1]) == 0);
  }
}

/* The caller's loop learns of the death, no thread does; the wait goes on until there is something to be had. */
static void attended_waits_outlive_deaths(void) {
  int report[2];
  char byte = 0;
  CHECK(pipe(report) == 0);
  const pid_t holder = starts_to_enter(0, report[1]);
  CHECK(read(report[0], &byte, 1) == 1);
  const pid_t ahead = starts_to_enter(1, report[1]);
  while (waiters_there() < 1) sleep_for(millisecond);
  kgate_member* member = join(gate);
  kgate_wait* wait = NULL;
  CHECK(kgate_enter_attend(NULL, 1, KGATE_FOREVER, NULL, &wait) == KGATE_INVALID);
  CHECK(kgate_enter_attend(member, 1, 0, NULL, &wait) == KGATE_TIMED_OUT && wait == NULL);
  CHECK(kgate_enter_attend(member, 2, KGATE_FOREVER, NULL, &wait) == KGATE_BAD_SLOTS);
  CHECK(kgate_enter_attend(member, 1, 10 * millisecond, NULL, &wait) == KGATE_WAITING);
  CHECK(readable(wait, 20000) && kgate_wait_finish(wait) == KGATE_TIMED_OUT);
  CHECK(kgate_enter_attend(member, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  CHECK(!readable(wait, 100) && kgate_wait_finish(wait) == KGATE_WAITING);
  killed(ahead);
  int result = KGATE_WAITING;
  sleep_for(50 * millisecond);
  while (readable(wait, 50)) CHECK((result = kgate_wait_finish(wait)) == KGATE_WAITING);
  killed(holder);
  while (result == KGATE_WAITING) {
    CHECK(readable(wait, 20000));
    result = kgate_wait_finish(wait);
  }
  CHECK(result == KGATE_OK && kgate_inside(member));
  kgate_member* other = join(gate);
  CHECK(kgate_enter_attend(other, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_wait_cancel(wait);
  CHECK(readable(wait, 0) && kgate_wait_finish(wait) == KGATE_STOPPED);
  CHECK(kgate_enter_attend(other, 1, KGATE_FOREVER, NULL, &wait) == KGATE_WAITING);
  kgate_part(other);
  kgate_part(member);
  OK(kgate_enter_attend(member = join(gate), 1, KGATE_FOREVER, NULL, &wait));
  CHECK(wait == NULL);
  kgate_part(member);
}

int main(void) {
  char directory[] = "/tmp/kgate-c-XXXXXX";
  begin_in_a_directory(directory);
  gate = open_gate("signals", 1);
  OK(kgate_semaphore_create(&semaphore, 1));
  OK(kgate_slots_create(&slots, 1));
  handlers_do_not_end_a_wait();
  handlers_do_not_stretch_a_limit();
  cancellation_does_not_end_a_wait();
  no_call_is_a_cancellation_point();
  a_thread_that_waits_for_signals_ends_waits();
  kill_9_of_holders_and_waiters();
  attended_waits_outlive_deaths();
  kgate_slots_destroy(slots);
  kgate_semaphore_destroy(semaphore);
  kgate_gate_close(gate);
  return end_in_a_directory(directory);
}
