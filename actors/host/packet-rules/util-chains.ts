import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Iptables } from './iptables.ts';

/** By its existence others see which kind of iptables this machine uses. */
const HINT = 'KUBE-IPTABLES-HINT';
const FIREWALL = 'KUBE-FIREWALL';
const CANARY = 'KUBE-KUBELET-CANARY';
const CANARY_TABLES = ['mangle', 'nat', 'filter'];
/** How often it is looked whether somebody flushed the rules, ms. */
const MONITOR_MS = 60_000;
/** How long the other tables may take to be flushed too, and how often they are looked at meanwhile, ms. */
const FLUSH_MS = 5_000;
const FLUSH_LOOK_MS = 100;

/** Packets from elsewhere to this machine's loopback addresses are dropped (kubernetes#90259); the words are kubelet's and kube-proxy's. */
const NO_MARTIANS = [
  ...['-m', 'comment', '--comment', 'block incoming localnet connections'],
  ...['--dst', '127.0.0.0/8', '!', '--src', '127.0.0.0/8'],
  ...['-m', 'conntrack', '!', '--ctstate', 'RELATED,ESTABLISHED,DNAT', '-j', 'DROP'],
];

/**
 * The chains that kubelet makes for other components (`makeIPTablesUtilChains`), and makes again after somebody flushed the
 * rules: a canary chain tells. They stay when the agent ends, as kubelet's do.
 */
export class UtilChains {
  private readonly log: Logger;
  private readonly families: readonly Iptables[];
  private readonly periodMs: number;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;
  private round: Promise<void> = Promise.resolve();

  constructor(log: Logger, families = [new Iptables('IPv4'), new Iptables('IPv6')], periodMs = MONITOR_MS) {
    this.log = log;
    this.families = families;
    this.periodMs = periodMs;
  }

  /** Makes them, and looks after them from then on. */
  start(): void {
    this.round = this.begin();
  }

  /** Looks no more; ends when what is under way has. */
  async stop(): Promise<void> {
    this.ended = true;
    clearTimeout(this.timer);
    await this.round;
  }

  private async begin(): Promise<void> {
    const present: Iptables[] = [];
    for (const family of this.families) if (await family.present()) present.push(family);
    if (present.length === 0) {
      this.log.info('No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain');
      return;
    }
    const watched: Iptables[] = [];
    for (const family of present) {
      if (this.ended) return;
      const { protocol } = family;
      if (await this.make(family)) {
        this.log.info({ protocol }, 'Initialized iptables rules.');
        watched.push(family);
      } else this.log.info({ protocol }, 'Failed to initialize iptables rules; some functionality may be missing.');
    }
    for (const family of watched) await this.setCanary(family);
    this.watch(watched);
  }

  private watch(families: readonly Iptables[]): void {
    if (this.ended || families.length === 0) return;
    this.timer = setTimeout(() => {
      this.round = this.look(families).then(() => this.watch(families));
    }, this.periodMs);
    this.timer.unref();
  }

  private async look(families: readonly Iptables[]): Promise<void> {
    for (const family of families) {
      const [first = '', ...rest] = CANARY_TABLES;
      if (this.ended || (await family.chainExists(first, CANARY))) continue;
      await this.flushed(family, rest);
      this.log.debug({ protocol: family.protocol }, 'Reloading after iptables flush');
      await this.make(family);
      await this.setCanary(family);
    }
  }

  /** Who flushes goes from table to table: what is made too soon would be flushed with the next one. */
  private async flushed(family: Iptables, tables: readonly string[]): Promise<void> {
    for (let waited = 0; waited < FLUSH_MS && !this.ended; waited += FLUSH_LOOK_MS) {
      const left = await Promise.all(tables.map((table) => family.chainExists(table, CANARY)));
      if (!left.includes(true)) return;
      await pause(FLUSH_LOOK_MS);
    }
    this.log.info('Inconsistent iptables state detected');
  }

  private async setCanary(family: Iptables): Promise<void> {
    for (const table of CANARY_TABLES) {
      await family.ensureChain(table, CANARY).catch((err: unknown) => {
        this.log.error({ err, table, chain: CANARY }, 'Could not set up iptables canary');
      });
    }
  }

  private async make(family: Iptables): Promise<boolean> {
    try {
      await family.ensureChain('mangle', HINT);
      // IPv6 has one loopback address, which is not routed.
      if (family.protocol === 'IPv6') return true;
      await family.ensureChain('filter', FIREWALL);
      for (const chain of ['OUTPUT', 'INPUT']) await family.ensureRule('prepend', 'filter', chain, ['-j', FIREWALL]);
      await family.ensureRule('append', 'filter', FIREWALL, NO_MARTIANS);
      return true;
    } catch (err) {
      this.log.error({ err, protocol: family.protocol }, 'Failed to ensure iptables rules');
      return false;
    }
  }
}
