import { behaves } from '../protocol/behaviour.ts';
import { newestSandbox } from './observation.ts';
import type { PodContext } from './pod-context.ts';

/** What a pod is run by. With `runtimeClass` whoever makes the call looks its handler up right before; `runtimeHandler` is '' then. */
export interface PodRuntime {
  runtimeHandler: string;
  runtimeClass?: string;
}

/** The runtime handler: a RuntimeClass says which; without an API server its name is taken for it. */
export function runtimeOf({ pod, settings }: Pick<PodContext, 'pod' | 'settings'>): PodRuntime {
  const name = pod.spec?.runtimeClassName ?? '';
  return settings.cluster === true && name !== ''
    ? { runtimeHandler: '', runtimeClass: name }
    : { runtimeHandler: name };
}

/** For which handler the pod's images are looked for and pulled (KEP-4216): for none unless its feature gate is on. */
export function imageRuntimeOf(context: PodContext): PodRuntime {
  const { settings, observed } = context;
  if (!behaves(settings, 'gatedImageHandlers'))
    return { runtimeHandler: newestSandbox(observed)?.runtimeHandler ?? '' };
  return settings.imagesByHandler ? runtimeOf(context) : { runtimeHandler: '' };
}
