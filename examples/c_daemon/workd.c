/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon that runs the lines of its standard input as jobs, with eight threads, but no more at a time than the gate
 * "work" lets in, together with all other daemons and programs of this user that use it. SIGTERM: jobs that wait are
 * dropped at once, those that run are finished. */
#include <kgate/kgate.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, LINE = 1024 };

static kgate_gate* gate;
static kgate_stop* ending;
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* The next job; 0 at the end. */
static int next_job(char* line) {
  pthread_mutex_lock(&reading);
  const int got = !kgate_stop_requested(ending) && fgets(line, LINE, stdin) != NULL;
  pthread_mutex_unlock(&reading);
  line[strcspn(line, "\n")] = '\0';
  return got;
}

/* A thread of the daemon: one member of the gate, which is inside while its job runs. */
static void* worker(void* unused) {
  (void)unused;
  kgate_member* me = NULL;
  char line[LINE] = "";
  if (kgate_gate_join(gate, &me) != KGATE_OK) {
    fprintf(stderr, "workd: %s\n", kgate_last_error());
    return NULL;
  }
  while (next_job(line)) {
    const int result = kgate_enter_within(me, 1, KGATE_FOREVER, ending);
    if (result == KGATE_STOPPED) {
      printf("dropped: %s\n", line);
    } else if (result != KGATE_OK) {
      fprintf(stderr, "workd: %s\n", kgate_last_error());
      break;
    } else {
      int slot = -1;
      const int failed = kgate_slot(me, &slot) != KGATE_OK || system(line) != 0;
      printf("%s in slot %d: %s\n", failed ? "failed" : "done", slot, line);
      kgate_leave(me);
    }
    fflush(stdout);
  }
  kgate_part(me);
  return NULL;
}

/* Waits for SIGTERM, which no other thread takes. */
static void* signals(void* set) {
  int number = 0;
  sigwait(set, &number);
  kgate_stop_request(ending);
  return NULL;
}

int main(int argc, char** argv) {
  const int slots = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t threads[THREADS], watcher;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (kgate_stop_create(&ending) != KGATE_OK || kgate_gate_open(&gate, "work", slots, NULL) != KGATE_OK) {
    fprintf(stderr, "workd: %s\n", kgate_last_error());
    return 1;
  }
  if (pthread_create(&watcher, NULL, signals, &set) != 0) return 1;
  pthread_detach(watcher);
  int started = 0;
  while (started < THREADS && pthread_create(&threads[started], NULL, worker, NULL) == 0) ++started;
  for (int i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  kgate_gate_close(gate);
  return started == THREADS ? 0 : 1;
}
