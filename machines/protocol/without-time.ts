/** A message as it is told: whoever takes it adds the time. */
export type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;
