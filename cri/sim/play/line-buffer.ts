/** Cuts what a process prints into lines. */
export class LineBuffer {
  readonly #tell: (text: string, partial: boolean) => void;
  #rest = '';

  /** `tell` hears each line without its newline; `partial`: the end of the output, which had none. */
  constructor(tell: (text: string, partial: boolean) => void) {
    this.#tell = tell;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#tell(line, false);
  }

  /** The process has ended. */
  end(): void {
    if (this.#rest !== '') this.#tell(this.#rest, true);
    this.#rest = '';
  }
}
