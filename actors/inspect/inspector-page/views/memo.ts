import type { ComponentChildren, ComponentType } from 'preact';
import { Component } from 'preact';

/**
 * A part that is drawn again only when one of its props is another one. For rows of long lists: what it draws must come
 * from its props alone, since it does not hear of signals.
 */
export function memo<P extends object>(draw: (props: P) => ComponentChildren): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const now = this.props as Readonly<P>;
      return Object.keys(next).some((key) => next[key as keyof P] !== now[key as keyof P]);
    }

    override render(): ComponentChildren {
      return draw(this.props as P);
    }
  };
}
