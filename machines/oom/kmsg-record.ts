/** One record of the kernel's log. */
export interface KmsgRecord {
  /** Rises by one with each record since the machine was started. */
  readonly sequence: number;
  /** Its first line; further ones name the device that it is about. */
  readonly text: string;
}

/** Decimal digits that a number of the kernel's can have here. */
const NUMBER = /^\d{1,16}$/;

/**
 * Reads what one read of `/dev/kmsg` gives: `PRIORITY,SEQUENCE,TIMESTAMP,FLAGS;TEXT` (Documentation/ABI/testing/dev-kmsg). Null
 * when it is nothing of the kind.
 */
export function parseKmsgRecord(record: string): KmsgRecord | null {
  const head = record.indexOf(';');
  if (head < 0 || head > 256) return null;
  const [priority = '', sequence = '', time = ''] = record.slice(0, head).split(',', 3);
  if (!NUMBER.test(priority) || !NUMBER.test(sequence) || !NUMBER.test(time)) return null;
  const line = record.indexOf('\n', head);
  return { sequence: Number(sequence), text: record.slice(head + 1, line < 0 ? undefined : line) };
}
