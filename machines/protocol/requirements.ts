import type { Container } from './api-types.ts';

/** `resources` of a container as the API has it. */
export type Requirements = NonNullable<Container['resources']>;
