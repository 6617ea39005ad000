import { z } from 'zod';
import {
  duration,
  int32,
  oneOf,
  optionalDuration,
  optionalInt32,
  text,
  textList,
  truth,
  wholeQuantity,
} from '../field-kinds.ts';

/** The words of `imagePullCredentialsVerificationPolicy`. */
const PULL_VERIFICATION_POLICIES = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
] as const;

/** The container runtime, images, container logs and restarts. */
export const runtimeFields = {
  containerRuntimeEndpoint: text('unix:///run/containerd/containerd.sock'),
  imageServiceEndpoint: text(),
  runtimeRequestTimeout: duration(120_000),
  registryPullQPS: int32(5),
  registryBurst: int32(10),
  serializeImagePulls: truth(true),
  maxParallelImagePulls: optionalInt32(),
  /** Absent only while the gate KubeletEnsureSecretPulledImages is off. */
  imagePullCredentialsVerificationPolicy: z
    .enum(PULL_VERIFICATION_POLICIES, {
      error: `one of ${PULL_VERIFICATION_POLICIES.map((word) => JSON.stringify(word)).join(', ')}`,
    })
    .optional(),
  preloadedImagesVerificationAllowlist: textList(),
  imageMinimumGCAge: duration(120_000),
  imageMaximumGCAge: duration(0),
  imageGCHighThresholdPercent: int32(85),
  imageGCLowThresholdPercent: int32(80),
  containerLogMaxSize: wholeQuantity('10Mi'),
  containerLogMaxFiles: int32(5),
  containerLogMaxWorkers: int32(1),
  containerLogMonitorInterval: duration(10_000),
  podLogsDir: text('/var/log/pods'),
  seccompDefault: truth(false),
  hairpinMode: oneOf(['promiscuous-bridge', 'hairpin-veth', 'none'], 'promiscuous-bridge'),
  crashLoopBackOff: z
    .strictObject({ maxContainerRestartPeriod: optionalDuration() }, { error: 'a group of fields' })
    .prefault({}),
};
