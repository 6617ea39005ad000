import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { pod, PodWorld } from './pod-world.ts';

test('a container is not probed while it is stopped for its failed postStart hook', () => {
  const container: Container = {
    ...{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent' },
    lifecycle: { postStart: { exec: { command: ['hook'] } } },
    livenessProbe: { exec: { command: ['live'] }, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 2 },
  };
  const world = new PodWorld(pod({ containers: [container] }));
  const asked: string[] = [];
  world.answers['cri.ExecSync'] = (effect) => {
    if (effect.type !== 'cri.ExecSync') return undefined;
    asked.push(effect.params.cmd.join(' '));
    return { result: { exitCode: 1, output: '' } };
  };
  world.answers['cri.StopContainer'] = () => 'hang';
  world.run(15_000);
  assert.deepEqual(asked, ['hook']);
});
