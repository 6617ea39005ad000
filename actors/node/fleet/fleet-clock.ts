import { REAL_TIME } from '../../../cri/sim/sim-time.ts';
import { machineClock } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';

/** The clock of simulated nodes (`--speed`): the machine's, or one that runs faster by a factor. All nodes of a process have the same. */
export interface FleetClock extends Clock {
  /** So many times as fast as the machine's. */
  readonly speed: number;
  /** Calls `action` once, after so many ms of this clock, never sooner. Such a timer keeps the process alive until it is cancelled. */
  readonly after: (ms: number, action: () => void) => Timer;
  /** What the machine's wall clock shows when this one shows `at`; both in ms since the epoch. */
  readonly toReal: (at: number) => number;
  /** What this wall clock shows when the machine's shows `at`. */
  readonly ofReal: (at: number) => number;
}

/**
 * A clock that shows the machine's time now, and goes on from here `speed` times as fast: wall clock, steady clock and timers alike, so
 * that spans and deadlines fit each other whichever of them somebody measures by. What lies before now is the same for both clocks.
 * @param machine the clock that is sped up
 */
export function fleetClock(speed = 1, machine: Clock = machineClock): FleetClock {
  const [wall, steady, looking] = [machine.now(), machine.steady(), machine.looking()];
  const plain = speed === 1;
  // Whole milliseconds: timestamps of the runtime are made of them.
  const ofReal = (at: number): number => (plain || at <= wall ? at : wall + Math.round((at - wall) * speed));
  const toReal = (at: number): number => (plain || at <= wall ? at : wall + Math.round((at - wall) / speed));
  return {
    speed,
    toReal,
    ofReal,
    now: () => ofReal(machine.now()),
    steady: () => steady + (machine.steady() - steady) * speed,
    looking: () => looking + (machine.looking() - looking) * speed,
    lookAfter: (ms, look) => machine.lookAfter(ms / speed, look),
    after: (ms, action) => REAL_TIME.after(Math.ceil(ms / speed), action),
  };
}
