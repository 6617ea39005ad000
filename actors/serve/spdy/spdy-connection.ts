import type { Duplex } from 'node:stream';
import { ActorletError } from '../../../machines/errors/define.ts';
import { spdyErrors } from '../../../machines/errors/spdy-errors.ts';
import { FrameDecoder } from './frame-decoder.ts';
import type { DecoderLimits } from './frame-decoder.ts';
import { dataHead, FrameEncoder } from './frame-encoder.ts';
import { GOAWAY_STATUS, RST_STATUS } from './frames.ts';
import type { SpdyFrame, SpdyHeaders } from './frames.ts';
import { SpdyStream } from './spdy-stream.ts';

/** Settings of a connection. */
export interface SpdyConnectionOptions {
  /** The client's streams have odd numbers, the server's even ones. */
  role: 'client' | 'server';
  /** Bytes of the connection that were read with the answer to the upgrade. */
  head?: Buffer;
  /** The other side opened a stream, and it was accepted; without this, streams are refused. */
  onStream?: (stream: SpdyStream) => void;
  limits?: DecoderLimits;
  /** How many streams the other side may have open at a time, 100 when not given. */
  maxPeerStreams?: number;
}

/** Longest data frame that is sent: a Go receiver reads a frame as a whole before it hands any of it on. */
const MAX_DATA_BYTES = 64 * 1024;

/** How long the last bytes may take to leave. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Answers that may wait for a peer that does not read. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024;

/**
 * A connection of SPDY/3.1 as github.com/moby/spdystream speaks it, the library in all container runtimes and in
 * client-go. It is written here because Node has no well-kept library for it: `spdy-transport` has had no release for
 * years, and it waits for WINDOW_UPDATE frames, which spdystream never sends: a transfer stops after 64 KiB.
 *
 * As in spdystream there are no flow-control windows. When the reader of one stream is slow, the socket is not read,
 * and so all streams of the connection wait: the protocol without windows has no other way that holds memory down.
 * Whoever opens streams must therefore read them all (`resume()` for those that do not matter).
 */
export class SpdyConnection {
  /** Settled when the connection is over: undefined after an orderly end, otherwise the reason. Never rejects. */
  readonly closed: Promise<Error | undefined>;
  readonly #socket: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #encoder = new FrameEncoder();
  readonly #decoder: FrameDecoder;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #opening = new Map<number, { stream: SpdyStream; settle: (error?: Error) => void }>();
  /** Streams whose readers have enough: the socket rests while there are any. */
  readonly #slow = new Set<SpdyStream>();
  #waiting: ((error?: Error | null) => void)[] = [];
  #nextId: number;
  #lastPeerId = 0;
  #peerStreams = 0;
  #goneAway = false;
  #over = false;
  #settleClosed: (error: Error | undefined) => void = () => {};

  constructor(socket: Duplex, options: SpdyConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#decoder = new FrameDecoder(options.limits);
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    socket.on('drain', () => this.#drained());
    socket.on('error', (error) => this.#end(lost(error.message, error)));
    socket.on('end', () => this.#end(this.#goneAway ? undefined : lost('the other side closed it')));
    socket.on('close', () => this.#end(this.#goneAway ? undefined : lost('it was closed')));
    if (socket.destroyed) this.#end(lost('it was closed'));
    const { head } = options;
    if (head !== undefined && head.length > 0) this.#receive(head);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#rest();
  }

  /**
   * Opens a stream and waits for the other side's SYN_REPLY, since spdystream drops what comes before its own reply.
   * Rejects with `SPD003` (connection over), `SPD004` (refused), `SPD005` (no answer).
   * @param timeoutMs 30 s when not given, as client-go waits
   */
  openStream(headers: SpdyHeaders, timeoutMs = 30_000): Promise<SpdyStream> {
    if (this.#over || this.#goneAway) return Promise.reject(lost('it takes no more streams'));
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new SpdyStream(id, headers, this.#link);
    stream.on('error', () => {}); // whoever uses the stream hears of it, too; nobody may do so before it is open
    this.#streams.set(id, stream);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = new ActorletError(spdyErrors.streamTimeout, { stream: id, seconds: timeoutMs / 1000 });
        this.#opening.get(id)?.settle(error);
      }, timeoutMs);
      const settle = (error?: Error) => {
        clearTimeout(timer);
        this.#opening.delete(id);
        if (error === undefined) resolve(stream);
        else {
          stream.destroy();
          reject(error);
        }
      };
      this.#opening.set(id, { stream, settle });
      this.#send({
        type: 'synStream',
        streamId: id,
        associatedTo: 0,
        priority: 0,
        fin: false,
        unidirectional: false,
        headers,
      });
    });
  }

  /** Ends the connection in order: resets what is open, says GOAWAY, and closes the socket when that is sent. */
  close(): void {
    if (this.#over) return;
    for (const stream of this.#streams.values()) stream.destroy();
    this.#goAway(GOAWAY_STATUS.ok);
    this.#end(undefined);
  }

  /** Ends the connection at once. */
  destroy(reason?: Error): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  readonly #link = {
    sendData: (stream: SpdyStream, data: Buffer, fin: boolean, done: (error?: Error | null) => void): void => {
      if (this.#over) {
        done();
        return;
      }
      this.#socket.cork();
      let at = 0;
      do {
        const piece = data.subarray(at, at + MAX_DATA_BYTES);
        at += piece.length;
        this.#socket.write(dataHead(stream.id, piece.length, fin && at === data.length));
        if (piece.length > 0) this.#socket.write(piece);
      } while (at < data.length);
      this.#socket.uncork();
      if (this.#socket.writableNeedDrain) this.#waiting.push(done);
      else done();
    },
    wantsData: (stream: SpdyStream): void => {
      if (this.#slow.delete(stream)) this.#rest();
    },
    released: (stream: SpdyStream, tell: boolean): void => {
      if (!this.#streams.delete(stream.id)) return;
      if (this.#isPeers(stream.id)) this.#peerStreams--;
      if (tell) this.#send({ type: 'rstStream', streamId: stream.id, status: RST_STATUS.cancel });
      if (this.#slow.delete(stream)) this.#rest();
    },
  };

  #receive(bytes: Buffer): void {
    if (this.#over) return;
    try {
      this.#decoder.push(bytes, (frame) => this.#handle(frame));
    } catch (error) {
      const reason = error instanceof Error ? error : lost(String(error));
      this.#goAway(GOAWAY_STATUS.protocolError);
      this.#end(reason);
    }
    this.#rest();
  }

  #handle(frame: SpdyFrame): void {
    if (this.#over) return;
    switch (frame.type) {
      case 'data': {
        const stream = this.#streams.get(frame.streamId);
        if (stream === undefined) return; // reset by us; what was under way is dropped
        if (!stream.receive(frame.data)) this.#slow.add(stream);
        if (frame.fin) stream.receiveEnd();
        return;
      }
      case 'synStream':
        this.#accept(frame.streamId, frame.headers, frame.fin);
        return;
      case 'synReply':
        this.#opening.get(frame.streamId)?.settle();
        if (frame.fin) this.#streams.get(frame.streamId)?.receiveEnd();
        return;
      case 'headers':
        if (frame.fin) this.#streams.get(frame.streamId)?.receiveEnd();
        return;
      case 'rstStream': {
        const { streamId, status } = frame;
        this.#streams.get(streamId)?.receiveEnd(status);
        this.#opening.get(streamId)?.settle(new ActorletError(spdyErrors.streamRefused, { stream: streamId, status }));
        return;
      }
      case 'ping':
        // what has our own parity is the answer to a ping of ours
        if (this.#isPeers(frame.id)) this.#send(frame);
        return;
      case 'goAway':
        this.#goneAway = true;
        for (const { settle } of this.#opening.values()) settle(lost('the other side takes no more streams'));
        return;
      case 'settings':
      case 'windowUpdate':
        return; // of no use without windows
    }
  }

  #accept(id: number, headers: SpdyHeaders, fin: boolean): void {
    if (!this.#isPeers(id) || id <= this.#lastPeerId) {
      this.#send({ type: 'rstStream', streamId: id, status: RST_STATUS.protocolError });
      return;
    }
    this.#lastPeerId = id;
    const { onStream, maxPeerStreams = 100 } = this.#options;
    if (onStream === undefined || this.#goneAway || this.#peerStreams >= maxPeerStreams) {
      this.#send({ type: 'rstStream', streamId: id, status: RST_STATUS.refusedStream });
      return;
    }
    const stream = new SpdyStream(id, headers, this.#link);
    stream.on('error', () => {});
    this.#streams.set(id, stream);
    this.#peerStreams++;
    if (fin) stream.receiveEnd();
    this.#send({ type: 'synReply', streamId: id, fin: false, headers: new Map() });
    onStream(stream);
  }

  #send(frame: SpdyFrame): void {
    if (this.#over || !this.#socket.writable) return;
    this.#socket.write(this.#encoder.encode(frame));
    if (this.#socket.writableLength > MAX_BACKLOG_BYTES) this.destroy(new ActorletError(spdyErrors.notReading));
  }

  #goAway(status: number): void {
    this.#goneAway = true;
    this.#send({ type: 'goAway', lastStreamId: this.#lastPeerId, status });
  }

  #isPeers(id: number): boolean {
    return (id % 2 === 1) !== (this.#options.role === 'client');
  }

  /** Reads the socket while no reader is behind. */
  #rest(): void {
    if (this.#over) return;
    if (this.#slow.size > 0) this.#socket.pause();
    else this.#socket.resume();
  }

  #drained(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done();
  }

  #end(reason: Error | undefined): void {
    if (this.#over) return;
    this.#over = true;
    const error = reason ?? lost('it was closed');
    for (const { settle } of this.#opening.values()) settle(error);
    for (const stream of this.#streams.values()) stream.receiveLoss();
    this.#streams.clear();
    this.#slow.clear();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done();
    this.#closeSocket();
    this.#settleClosed(reason);
  }

  /** Lets what was written leave, for a while, and reads no more than needed to hear of the end. */
  #closeSocket(): void {
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.resume();
    socket.end(() => socket.destroy());
  }
}

function lost(reason: string, cause?: unknown): ActorletError {
  return new ActorletError(spdyErrors.connectionLost, { reason }, { cause });
}
