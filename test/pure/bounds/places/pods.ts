/** What stands in pods, of the API server or of manifests: any user of a namespace writes them. An object has 1.5 MiB at most. */
import { containerConfig } from '../../../../machines/container-config/container-config.ts';
import { containerHash } from '../../../../machines/container-config/container-hash.ts';
import { hostsFile } from '../../../../machines/container-config/hosts-file.ts';
import { NO_USAGE } from '../../../../machines/admission/node-usage.ts';
import { admitPod } from '../../../../machines/admission/admit-pod.ts';
import { withDefaultTag } from '../../../../machines/container/image-name.ts';
import { expandFrom } from '../../../../machines/container-config/expansion.ts';
import { resolveEnv } from '../../../../machines/container-config/resolve-env.ts';
import { defaultPod } from '../../../../machines/pod-defaults/default-pod.ts';
import { podProblem } from '../../../../machines/pod-validation/pod-problem.ts';
import { validatePod } from '../../../../machines/pod-validation/validate-pod.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import {
  sandboxConfig,
  sandboxConfigError,
  sandboxWarnings,
} from '../../../../machines/sandbox-config/sandbox-config.ts';
import { parseGoUrl, shownUrl } from '../../../../machines/values/go-url.ts';
import { parseGoQuantity } from '../../../../machines/static-pod-uid/go-quantity.ts';
import { parseGoDuration } from '../../../../machines/values/go-duration.ts';
import { canonicalQuantity, parseBytes, parseCpuMilli, parseQuantity } from '../../../../machines/values/quantity.ts';
import { settings } from '../../pod/pod-world.ts';
import { MIB } from '../support/place.ts';
import type { Place } from '../support/place.ts';
import { withTexts } from '../support/pod-texts.ts';

const channel = 'pod';
const LARGEST = 1.5 * MIB;
const place = (name: string, thread: Place['thread'], read: Place['read']): Place => ({
  ...{ name, channel, thread, read, largest: LARGEST },
});

/** What the main thread does with each pod that it is told of. */
function onMain(pod: Pod): void {
  podProblem(pod);
  const whole = defaultPod(pod);
  admitPod({
    ...{ pod: whole, node: null, usage: NO_USAGE, settings, maxPods: 110, os: 'linux', arch: 'amd64' },
    ...{ allowedUnsafeSysctls: ['kernel.*'], kernelVersion: '6.1.0', appArmorEnabled: true },
  });
}

/** What a shard does with it: the texts that become configuration. */
function onShard(pod: Pod): void {
  sandboxConfigError(pod, settings);
  sandboxConfig(pod, 0, settings);
  sandboxWarnings(pod, settings);
  hostsFile(pod, ['10.0.0.1'], settings);
  for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
    withDefaultTag(container.image ?? '');
    containerHash(container);
    containerConfig({
      ...{ pod, container, kind: 'regular', attempt: 0, podIPs: ['10.0.0.1'], settings },
      ...{ image: { ref: 'r', user: { uid: 0 } } as never, volumePaths: {}, imageVolumes: {}, subPaths: {} },
      ...{ terminationLogPath: '/t', hostsPath: null },
    });
  }
}

const quantities = (text: string): void => {
  parseQuantity(text);
  if (parseQuantity(text) === undefined) return;
  parseCpuMilli(text);
  parseBytes(text);
  canonicalQuantity(text);
};

export const places: readonly Place[] = [
  // The whole of a pod is no larger than the API server stores, however it is shared out.
  place('podProblem, defaultPod, admitPod: all texts', 'main', (text) => onMain(withTexts(text))),
  place('validatePod: all texts', 'main', (text) => validatePod(withTexts(text))),
  place('configurations: all texts', 'worker', (text) => onShard(withTexts(text))),
  ...[
    place('parseQuantity', 'main', quantities),
    place('parseQuantity: Ki', 'main', (text) => quantities(`${text}Ki`)),
    place('parseQuantity: exponent', 'main', (text) => quantities(`1e${text}`)),
    place('parseGoDuration', 'main', parseGoDuration),
    { ...place('parseGoQuantity', 'main', parseGoQuantity), largest: 8 * 1024 },
    ...[
      place('parseGoUrl, shownUrl', 'worker', (text) => shownUrl(parseGoUrl(`/${text}`))),
      place('parseGoUrl: all of it', 'worker', (text) => parseGoUrl(text)),
      place('parseGoUrl: authority', 'worker', (text) => parseGoUrl(`http://${text}/`)),
    ].map((row) => ({ ...row, largest: 256 * 1024 })),
    place('withDefaultTag', 'main', withDefaultTag),
    place('withDefaultTag: tag', 'main', (text) => withDefaultTag(`a:${text}`)),
    place('withDefaultTag: digest', 'main', (text) => withDefaultTag(`a@sha256:${text}`)),
    place('expandFrom', 'worker', (text) => expandFrom(text, new Map([['A', 'b']]))),
    place('resolveEnv: a variable made of itself', 'worker', (text) =>
      resolveEnv(
        {
          ...{ namespace: 'n', command: [text], args: [] },
          steps: Array.from({ length: 40 }, (_, i) => ({
            ...{ step: 'expand' as const, name: `A${String(i + 1)}` },
            value: i === 0 ? text.replaceAll('$(A)', 'x') : `$(A${String(i)})$(A${String(i)})`,
          })),
        } as never,
        { objects: new Map(), files: new Map(), serviceEnvs: [] },
      ),
    ),
  ],
];
