/* SPDX-License-Identifier: Apache-2.0 */
/* Anderson & Moir 1997, figure 8, nested N-K times: what `kgate-lab check am97-chain-dsm -N n -k k` explores, for Spin.
 *
 * See figure3.pml for how steps and variables are chosen. P[i] is a set of processes: bit p is the paper's P[p] of level i.
 */
#define LEVELS     (N - K)
#define LAST       (LEVELS - 1)
#define SLOTS(i)   (N - 1 - (i))
#define X_IS_ZERO  (taken[level] == SLOTS(level))
#define X_NEGATIVE (taken[level] > SLOTS(level))
#define P_SET(q)   ((P[level] >> (q)) & 1)

byte taken[LEVELS];
byte Q[LEVELS];
byte P[LEVELS] = (1 << N) - 2; /* all but process 0 */
byte inside;

inline enter() {
  inside++;
  assert(inside <= K)
}
inline set(q) { P[level] = P[level] | (1 << q) }
inline clear(q) { P[level] = P[level] & ~(1 << q) }

active [N] proctype process() {
  byte level, v;

entry:
  if /* 2 */
  :: d_step { !X_IS_ZERO && level < LAST -> taken[level]++; level++ } goto entry
  :: d_step { !X_IS_ZERO && level == LAST -> taken[level]++; enter() } goto critical
  :: d_step { X_IS_ZERO -> taken[level]++ }
  fi;
  v = Q[level]; /* 3 */
  if /* 4 */
  :: d_step { P_SET(v) && level < LAST -> v = 0; level++ } goto entry
  :: d_step { P_SET(v) && level == LAST -> v = 0; enter() } goto critical
  :: d_step { !P_SET(v) -> set(v); v = 0 }
  fi;
  Q[level] = _pid; /* 5 */
  d_step { clear(_pid) } /* 6 */
  if /* 7 */
  :: X_NEGATIVE
  :: d_step { !X_NEGATIVE && level < LAST -> level++ } goto entry
  :: d_step { !X_NEGATIVE && level == LAST -> enter() } goto critical
  fi;
  if /* 8: blocks until P[p] */
  :: d_step { P_SET(_pid) && level < LAST -> level++ } goto entry
  :: d_step { P_SET(_pid) && level == LAST -> enter() }
  fi;

critical:
  if :: d_step { inside--; taken[level]-- } fi; /* 10, innermost; Spin allows no label on a d_step itself */

leave:
  v = Q[level]; /* 11 */
  if /* 12 */
  :: d_step { P_SET(v) && level > 0 -> v = 0; level-- } goto slot
  :: d_step { P_SET(v) && level == 0 -> v = 0 } goto entry
  :: d_step { !P_SET(v) -> set(v); v = 0 }
  fi;
  Q[level] = _pid; /* 13 */
  if /* 14 */
  :: d_step { level > 0 -> clear(_pid); level-- }
  :: d_step { level == 0 -> clear(_pid) } goto entry
  fi;
slot:
  taken[level]--; /* 10 */
  goto leave
}
