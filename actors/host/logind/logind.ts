import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, MessageBus } from 'dbus-native';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { openBus, SYSTEM_BUS } from '../dbus/open-bus.ts';
import { inhibitByProcess } from './inhibitor-process.ts';
import type { InhibitorLock, LogindEdge, LogindHearer, LogindSession } from './logind-edge.ts';

const LOGIND = { destination: 'org.freedesktop.login1', path: '/org/freedesktop/login1' };
const MANAGER = 'org.freedesktop.login1.Manager';
const SYSTEMD = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
};
const PREPARE = `type='signal',interface='${MANAGER}',member='PrepareForShutdown',path='${LOGIND.path}'`;
/** Where kubelet tells logind how long it has to wait. */
const CONFIG = { dir: '/etc/systemd/logind.conf.d', file: '99-kubelet.conf' };
/** logind reads its configuration when it likes: pauses between looks, ms (kubelet's back-off). */
const PAUSES_MS = [100, 200, 400, 800];
const SIGHUP = 1;

/** Settings of {@link Logind}, for tests. */
export interface LogindOptions {
  /** The system's message bus; that of `DBUS_SYSTEM_BUS_ADDRESS`, or the usual one, when it is not given. */
  socket?: string;
  /** Folder of logind's configuration. */
  configDir?: string;
}

/** logind over the system's message bus, as kubelet's pkg/kubelet/nodeshutdown/systemd has it. */
export class Logind implements LogindEdge {
  private readonly socket: string;
  private readonly configDir: string;

  constructor({ socket, configDir = CONFIG.dir }: LogindOptions = {}) {
    this.socket = socket ?? namedSocket(process.env['DBUS_SYSTEM_BUS_ADDRESS'] ?? '') ?? SYSTEM_BUS.socket;
    this.configDir = configDir;
  }

  /** @throws ActorletError HOST030 when the bus cannot be reached */
  async open({ onPrepare, onLost }: LogindHearer): Promise<LogindSession> {
    let closing = false;
    let isOpen = false;
    const open = await openBus(
      { socket: this.socket, direct: false },
      {
        matches: [PREPARE],
        onMessage: (message) => {
          const active = preparing(message);
          if (active !== null) onPrepare(active);
        },
        onClose: (cause) => {
          if (isOpen && !closing) onLost(messageOf(cause));
        },
      },
    ).catch((error: unknown) => {
      const reason = `${this.socket}: ${messageOf(error)}`;
      throw new ActorletError(hostErrors.logindUnreachable, { reason }, { cause: error });
    });
    isOpen = true;
    const { bus } = open;
    return {
      delayMs: async () => {
        // In microseconds; whoever waits for ever says 2^64 - 1.
        const delay = await property(bus, 'InhibitDelayMaxUSec');
        return Math.min(Number(delay) / 1000, Number.MAX_SAFE_INTEGER);
      },
      preparing: async () => (await property(bus, 'PreparingForShutdown')) === true,
      raiseDelay: (ms) => this.raiseDelay(bus, ms),
      close: () => {
        closing = true;
        open.destroy();
      },
    };
  }

  inhibit(onLost: (why: string) => void): Promise<InhibitorLock> {
    return inhibitByProcess(this.socket, onLost);
  }

  /** Writes kubelet's file, and has logind read it. */
  private async raiseDelay(bus: MessageBus, ms: number): Promise<number> {
    const what = `wait for ${ms / 1000} s`;
    return refusable(what, async () => {
      await mkdir(this.configDir, { recursive: true, mode: 0o755 });
      const path = join(this.configDir, CONFIG.file);
      const text = `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${Math.round(ms / 1000)}\n`;
      await writeFile(path, text, { mode: 0o644 });
      await chmod(path, 0o644);
      const body = ['systemd-logind.service', 'all', SIGHUP];
      await bus.invoke({ ...SYSTEMD, member: 'KillUnit', signature: 'ssi', body });
      let delayMs = 0;
      for (const pause of [0, ...PAUSES_MS]) {
        if (pause > 0) await sleep(pause);
        delayMs = Number(await property(bus, 'InhibitDelayMaxUSec')) / 1000;
        if (delayMs >= ms) break;
      }
      return delayMs;
    });
  }
}

/** The bus that the environment names, as kubelet's library takes it; undefined when it names no file. */
function namedSocket(address: string): string | undefined {
  return address.startsWith('unix:path=') ? address.slice('unix:path='.length).split(/[,;]/)[0] : undefined;
}

/** What the signal says; null for anything else. One that says nothing sensible is none. */
function preparing({ member, interface: from, path, body }: Message): boolean | null {
  if (member !== 'PrepareForShutdown' || from !== MANAGER || path !== LOGIND.path) return null;
  const [active] = body ?? [];
  return typeof active === 'boolean' ? active : null;
}

function property(bus: MessageBus, name: string): Promise<unknown> {
  const get = { interface: 'org.freedesktop.DBus.Properties', member: 'Get', signature: 'ss', body: [MANAGER, name] };
  return refusable(`say its ${name}`, () => bus.invoke<unknown>({ ...LOGIND, ...get }));
}

async function refusable<T>(what: string, ask: () => PromiseLike<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ActorletError) throw error;
    throw new ActorletError(hostErrors.logindRefused, { what, reason: messageOf(error) }, { cause: error });
  }
}
