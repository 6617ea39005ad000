import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { passOnEnd } from './pour.ts';

/** One read, and one write of a client, carry so much at most; 64 KiB cost a tenth more CPU with many streams. */
const SIZE = 128 << 10;

/**
 * A plain connection to the runtime that always reads into the same memory. Node makes a buffer of 64 KiB for each read
 * otherwise, whatever comes, and collecting those is a half of a stream's CPU.
 *
 * First it is a socket as any other, so that Node's HTTP can speak on it; {@link pourInto} ends that.
 */
export class KeptBuffer {
  readonly #socket: Socket;
  #take: ((bytes: Buffer) => boolean) | undefined;

  /** Connects. */
  constructor(host: string, port: number) {
    // Pages that are never read into take no memory: a quiet session needs one of them.
    const kept = Buffer.allocUnsafeSlow(SIZE);
    const callback = (length: number): boolean => {
      const bytes = kept.subarray(0, length);
      return this.#take === undefined ? this.#socket.push(Buffer.from(bytes)) : this.#take(bytes);
    };
    this.#socket = connect({ host, port, onread: { buffer: kept, callback } });
  }

  get socket(): Socket {
    return this.#socket;
  }

  /**
   * From now on sends what comes, and the end, to a client. The next bytes are read when the last ones are written: only
   * then is nobody in need of the memory.
   * @param count is told how many bytes came
   */
  pourInto(client: Socket, count: (bytes: number) => void): void {
    const socket = this.#socket;
    const next = (): void => {
      socket.resume();
    };
    const early = socket.read() as Buffer | null;
    if (early !== null) {
      count(early.length);
      client.write(early);
    }
    this.#take = (bytes) => {
      count(bytes.length);
      client.write(bytes, next);
      return false;
    };
    passOnEnd(socket, client);
    socket.resume();
  }
}
