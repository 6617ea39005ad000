import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { ObeyingWorld } from './obeying-world.ts';
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

test('what comes after a sidecar waits as long as that fails in its postStart hook', () => {
  const sidecar: Container = {
    ...{ name: 's', image: 'img:1', imagePullPolicy: 'IfNotPresent', restartPolicy: 'Always' },
    lifecycle: { postStart: { exec: { command: ['hook'] } } },
  };
  const plain: Container = { name: 'i', image: 'img:1', imagePullPolicy: 'IfNotPresent' };
  const initContainers = [sidecar, plain];
  const world = new ObeyingWorld(pod({ initContainers, containers: [{ ...plain, name: 'c' }] }));
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
  world.stopsWith(143);
  world.run(15_000);
  const made = world.effects.flatMap((e) => (e.type === 'cri.CreateContainer' ? [e.params.config.metadata?.name] : []));
  assert.ok(made.length > 1 && made.every((name) => name === 's'), made.join());
});
