/** Where each field of a configuration was set: a file, a drop-in or a flag; the last one counts. */
export class Origins {
  readonly #of = new Map<string, string>();

  /** Notes that these paths were set by `where`. */
  record(paths: readonly string[], where: string): void {
    for (const path of paths) {
      this.#of.delete(path);
      this.#of.set(path, where);
    }
  }

  /** Was the field, or something inside it, set by anyone? */
  isSet(path: string): boolean {
    return this.of(path) !== 'defaults';
  }

  /** Who set the field, or `defaults`. List items belong to their list. */
  of(path: string): string {
    const wanted = path.replace(/\[.*$/, '');
    let found = 'defaults';
    for (const [known, where] of this.#of) {
      if (known === wanted || known.startsWith(`${wanted}.`) || wanted.startsWith(`${known}.`)) found = where;
    }
    return found;
  }
}
