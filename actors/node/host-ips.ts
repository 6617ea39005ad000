/** The node's addresses as pods know them: those of its object, once it has others than were found at the start. */
export class HostIPs {
  /** Undefined while they are those that were found. */
  now: string[] | undefined;
  private told: string;
  private readonly tell: (ips: string[]) => void;

  /** @param found what pods know without being told */
  constructor(found: readonly string[], tell: (ips: string[]) => void) {
    this.told = found.join();
    this.tell = tell;
  }

  /** The object has these; pods hear of it when they knew others. */
  take(ips: string[]): void {
    if (ips.join() === this.told) return;
    this.told = ips.join();
    this.now = ips;
    this.tell(ips);
  }
}
