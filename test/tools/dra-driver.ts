/** A driver of dynamic resources of a test: `DRAPlugin` on a socket of its own in `plugins_registry`. */
import { existsSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { DRAPluginService } from '../../cri/generated/dra/v1/api.ts';
import type {
  Claim,
  Device,
  NodePrepareResourcesRequest,
  NodePrepareResourcesResponse,
} from '../../cri/generated/dra/v1/api.ts';
import { DRAPluginService as BetaService } from '../../cri/generated/dra/v1beta1/api.ts';
import { DRAResourceHealthService } from '../../cri/generated/drahealth/v1alpha1/api.ts';
import type {
  DeviceHealth,
  NodeWatchResourcesRequest,
  NodeWatchResourcesResponse,
} from '../../cri/generated/drahealth/v1alpha1/api.ts';
import { RegistrationService } from '../../cri/generated/pluginregistration/v1/api.ts';

/** What a driver of a test does; may be changed while it runs. */
export interface DriverBehaviour {
  /** Services that it says it speaks; it speaks both. */
  services: string[];
  /** Devices that it prepares for a claim. */
  devices: (claim: Claim) => Device[];
  /** How its devices are, as it tells who watches; absent: it has no service for that. */
  health?: DeviceHealth[];
  /** What it answers instead. */
  fault?:
    | { t: 'hang' }
    /** The call fails. */
    | { t: 'fail'; details: string }
    /** The claim does; `takesBack`: it is refused when it is to be prepared only. */
    | { t: 'refuse'; error: string; takesBack?: boolean }
    /** It answers when this has come. */
    | { t: 'late'; after: Promise<unknown> }
    /** Claims are left out. */
    | { t: 'skip' };
}

type Done = sendUnaryData<NodePrepareResourcesResponse>;

/** Listens at one socket for registration and calls, as the drivers of Kubernetes' kubeletplugin library may. */
export class TestDriver {
  readonly behaviour: DriverBehaviour;
  readonly socket: string;
  /** Calls in their order: `prepare a,b`, by the names of claims. */
  readonly calls: string[] = [];
  /** What the node said of its registration. */
  readonly told: { pluginRegistered: boolean; error: string }[] = [];
  private readonly name: string;
  private readonly watchers = new Set<ServerWritableStream<NodeWatchResourcesRequest, NodeWatchResourcesResponse>>();
  private server: Server | undefined;

  constructor(socket: string, name: string, behaviour: Partial<DriverBehaviour> = {}) {
    this.socket = socket;
    this.name = name;
    this.behaviour = { services: ['v1.DRAPlugin'], devices: (claim) => [deviceOf(name, claim)], ...behaviour };
  }

  async start(): Promise<void> {
    this.stop();
    const server = new Server();
    const calls = {
      nodePrepareResources: (call: ServerUnaryCall<NodePrepareResourcesRequest, unknown>, done: Done) =>
        this.answer('prepare', call.request.claims, done),
      nodeUnprepareResources: (call: ServerUnaryCall<NodePrepareResourcesRequest, unknown>, done: Done) =>
        this.answer('unprepare', call.request.claims, done),
    };
    server.addService(DRAPluginService, calls);
    server.addService(BetaService, calls);
    if (this.behaviour.health !== undefined)
      server.addService(DRAResourceHealthService, {
        nodeWatchResources: (stream: ServerWritableStream<NodeWatchResourcesRequest, NodeWatchResourcesResponse>) => {
          this.watchers.add(stream);
          stream.on('cancelled', () => this.watchers.delete(stream));
          stream.write({ devices: this.behaviour.health ?? [] });
        },
      });
    server.addService(RegistrationService, {
      getInfo: (_call: unknown, done: (error: null, info: object) => void) =>
        done(null, {
          ...{ type: 'DRAPlugin', name: this.name, endpoint: this.socket },
          supportedVersions: this.behaviour.services,
        }),
      notifyRegistrationStatus: (
        { request }: { request: { pluginRegistered: boolean; error: string } },
        done: (error: null, answer: object) => void,
      ) => {
        this.told.push(request);
        done(null, {});
      },
    });
    this.server = server;
    await mkdir(dirname(this.socket), { recursive: true });
    if (existsSync(this.socket)) rmSync(this.socket);
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
  }

  /** Tells how its devices are now. */
  tellHealth(): void {
    for (const stream of this.watchers) stream.write({ devices: this.behaviour.health ?? [] });
  }

  /** It dies; its socket stays where it was. */
  stop(): void {
    this.server?.forceShutdown();
    this.watchers.clear();
    this.server = undefined;
  }

  private answer(what: 'prepare' | 'unprepare', claims: Claim[], done: Done): void {
    const { fault } = this.behaviour;
    this.calls.push(`${what} ${claims.map(({ name }) => name).join()}`);
    if (fault?.t === 'hang') return;
    if (fault?.t === 'late') return void fault.after.then(() => this.done(what, claims, done));
    this.done(what, claims, done);
  }

  private done(what: 'prepare' | 'unprepare', claims: Claim[], done: Done): void {
    const { fault, devices } = this.behaviour;
    if (fault?.t === 'fail') return done({ code: 2, details: fault.details });
    const told = fault?.t === 'skip' ? claims.slice(1) : claims;
    const refuses = fault?.t === 'refuse' && (what === 'prepare' || fault.takesBack !== true);
    const error = refuses ? fault.error : '';
    const results = told.map(
      (claim) => [claim.uid, { error, devices: what === 'prepare' ? devices(claim) : [] }] as const,
    );
    done(null, { claims: Object.fromEntries(results) });
  }
}

/** One device for a claim, for all its requests. */
export function deviceOf(driver: string, { name }: Pick<Claim, 'name'>): Device {
  return {
    ...{ requestNames: [], poolName: 'pool', deviceName: `dev-${name}` },
    ...{ cdiDeviceIds: [`${driver}/claim=${name}`], shareId: undefined },
  };
}
