import { rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { ActorletError } from '../../machines/errors/define.ts';
import { simErrors } from '../../machines/errors/sim-errors.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { ImageServiceService, RuntimeServiceService } from '../generated/runtime/v1/api.ts';
import { ENCODED } from './handlers.ts';

/** Longest message in each direction, as containerd's server has it. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** sun_path holds 108 bytes, the last of them zero. */
const MAX_PATH_BYTES = 107;

/** The gRPC server on its socket; it can go away and come back. */
export class SimServer {
  readonly #socket: string;
  readonly #runtime: UntypedServiceImplementation;
  readonly #image: UntypedServiceImplementation;
  #server: Server | undefined;

  constructor(socket: string, runtime: UntypedServiceImplementation, image: UntypedServiceImplementation) {
    this.#socket = socket;
    this.#runtime = runtime;
    this.#image = image;
  }

  /** Listens. A left-over socket is replaced. Throws SIM004 when somebody answers there, SIM005 when it cannot be. */
  async open(): Promise<void> {
    await makeWay(this.#socket);
    const server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': -1,
    });
    server.addService(withEncodedLists(), this.#runtime);
    server.addService(ImageServiceService, this.#image);
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.#socket}`, ServerCredentials.createInsecure(), (cause) => {
        if (cause === null) resolve();
        else reject(unusable(this.#socket, cause.message, cause));
      });
    });
    this.#server = server;
  }

  /** Drops all connections and takes the socket away. */
  close(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
    rmSync(this.#socket, { force: true });
  }
}

/** The service with the hot lists' answers passed on as the bytes they are. */
function withEncodedLists(): Record<string, (typeof RuntimeServiceService)['version']> {
  const definition: Record<string, unknown> = {};
  for (const [method, its] of Object.entries(RuntimeServiceService)) {
    definition[method] = ENCODED.has(method) ? { ...its, responseSerialize: (bytes: Buffer) => bytes } : its;
  }
  return definition as Record<string, (typeof RuntimeServiceService)['version']>;
}

async function makeWay(socket: string): Promise<void> {
  if (Buffer.byteLength(socket) > MAX_PATH_BYTES) throw unusable(socket, 'the path is too long');
  let stats;
  try {
    stats = statSync(socket, { throwIfNoEntry: false });
  } catch (cause) {
    throw unusable(socket, messageOf(cause), cause);
  }
  if (stats === undefined) return;
  if (!stats.isSocket()) throw unusable(socket, 'there is a file that is no socket');
  if (await answers(socket)) throw new ActorletError(simErrors.socketInUse, { socket });
  rmSync(socket, { force: true });
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', () => resolve(false));
  });
}

function unusable(socket: string, problem: string, cause?: unknown): ActorletError {
  return new ActorletError(simErrors.socketUnusable, { socket, problem }, { cause });
}
