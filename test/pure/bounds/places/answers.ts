/** What the runtime and the API server answer, the kubeconfig, and what its plugin prints. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { answerError, eventError, retryAfterSeconds } from '../../../../actors/cluster/api/answer-error.ts';
import { readExecAnswer } from '../../../../actors/cluster/api/exec-answer.ts';
import { jsonLines } from '../../../../actors/cluster/api/json-lines.ts';
import { readKubeconfig } from '../../../../actors/cluster/api/kubeconfig.ts';
import { decodeData } from '../../../../actors/cluster/api/kubeconfig-fields.ts';
import { groupByPod } from '../../../../actors/runtime/pleg/group-by-pod.ts';
import { observedContainer, observedSandbox } from '../../../../actors/runtime/pleg/observed-from-cri.ts';
import { imagesInUse } from '../../../../actors/runtime/images/images-in-use.ts';
import { createRuntimeNames } from '../../../../actors/serve/cadvisor/runtime-names.ts';
import type { CriClient } from '../../../../cri/client/cri-client.ts';
import { fromServiceError } from '../../../../cri/client/cri-error.ts';
import { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from '../../../../cri/generated/runtime/v1/api.ts';
import { EventCorrelator } from '../../../../machines/events/event-correlator.ts';
import { pullFailure } from '../../../../machines/images/pull-error.ts';
import { ANNOTATION, LABEL } from '../../../../machines/protocol/runtime-labels.ts';
import { mergePodStatus } from '../../../../machines/status/merge-pod-status.ts';
import { podStatus } from '../../../../machines/status/pod-status.ts';
import { statusPatch } from '../../../../machines/status/status-patch.ts';
import { certificatesPem, pemBlocks } from '../../../../machines/values/pem.ts';
import { AT, observedPod, statusInput } from '../../status/status-fixtures.ts';
import { MIB } from '../support/place.ts';
import type { Place } from '../support/place.ts';

const row =
  (thread: Place['thread'], channel: string, largest: number) =>
  (name: string, read: Place['read']): Place => ({ name, channel, thread, read, largest });

/** JSON.parse itself takes some 40 ms for 1 MiB of brackets: what may be larger is of this size here. */
const JSON_TEXT = MIB / 2;
/** gRPC takes 32 MiB of the runtime in one message, but the hostile texts themselves would not fit in the heap then. */
const MESSAGE = 4 * MIB;
const runtime = row('worker', 'answer of the runtime', MESSAGE);
const lists = row('main', 'answer of the runtime', MESSAGE);
/** What is JSON in an answer is the runtime's own, but for a pod's annotations, which have 256 KiB. */
const info = row('main', 'JSON in an answer of the runtime', JSON_TEXT);
const server = row('main', 'answer of the API server', JSON_TEXT);

const labels = (text: string) => ({
  [LABEL.podUid]: text,
  [LABEL.podName]: text,
  [LABEL.podNamespace]: text,
  [LABEL.containerName]: 'a',
});
/** As many as the text has pieces, of another pod each. */
const many = <T>(text: string, make: (piece: string, at: number) => T): T[] =>
  Array.from({ length: Math.ceil(text.length / 1024) }, (_, i) => make(text.slice(i * 1024, (i + 1) * 1024), i));

function container(text: string): ContainerStatus {
  const mount = { containerPath: text, hostPath: text };
  return ContainerStatus.fromPartial({
    ...{ id: text, state: 2, createdAt: text, startedAt: text, finishedAt: text, reason: text, message: text },
    ...{
      metadata: { name: text },
      image: { image: text },
      imageRef: text,
      imageId: text,
      logPath: text,
      mounts: [mount],
    },
    labels: { ...labels(text), [text]: text },
    annotations: {
      [text]: text,
      [ANNOTATION.hash]: text,
      [ANNOTATION.restartCount]: text,
      [ANNOTATION.terminationMessagePath]: text,
    },
    resources: { linux: { cpuShares: text, cpuQuota: text, cpuPeriod: text, memoryLimitInBytes: text } },
    user: { linux: { uid: text, gid: text, supplementalGroups: [text] } },
  });
}

function sandbox(text: string): PodSandboxStatus {
  return PodSandboxStatus.fromPartial({
    ...{ id: text, createdAt: text, runtimeHandler: text, network: { ip: text, additionalIps: [{ ip: text }] } },
    ...{ labels: labels(text), annotations: { [text]: text } },
  });
}

/** What a pod's status is made of, and what is sent of it. */
function statusOf(text: string): void {
  const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [{ name: 'a' }] } };
  const observed = observedPod([observedContainer(container(text), 's0')], [observedSandbox(sandbox(text))]);
  const own = podStatus(statusInput({ pod, observed }));
  const whole = { pod, api: {}, own, couldHaveRunningContainers: false, isStatic: false, at: AT };
  statusPatch('u', {}, mergePodStatus(whole).status);
}

const cri = (calls: Record<string, (...asked: never[]) => unknown>): CriClient =>
  ({ runtime: calls, image: calls }) as unknown as CriClient;

/** Events of one pod until its similar ones are combined, the text shared out among them. */
function correlate(text: string): void {
  const correlator = new EventCorrelator('n');
  const object = { apiVersion: 'v1', kind: 'Pod', namespace: 'n', name: 'p', uid: 'u' } as const;
  const each = Math.ceil(text.length / 12);
  for (let i = 0; i < 12; i++) {
    const message = `${i}${text.slice(i * each, (i + 1) * each)}`;
    correlator.correlate({ object, at: AT + i, type: 'Warning', reason: 'Failed', message }, AT + i);
  }
}

async function ofLines(text: string): Promise<void> {
  const pieces = many(text, (piece) => Buffer.from(piece));
  for await (const event of jsonLines(pieces as unknown as AsyncIterable<Buffer>)) eventError(event);
}

function kubeconfig(text: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'bounds-'));
  try {
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, text);
    readKubeconfig(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const plugin = { where: '/k', command: '/p', apiVersion: 'client.authentication.k8s.io/v1' } as const;
const credential = (text: string, status: object) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion: plugin.apiVersion, note: text, status });

export const places: readonly Place[] = [
  runtime('observedContainer, observedSandbox, podStatus, mergePodStatus, statusPatch', statusOf),
  lists('groupByPod', (text) =>
    groupByPod(
      many(text, (piece, i) => PodSandbox.fromPartial({ id: `${piece}${i}`, labels: labels(piece) })),
      many(text, (piece, i) => Container.fromPartial({ id: `${piece}${i}`, labels: labels(piece) })),
    ),
  ),
  info('imagesInUse', (text) =>
    imagesInUse(
      cri({
        listImages: () => ({
          images: [{ id: text, repoTags: [text], repoDigests: [text], size: text, pinned: false }],
        }),
        listContainers: () => ({ containers: [{ id: text, imageRef: text, imageId: '', labels: {} }] }),
        status: () => ({ info: { config: text } }),
      }),
      () => false,
      true,
    ),
  ),
  info('createRuntimeNames', (text) =>
    createRuntimeNames(
      cri({
        listContainers: () => ({ containers: [] }),
        listPodSandbox: () => ({ items: [{ id: 's', labels: labels(text) }] }),
        podSandboxStatus: () => ({ info: { info: text } }),
      }),
    ).read(),
  ),
  runtime('fromServiceError, pullFailure', (text) => {
    const error = { code: grpcStatus.UNKNOWN, details: text, metadata: {} } as ServiceError;
    pullFailure('a', fromServiceError('PullImage', error).details);
  }),
  row('main', 'event of a pod', MIB)('EventCorrelator', correlate),
  row(
    'main',
    'error of the API server, or of a proxy',
    4 * MIB,
  )('answerError', (text) => answerError(500, text, undefined)),
  server('answerError: message', (text) =>
    answerError(500, JSON.stringify({ reason: text, message: text }), undefined),
  ),
  server('pemBlocks, certificatesPem', (text) => certificatesPem(pemBlocks(text))),
  server('retryAfterSeconds', (text) => retryAfterSeconds({ 'retry-after': text })),
  server('jsonLines, eventError', ofLines),
  // It is read before there are pods.
  row('main', "the administrator's kubeconfig", 4 * 1024)('readKubeconfig', kubeconfig),
  row('main', "the administrator's kubeconfig", MIB)('decodeData', (text) => decodeData('/k', 'a', text)),
  row('main', 'credential plugin', MIB)('readExecAnswer', (text) => readExecAnswer(plugin, text)),
  ...['token', 'clientCertificateData', 'expirationTimestamp'].map((name) =>
    row(
      'main',
      'credential plugin',
      MIB,
    )(`readExecAnswer: ${name}`, (text) => readExecAnswer(plugin, credential(text, { token: 't', [name]: text }))),
  ),
];
