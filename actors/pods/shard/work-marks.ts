import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { fnv32a } from '../../../machines/values/hash.ts';

/** Bytes of the memory that a worker shares with main. */
export const MARKS_BYTES = 8;
const BEAT = 0;
const AT = 1;

/**
 * What main can see of a worker that no longer answers: a counter that rises while its event loop turns, and the pod that it is
 * at. Main reads what the last worker left, to tell whom it died on.
 */
export class WorkMarks {
  private readonly marks: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.marks = new Int32Array(shared);
  }

  /** A sign of life. */
  beat(): void {
    Atomics.add(this.marks, BEAT, 1);
  }

  get beats(): number {
    return Atomics.load(this.marks, BEAT);
  }

  /** Does `work` for the pod; while it lasts the pod is the one that the worker is at. */
  at<T>(uid: string, work: () => T): T {
    this.enter(uid);
    try {
      return work();
    } finally {
      this.leave();
    }
  }

  /** Which pod the worker is at this moment (or was, when it died): says of a UID whether it is that one; null = it is at none. */
  whereabouts(): ((uid: string) => boolean) | null {
    const mark = Atomics.load(this.marks, AT);
    return mark === 0 ? null : (uid) => mark === markOf(uid);
  }

  private enter(uid: string): void {
    Atomics.store(this.marks, AT, markOf(uid));
  }

  private leave(): void {
    Atomics.store(this.marks, AT, 0);
  }

  /**
   * From now on what goes on after an `await` is marked as well: of all that is done within {@link following}. It makes each
   * promise dearer, so only a worker watches so closely whose predecessor died nobody knows of what. Returns how to end it.
   */
  followAwaits(): () => void {
    const hook = createHook({
      before: () => {
        const uid = FOLLOWED.getStore();
        if (uid !== undefined) this.enter(uid);
      },
      after: () => {
        if (FOLLOWED.getStore() !== undefined) this.leave();
      },
    });
    hook.enable();
    return () => hook.disable();
  }
}

const FOLLOWED = new AsyncLocalStorage<string>();

/** Does `work` for the pod; what it awaits is the pod's, too. */
export function following<T>(uid: string, work: () => T): T {
  return FOLLOWED.run(uid, work);
}

/** Not 0, which stands for no pod. */
function markOf(uid: string): number {
  return fnv32a(uid) | 0 || 1;
}
