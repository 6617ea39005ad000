import type { Logger } from 'pino';
import { fixedAddresses } from '../../../machines/node-object/node-addresses.ts';
import type { AddressFacts } from '../../../machines/node-object/node-addresses.ts';
import type { MachineFacts } from '../../../machines/node-object/node-types.ts';
import { nodeObjectErrors } from '../../../machines/errors/node-object-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { findHostAddress, nodeAddressProblem } from './host-address.ts';
import { readMachineFacts } from '../../resources/machine/machine-facts.ts';

/** Time after which the machine is looked at anew, ms (kubelet's `updateMachineInfo`). */
const MACHINE_EVERY_MS = 300_000;

/** The facts of machine and addresses, and a way to bring them up to date (`now` in ms; never rejects). */
export type NodeFactsSource = Pick<NodeFactsReader, 'machine' | 'addresses' | 'read'>;

/** Keeps the facts of machine and addresses; addresses are looked at before each status, the machine rarely. */
export class NodeFactsReader {
  private readonly rootDir: string;
  private readonly log: Logger;
  private machineAt = Number.NEGATIVE_INFINITY;
  private problem = '';
  machine: MachineFacts;
  addresses: AddressFacts;

  constructor(rootDir: string, addresses: Omit<AddressFacts, 'found'>, log: Logger) {
    this.rootDir = rootDir;
    this.log = log;
    this.machine = readMachineFacts(rootDir);
    this.addresses = { ...addresses, found: null };
  }

  /** Brings all up to date; `at`: ms of a clock that nobody can set. Never rejects. */
  async read(at: number): Promise<void> {
    if (at - this.machineAt >= MACHINE_EVERY_MS) {
      if (this.machineAt > 0) this.machine = readMachineFacts(this.rootDir);
      this.machineAt = at;
    }
    const { given, hostname } = this.addresses;
    const fixed = fixedAddresses(given);
    const bad = fixed.map((ip) => ({ ip, problem: nodeAddressProblem(ip) })).find(({ problem }) => problem !== null);
    this.addresses = { ...this.addresses, unusable: bad !== undefined };
    if (bad !== undefined) {
      this.report(new ActorletError(nodeObjectErrors.nodeIpUnusable, { ip: bad.ip, problem: bad.problem ?? '' }));
      return;
    }
    if (fixed.length > 0) {
      this.problem = '';
      return;
    }
    const found = await findHostAddress(hostname, given, this.addresses.found);
    if (found === null) this.report(new ActorletError(nodeObjectErrors.noAddress, { node: hostname }));
    else this.problem = '';
    // An address that was found before is better than none while an interface restarts.
    this.addresses = { ...this.addresses, found: found ?? this.addresses.found };
  }

  private report(error: ActorletError): void {
    if (error.message === this.problem) return;
    this.problem = error.message;
    this.log.error({ err: error }, 'Node address is not usable');
  }
}
