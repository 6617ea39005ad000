/** From one innermost state to another, as dotted paths. */
export interface Move {
  from: string;
  to: string;
}

/** The internal event by which a machine makes a move that a decision asks for (XState's `raise`). */
export interface EnterEvent<S extends string = string> {
  type: `enter.${S}`;
  from: string;
  to: string;
}

/** All of these events, as a descriptor of XState. */
export const ANY_ENTER = 'enter.*';

/** Is an event of this type one of them? */
export function isEnter(type: string): boolean {
  return type.startsWith('enter.');
}

/** The event that asks for a move. */
export function enterEvent({ from, to }: Move): EnterEvent {
  return { type: `enter.${to}`, from, to };
}
