/* SPDX-License-Identifier: Apache-2.0 */
/* Anderson & Moir 1997, figure 3, nested N-K times: what `kgate-lab check am97-chain-cc -N n -k k` explores, for Spin.
 *
 * One access to a shared variable per step, so that the states are the checker's: a process in its remainder stands before
 * its first access, one in its critical section before its first access of the exit. Passages without limit.
 *
 * X[i] is kept as the number of slots taken, and all variables in bytes: Spin then starts from the initial values without
 * a step, and its state vector is as small as can be. `inside` follows from the locations and adds no state.
 */
#define LEVELS     (N - K)
#define LAST       (LEVELS - 1)
#define SLOTS(i)   (N - 1 - (i))
#define X_IS_ZERO  (taken[level] == SLOTS(level))
#define X_NEGATIVE (taken[level] > SLOTS(level))

byte taken[LEVELS];
byte Q[LEVELS];
byte inside;

inline enter() {
  inside++;
  assert(inside <= K)
}

active [N] proctype process() {
  byte level;

entry:
  if /* 2 */
  :: d_step { !X_IS_ZERO && level < LAST -> taken[level]++; level++ } goto entry
  :: d_step { !X_IS_ZERO && level == LAST -> taken[level]++; enter() } goto critical
  :: d_step { X_IS_ZERO -> taken[level]++ }
  fi;
  Q[level] = _pid; /* 3 */
  if /* 4 */
  :: X_NEGATIVE
  :: d_step { !X_NEGATIVE && level < LAST -> level++ } goto entry
  :: d_step { !X_NEGATIVE && level == LAST -> enter() } goto critical
  fi;
  if /* 5: blocks while Q = p */
  :: d_step { Q[level] != _pid && level < LAST -> level++ } goto entry
  :: d_step { Q[level] != _pid && level == LAST -> enter() }
  fi;

critical:
  if :: d_step { inside--; taken[level]-- } fi; /* 7, innermost; Spin allows no label on a d_step itself */

leave:
  if /* 8 */
  :: d_step { level > 0 -> Q[level] = _pid; level-- }
  :: d_step { level == 0 -> Q[level] = _pid } goto entry
  fi;
  taken[level]--; /* 7 */
  goto leave
}
