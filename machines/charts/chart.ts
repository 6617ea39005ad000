/** A statechart as plain data: what the inspector draws and `actorlet machines` writes. */
export interface Chart {
  /** Name of the machine: `pod`, `container`, `probe`, `volume`, `supervisor`, `node`. */
  id: string;
  root: ChartState;
  transitions: ChartTransition[];
}

/** A state with its children. */
export interface ChartState {
  /** Dotted path below the machine, as `statePath` gives it; '' for the root. */
  path: string;
  /** Last part of the path. */
  key: string;
  kind: 'atomic' | 'compound' | 'parallel' | 'final';
  /** Path of the initial child of a compound state. */
  initial?: string;
  /** What the state is for, in a sentence; '' when the machine does not say. */
  description: string;
  states: ChartState[];
}

/** A transition from one state to another; eventless ones (`always`) included. One of a compound state holds in all states within it. */
export interface ChartTransition {
  from: string;
  /** Same as `from` for one that stays. */
  to: string;
  /** Type of the message, or of the internal event (`enter.STATE`, see machine-step/move.ts); '' for `always`. */
  event: string;
  /** What brings it about, where the definition says so. */
  why?: string;
}
