import type { Logger } from 'pino';
import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';
import { parseCpuSet } from './kubernetes-names.ts';

/**
 * The configuration with the processors of `reservedSystemCPUs` in the place of the cpu that is reserved for the system and for Kubernetes.
 *
 * @param online the machine's processors as the kernel lists them: `0-3,8`
 * @throws ActorletError (CFG040) when the machine lacks one of them
 */
export function withReservedCpus(config: KubeletConfiguration, online: string, log: Logger): KubeletConfiguration {
  const { reservedSystemCPUs: cpus, kubeReserved, systemReserved } = config;
  if (cpus === '') return config;
  const there = new Set(parseCpuSet(online));
  const reserved = parseCpuSet(cpus) ?? [];
  if (reserved.some((cpu) => !there.has(cpu))) throw new ActorletError(configErrors.reservedCpus, { cpus, online });
  log.info(
    { kubeReserved, systemReserved },
    'Option --reserved-cpus is specified, it will overwrite the cpu setting in KubeReserved and SystemReserved',
  );
  const { cpu: _given, ...kube } = kubeReserved;
  const system = { ...systemReserved, cpu: String(reserved.length) };
  log.info({ kubeReserved: kube, systemReserved: system }, 'After cpu setting is overwritten');
  return { ...config, kubeReserved: kube, systemReserved: system };
}
