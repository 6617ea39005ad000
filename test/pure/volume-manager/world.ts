import assert from 'node:assert/strict';
import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import type { VolumeMessage } from '../../../machines/volume-manager/volume-messages.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { nextVolumeDeadline, stepVolumeManager } from '../../../machines/volume-manager/volume-manager-machine.ts';
import { NO_VOLUMES } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';

type Call = Extract<VolumeOrder, { key: string }>;
type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

/** What a call may come to: it works, it fails for certain, or it fails and nobody knows whether it worked. */
export type Fate = 'works' | 'fails' | 'worksUnheard' | 'failsUnsure';

/** A node whose drivers are a model: what is staged and published, and the volume manager's machine beside it. Rules are checked at each order. */
export class VolumeWorld {
  state: VolumeManagerState = NO_VOLUMES;
  at = 1_000;
  readonly staged = new Set<string>();
  readonly published = new Set<string>();
  readonly attached = new Set<string>();
  /** Calls that have not come back. */
  readonly calls = new Map<string, Call>();
  readonly told: VolumeOrder[] = [];
  readonly seen = new Set<string>();
  /** What is told with an attachment, besides. */
  more: { unattachable?: true } = {};
  private readonly known: (uid: string, volume: string) => KnownVolume;

  constructor(known: (uid: string, volume: string) => KnownVolume) {
    this.known = known;
  }

  take(message: WithoutTime<VolumeMessage>): VolumeOrder[] {
    const before = this.state;
    const { state, outputs } = stepVolumeManager(before, { ...message, at: this.at } as VolumeMessage);
    this.state = state;
    this.see('mount', before.mounts, state.mounts);
    this.see('device', before.devices, state.devices);
    for (const order of outputs) this.order(order);
    assert.ok((nextVolumeDeadline(state) ?? Infinity) > this.at, 'a deadline that has come is served');
    return outputs;
  }

  /** Lets a call come back. */
  end(key: string, fate: Fate = 'works'): void {
    const call = this.calls.get(key);
    assert.ok(call);
    this.calls.delete(key);
    if (fate === 'works' || fate === 'worksUnheard') this.work(call);
    if (fate === 'works') this.take(this.outcome(call));
    else this.take({ type: 'call.failed', key, code: 'E', text: `no ${call.type}`, done: fate === 'fails' });
  }

  /** Time goes on to the next deadline. */
  wait(): boolean {
    const next = nextVolumeDeadline(this.state);
    if (next === null) return false;
    this.at = Math.max(this.at, next);
    this.take({ type: 'timer' });
    return true;
  }

  only(): Call {
    const [call, ...more] = this.calls.values();
    assert.ok(call !== undefined && more.length === 0, JSON.stringify([...this.calls.values()]));
    return call;
  }

  value(id: string): unknown {
    return this.state.mounts[id]?.value;
  }

  /** What is gone is forgotten in the same step. */
  private see(name: string, was: Readonly<Record<string, { value: unknown }>>, is: typeof was): void {
    for (const [id, { value }] of Object.entries(was))
      this.seen.add(`${name} ${String(value)} -> ${String(is[id]?.value ?? 'gone')}`);
  }

  private order(order: VolumeOrder): void {
    if (!('key' in order) || order.type === 'call.giveUp') {
      this.told.push(order);
      return;
    }
    const { key, type } = order;
    assert.equal(this.calls.has(key), false, 'a key is used once');
    const about = aboutOf(order);
    for (const other of this.calls.values())
      // A look-up that was given up may still be under way: it changes nothing.
      if (other.type !== 'volume.resolve' && order.type !== 'volume.resolve' && other.type !== 'device.attach')
        assert.notEqual(`${aboutOf(other)}`, about, `one call at a time: ${type} beside ${other.type}`);
    for (const other of this.calls.values())
      assert.ok(
        !atOnePlace(order, other) && !atOnePlace(other, order),
        `one call at a place: ${type} beside ${other.type}`,
      );
    if (type === 'volume.publish') {
      const { device, stages, attachable } = this.known(order.uid, order.volume);
      if (stages) assert.ok(this.staged.has(device), 'staged before it is published');
      if (attachable) assert.ok(this.attached.has(device), 'attached before it is published');
    }
    if (type === 'device.unstage') {
      const on = [...this.published].filter((id) => this.deviceOf(id) === order.device);
      assert.deepEqual(on, [], 'unstaged after the last unpublish');
    }
    this.calls.set(key, order);
  }

  private deviceOf(id: string): string {
    const [uid = '', volume = ''] = id.split('/');
    return this.known(uid, volume).device;
  }

  private work(call: Call): void {
    switch (call.type) {
      case 'device.attach':
        this.attached.add(call.device);
        break;
      case 'device.stage':
        this.staged.add(call.device);
        break;
      case 'device.unstage':
        this.staged.delete(call.device);
        break;
      case 'volume.publish':
        this.published.add(`${call.uid}/${this.known(call.uid, call.volume).name}`);
        break;
      case 'volume.unpublish':
        this.published.delete(`${call.uid}/${call.name}`);
        break;
      default:
        // Nothing of it stays.
        break;
    }
  }

  private outcome(call: Call): WithoutTime<VolumeMessage> {
    const { key } = call;
    switch (call.type) {
      case 'volume.resolve':
        return { type: 'volume.resolved', key, known: this.known(call.uid, call.volume) };
      case 'volume.publish':
        return { type: 'volume.published', key, path: `/pods/${call.uid}/${call.volume}` };
      case 'volume.unpublish':
        return { type: 'volume.unpublished', key };
      case 'device.attach':
        return { type: 'device.attached', key, devicePath: '/dev/x', ...this.more };
      case 'device.stage':
        return { type: 'device.staged', key, stagedPath: '/staged' };
      case 'device.unstage':
        return { type: 'device.unstaged', key };
      case 'device.expand':
        return { type: 'device.expanded', key, bytes: call.newBytes };
      case 'call.giveUp':
        throw new Error('no call');
    }
  }
}

function aboutOf(call: Call): string {
  if ('device' in call) return call.device;
  if (call.type === 'volume.unpublish') return `${call.uid}/${call.name}`;
  return 'volume' in call ? `${call.uid}/${call.volume}` : '';
}

/** One makes a device larger by the path to which the other brings it up to date. */
function atOnePlace(grows: Call, publishes: Call): boolean {
  return (
    grows.type === 'device.expand' &&
    publishes.type === 'volume.publish' &&
    publishes.again &&
    grows.publishedPath === `/pods/${publishes.uid}/${publishes.volume}`
  );
}

/** What a look-up says of a volume; its PV is called as the volume is in the pod. */
export function known(volume: string, more: Partial<KnownVolume> = {}): KnownVolume {
  return {
    ...{ plugin: 'test/p', name: volume, mode: 'Filesystem', device: '', attachable: false, stages: false },
    ...{ alone: false, wantedBytes: 0, knownBytes: 0 },
    ...more,
  };
}
