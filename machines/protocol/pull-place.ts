/** Where somebody stands who waits. */
export interface PullPlace {
  /** Of the pulls that have not begun; 1: the next. */
  place: number;
  /** Images that are being pulled. */
  underWay: string[];
  /** Images that come before it, in their order. */
  before: string[];
  /** Pulls ahead of it that are not named, since there are many. */
  more: number;
}
