/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KGATE_TESTS_C_CHECKS_H
#define KGATE_TESTS_C_CHECKS_H

/* What the tests in C share. */

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kgate/kgate.h"

#define CHECK(condition)                                                                                   \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, kgate_last_error()); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)
#define OK(call) CHECK((call) == KGATE_OK)
/* That a call returned a code, where the call itself is elsewhere: symbols_test.py looks for calls and their codes. */
#define GETS(call, result, code) CHECK((result) == (code))
#define SAYS(text) CHECK(strstr(kgate_last_error(), (text)) != NULL)

static const int64_t millisecond = 1000000;

static inline kgate_gate* open_gate(const char* name, int slots) {
  kgate_gate* gate = NULL;
  OK(kgate_gate_open(&gate, name, slots, NULL));
  return gate;
}
static inline kgate_member* join(kgate_gate* gate) {
  kgate_member* member = NULL;
  OK(kgate_gate_join(gate, &member));
  return member;
}
static inline int waits_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
static inline void sleep_for(int64_t nanoseconds) {
  const struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  nanosleep(&time, NULL);
}
static inline int readable(const kgate_wait* wait, int milliseconds) {
  struct pollfd watched = {kgate_wait_descriptor(wait), POLLIN, 0};
  return poll(&watched, 1, milliseconds) == 1;
}

/* Until so many wait at the gate. */
static inline void await_waiters(kgate_gate* gate, size_t wanted) {
  for (size_t waiting = 0; waiting < wanted; sleep_for(millisecond)) {
    kgate_status* status = NULL;
    OK(kgate_gate_status(gate, &status));
    waiting = status->waiter_count;
    kgate_status_free(status);
  }
}

/* What a call in a process of its own returns. */
static inline int alone(int (*call)(void)) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(call());
  return waits_for(child);
}

/* Becomes a user that may nothing; a user who is no superuser cannot, and loses the right to the directory instead. */
static inline int become_nobody(const char* directory) {
  const unsigned nobody = 65534;
  if (geteuid() != 0) return chmod(directory, 0500);
  return setgroups(0, NULL) != 0 || setresgid(nobody, nobody, nobody) != 0 || setresuid(nobody, nobody, nobody) != 0;
}

static inline const char* path_of(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s.gate", getenv("KGATE_DIR"), name);
  return path;
}

/* A directory of its own for the gates of a test. */
static inline void begin_in_a_directory(char* directory) {
  CHECK(mkdtemp(directory) != NULL && setenv("KGATE_DIR", directory, 1) == 0);
}
static inline int end_in_a_directory(const char* directory) {
  char command[4200];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  CHECK(system(command) == 0);
  puts("passed");
  return 0;
}

#endif
