import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { CallFailures } from '../../../actors/runtime/runtime-state/call-failures.ts';
import type { CallReport } from '../../../cri/client/call.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import type { GrpcCode } from '../../../cri/client/cri-error.ts';

/** A call that failed, with what was asked. */
function failed(method: string, request: object, code: Exclude<GrpcCode, 'OK'>, details = 'no'): CallReport {
  const service = /Image/.test(method) ? 'ImageService' : 'RuntimeService';
  return { service, method, ms: 1, code, failure: { error: new CriError(method, code, details), request } };
}

/** Lines that are written for these calls, each `msg err subject`. */
function lines(calls: CallReport[], steady: () => number = () => 0): string[] {
  const written: string[] = [];
  const log = pino({ level: 'error', base: null, timestamp: false }, { write: (line) => written.push(line) });
  const failures = new CallFailures(log, steady);
  for (const call of calls) failures.tell(call);
  return written.map((line) => {
    const { msg, err, level: _, ...subject } = JSON.parse(line) as Record<string, unknown>;
    return `${String(msg)} | ${(err as { message: string }).message} | ${JSON.stringify(subject)}`;
  });
}

describe('calls to the runtime that fail are in the log', () => {
  it("in kubelet's words, with what they were about", () => {
    assert.deepEqual(
      lines([
        failed('RunPodSandbox', { config: {} }, 'Unknown', 'no network'),
        failed('RemovePodSandbox', { podSandboxId: 's' }, 'DeadlineExceeded', 'context deadline exceeded'),
        failed('CreateContainer', { podSandboxId: 's', config: { envs: [{ value: 'secret' }] } }, 'Unknown'),
        failed('RemoveContainer', { containerId: 'c' }, 'Unknown', 'is in removing state'),
        failed('ExecSync', { containerId: 'c', cmd: ['true'] }, 'NotFound'),
        failed('PullImage', { image: { image: 'i' }, auth: { password: 'secret' } }, 'Unknown'),
        failed('ListContainers', { filter: {} }, 'Unavailable'),
      ]),
      [
        'RunPodSandbox from runtime service failed | rpc error: code = Unknown desc = no network | {}',
        'RemovePodSandbox from runtime service failed | rpc error: code = DeadlineExceeded desc = context deadline exceeded | {"podSandboxID":"s"}',
        'CreateContainer in sandbox from runtime service failed | rpc error: code = Unknown desc = no | {"podSandboxID":"s"}',
        'RemoveContainer from runtime service failed | rpc error: code = Unknown desc = is in removing state | {"containerID":"c"}',
        'ExecSync cmd from runtime service failed | rpc error: code = NotFound desc = no | {"containerID":"c","cmd":["true"]}',
        'PullImage from image service failed | rpc error: code = Unknown desc = no | {"image":"i"}',
        'ListContainers with filter from runtime service failed | rpc error: code = Unavailable desc = no | {}',
      ],
    );
  });

  it('not those that went well, that the agent gave up, or that show only that something is gone', () => {
    const well: CallReport = { service: 'RuntimeService', method: 'StopContainer', ms: 1, code: 'OK' };
    const calls = [
      well,
      failed('StopContainer', { containerId: 'c' }, 'Canceled'),
      failed('ContainerStatus', { containerId: 'c' }, 'NotFound'),
      failed('PodSandboxStatus', { podSandboxId: 's' }, 'Unknown'),
    ];
    assert.deepEqual(lines(calls), []);
  });

  it("the same words of one container's status once a minute", () => {
    let now = 0;
    const at = (seconds: number, id: string, details: string): CallReport => {
      return Object.defineProperty(failed('ContainerStatus', { containerId: id }, 'Unknown', details), 'method', {
        get: () => {
          now = seconds * 1000;
          return 'ContainerStatus';
        },
      });
    };
    const told = lines(
      [at(0, 'a', 'x'), at(1, 'a', 'x'), at(2, 'b', 'x'), at(3, 'a', 'y'), at(62, 'a', 'y'), at(63, 'a', 'y')],
      () => now,
    );
    assert.deepEqual(
      told.map((line) => line.replace(/^.*desc = /, '')),
      ['x | {"containerID":"a"}', 'x | {"containerID":"b"}', 'y | {"containerID":"a"}', 'y | {"containerID":"a"}'],
    );
  });
});
