import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import type { EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import { observedContainer } from '../../runtime/pleg/observed-from-cri.ts';
import { imagePresent } from '../../runtime/images/image-present.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import { withEnvironment } from '../../host/effects/container-env.ts';
import { withHandler } from './runtime-class.ts';

/** Effects that the runtime carries out. */
export type CriEffectType = Extract<EffectType, `cri.${string}`> | 'image.Status';

/** kubelet cuts the output of probes and hooks here, characters. */
const MAX_OUTPUT = 10 * 1024;

/**
 * Who carries out each `cri.*` effect; `ask` is absent where there is no API server. Failures are CriErrors with the
 * gRPC status name as code, or an EnvFailure.
 */
export const criEffects: {
  readonly [T in CriEffectType]: (
    params: EffectCatalog[T]['params'],
    cri: CriClient,
    log: Logger,
    ask?: Ask,
  ) => Promise<EffectCatalog[T]['result']>;
} = {
  'cri.RunPodSandbox': async (params, { runtime }, _log, ask) => {
    const { config, runtimeHandler } = await withHandler(params, ask);
    const { podSandboxId } = await runtime.runPodSandbox({ config, runtimeHandler });
    return { podSandboxId, ...(params.runtimeClass !== undefined && { runtimeHandler }) };
  },
  'cri.PodSandboxStatus': async (params, { runtime }) => {
    const { status } = await runtime.podSandboxStatus(params);
    const ips = [status?.network?.ip ?? '', ...(status?.network?.additionalIps ?? []).map((a) => a.ip)];
    return { ips: ips.filter((ip) => ip !== ''), ready: status?.state === 0 };
  },
  'cri.StopPodSandbox': async (params, { runtime }) => {
    await runtime.stopPodSandbox(params);
    return {};
  },
  'cri.RemovePodSandbox': async (params, { runtime }) => {
    await runtime.removePodSandbox(params);
    return {};
  },
  'cri.CreateContainer': async (params, { runtime }, log, ask) => {
    const request = await withEnvironment(params, log, ask);
    const { containerId } = await runtime.createContainer(request as Parameters<typeof runtime.createContainer>[0]);
    return { containerId };
  },
  'cri.StartContainer': async (params, { runtime }) => {
    await runtime.startContainer(params);
    return {};
  },
  'cri.ContainerStatus': async (params, { runtime }) => {
    const { status } = await runtime.containerStatus(params);
    if (status === undefined)
      throw Object.assign(new Error('the runtime answered without a status'), { code: 'Internal' });
    // CRI does not tell the sandbox here; the machine knows it.
    return observedContainer(status, '');
  },
  'cri.StopContainer': async ({ containerId, timeoutSeconds }, { runtime }) => {
    await runtime.stopContainer({ containerId, timeout: String(timeoutSeconds) });
    return {};
  },
  'cri.RemoveContainer': async (params, { runtime }) => {
    await runtime.removeContainer(params);
    return {};
  },
  'cri.UpdateContainerResources': async ({ containerId, linux }, { runtime }) => {
    await runtime.updateContainerResources({ containerId, linux });
    return {};
  },
  'cri.UpdatePodSandboxResources': async (params, { runtime }) => {
    await runtime.updatePodSandboxResources(params).catch((error: unknown) => {
      if (!(error instanceof CriError) || error.code !== 'Unimplemented') throw error;
    });
    return {};
  },
  'cri.ExecSync': async ({ containerId, cmd, timeoutSeconds }, { runtime }) => {
    // CRI knows whole seconds only; what is left of a grace period is none (a preStop hook that an earlier agent began)
    const timeout = String(Math.ceil(timeoutSeconds));
    const { stdout, stderr, exitCode } = await runtime.execSync({ containerId, cmd, timeout });
    const errors = Buffer.from(stderr).toString();
    return {
      exitCode,
      output: (Buffer.from(stdout).toString() + errors).slice(0, MAX_OUTPUT),
      ...(exitCode !== 0 && errors !== '' && { stderr: errors.slice(0, MAX_OUTPUT) }),
    };
  },
  'image.Status': async (params, cri, _log, ask) => {
    const { image, runtimeHandler, annotations } = await withHandler(params, ask);
    const spec = { image, runtimeHandler, ...(annotations && { annotations }) };
    const { image: found } = await cri.image.imageStatus({ image: spec });
    if (found === undefined || found.id === '') return { present: null };
    return { present: imagePresent(found) };
  },
};
