/** A small real CSI driver for tests: folders and files are its volumes. It records its calls, and can be told to do them wrong. */
import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { ControllerService, IdentityService } from '../../../cri/generated/csi/v1/controller.ts';
import { NodeService } from '../../../cri/generated/csi/v1/node.ts';
import { RegistrationService } from '../../../cri/generated/pluginregistration/v1/api.ts';
import { Attachments } from './attachments.ts';
import { controllerService, identityService } from './controller-service.ts';
import { Faults } from './faults.ts';
import { nodeService } from './node-service.ts';
import type { NodeTraits } from './node-service.ts';
import { VolumeStore } from './volume-store.ts';
import type { Showing } from './volume-store.ts';

const CAPABILITIES = ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'EXPAND_VOLUME'] as const;
/** What the node of a driver with disks can do. */
export const DISK_CAPABILITIES = [...CAPABILITIES, 'SINGLE_NODE_MULTI_WRITER'] as const;

/** What a driver is made of. */
export interface CsiDriverOptions {
  name: string;
  /** Socket of its services. */
  socket: string;
  /** Socket in `plugins_registry`, by which the node finds it; absent: it is not registered. */
  registration?: string;
  /** Folder of its volumes. */
  dir: string;
  showing?: Showing;
  traits?: Partial<NodeTraits>;
  versions?: string[];
  /** It fails when it is told what came of its registration. */
  deaf?: true;
  /** Each call is a line of JSON here, too. */
  callsFile?: string;
  /** Faults by method as JSON; read with each call. */
  faultsFile?: string;
}

/** One call: `NodeStageVolume` with what was asked. */
export interface RecordedCall {
  method: string;
  request: Record<string, unknown>;
}

/** See the file's head. */
export class CsiDriver {
  readonly calls: RecordedCall[] = [];
  /** What the node said of its registrations. */
  readonly told: { pluginRegistered: boolean; error: string }[] = [];
  readonly faults: Faults;
  readonly traits: NodeTraits;
  readonly store: VolumeStore;
  readonly attachments = new Attachments();
  readonly options: CsiDriverOptions;
  private servers: Server[] = [];
  /** Ends of the calls that hang. */
  private hanging: (() => void)[] = [];

  constructor(options: CsiDriverOptions) {
    this.options = options;
    this.faults = new Faults(options.faultsFile);
    this.store = new VolumeStore(options.dir, options.showing ?? 'plain');
    this.traits = {
      ...{ nodeId: 'node-of-test', maxVolumes: 0, topology: {}, anyVolume: false, attaches: false },
      capabilities: CAPABILITIES,
      ...options.traits,
    };
  }

  /** Methods called, without those that only ask what it can do. */
  get did(): string[] {
    return this.calls
      .map(({ method }) => method)
      .filter((method) => !/Get(Capabilities|Info|PluginInfo)$/.test(method));
  }

  async start(): Promise<void> {
    const { name, socket, registration, versions = ['1.0.0'] } = this.options;
    const own = new Server();
    own.addService(
      IdentityService,
      this.recorded(
        IdentityService,
        identityService(name, () => this.traits),
      ),
    );
    own.addService(
      ControllerService,
      this.recorded(
        ControllerService,
        controllerService(this.store, this.attachments, () => this.traits),
      ),
    );
    own.addService(
      NodeService,
      this.recorded(
        NodeService,
        nodeService(this.store, this.attachments, () => this.traits),
      ),
    );
    this.servers.push(own);
    await listen(own, socket);
    if (registration === undefined) return;
    const registrar = new Server();
    registrar.addService(RegistrationService, {
      getInfo: (_call: unknown, done: sendUnaryData<object>) =>
        done(null, { type: 'CSIPlugin', name, endpoint: socket, supportedVersions: versions }),
      notifyRegistrationStatus: (
        { request }: { request: { pluginRegistered: boolean; error: string } },
        done: sendUnaryData<object>,
      ) => {
        this.told.push(request);
        if (this.options.deaf === true) done({ code: 13, details: 'no ears' });
        else done(null, {});
      },
    });
    this.servers.push(registrar);
    await listen(registrar, registration);
  }

  /** Calls that hang fail now. */
  release(): void {
    for (const end of this.hanging.splice(0)) end();
  }

  /** It dies; with `leave` its sockets stay where they were, as after a kill. */
  stop(leave = false): void {
    for (const server of this.servers) server.forceShutdown();
    this.servers = [];
    if (leave) return;
    rmSync(this.options.socket, { force: true });
    if (this.options.registration !== undefined) rmSync(this.options.registration, { force: true });
  }

  private recorded(definition: ServiceDefinition, answers: object): UntypedServiceImplementation {
    const table: UntypedServiceImplementation = {};
    for (const [key, { path }] of Object.entries(definition)) {
      const method = path.slice(path.lastIndexOf('/') + 1);
      table[key] = (call: ServerUnaryCall<Record<string, unknown>, object>, done: sendUnaryData<object>): void => {
        const recorded = { method, request: call.request };
        this.calls.push(recorded);
        if (this.options.callsFile !== undefined)
          appendFileSync(this.options.callsFile, `${JSON.stringify(recorded)}\n`);
        const fault = this.faults.meet(method);
        const fail = (): void => done({ code: fault?.code ?? 13, details: fault?.text ?? 'told to fail' });
        if (fault !== null && fault.after !== true)
          return void (fault.hang === true ? this.hanging.push(fail) : fail());
        const answer = (answers as Record<string, ((request: unknown) => object) | undefined>)[key];
        if (answer === undefined) return done({ code: 12, details: `${method} is not implemented` });
        let response: object;
        try {
          response = answer(call.request);
        } catch (error) {
          const { code = 13, message } = error as Error & { code?: number };
          return done({ code: typeof code === 'number' ? code : 13, details: message });
        }
        if (fault === null) return done(null, response);
        if (fault.hang === true) this.hanging.push(fail);
        else fail();
      };
    }
    return table;
  }
}

async function listen(server: Server, socket: string): Promise<void> {
  if (existsSync(socket)) rmSync(socket);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
}
