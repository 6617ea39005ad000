import { goDuration } from '../../../../machines/values/go-duration.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

/** Images, their collection and pulling; container logs. */
export const imageRules: Rule = (config, { gates }) => {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = config;
  const { imageMaximumGCAge: oldest, imageMinimumGCAge: youngest } = config;
  const age = goDuration(oldest);
  return [
    ...when(low >= high, 'imageGCLowThresholdPercent', low, `less than imageGCHighThresholdPercent (${high})`),
    ...when(
      oldest !== 0 && !gates.enabled('ImageMaximumGCAge'),
      'imageMaximumGCAge',
      age,
      'nothing, while the feature gate ImageMaximumGCAge is off',
    ),
    ...when(oldest < 0, 'imageMaximumGCAge', age, '0s or more'),
    ...when(
      oldest > 0 && oldest <= youngest,
      'imageMaximumGCAge',
      age,
      `0s, or more than imageMinimumGCAge (${goDuration(youngest)})`,
    ),
    ...when(
      config.serializeImagePulls && (config.maxParallelImagePulls ?? 1) > 1,
      'maxParallelImagePulls',
      config.maxParallelImagePulls,
      '1, unless serializeImagePulls is false',
    ),
    ...when(
      config.containerLogMonitorInterval < 3000,
      'containerLogMonitorInterval',
      goDuration(config.containerLogMonitorInterval),
      '3s or more',
    ),
    ...pullVerification(config, gates.enabled('KubeletEnsureSecretPulledImages')),
  ];
};

function pullVerification(config: Parameters<Rule>[0], enabled: boolean): Problem[] {
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: list } = config;
  if (!enabled) {
    const accepted = 'nothing, while the feature gate KubeletEnsureSecretPulledImages is off';
    return [
      ...when(policy !== undefined, 'imagePullCredentialsVerificationPolicy', policy, accepted),
      ...when(list.length > 0, 'preloadedImagesVerificationAllowlist', list, accepted),
    ];
  }
  if (list.length > 0 && policy !== 'NeverVerifyAllowlistedImages') {
    const accepted = 'nothing, unless imagePullCredentialsVerificationPolicy is "NeverVerifyAllowlistedImages"';
    return [{ path: 'preloadedImagesVerificationAllowlist', got: list, accepted }];
  }
  return list.flatMap((pattern, i) =>
    when(
      !isImagePattern(pattern),
      `preloadedImagesVerificationAllowlist[${i}]`,
      pattern,
      'a full image name without tag and digest ("docker.io/library/busybox"), or a prefix of one that ends with "/*"',
    ),
  );
}

const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
// eslint-disable-next-line no-restricted-syntax -- made of the constant above
const IMAGE = new RegExp(`^(?:[A-Za-z0-9.-]+(?::\\d+)?/)${PART}(?:/${PART})*$`);

/** ValidateAllowlistImagesPatterns: a normalized name, or `<prefix>/*` with at least a registry host. */
function isImagePattern(pattern: string): boolean {
  if (pattern.endsWith('/*')) return pattern.length > 2 && !pattern.slice(0, -1).includes('*') && !/\s/.test(pattern);
  // Without a host that looks like one, a name would be completed with docker.io and so not be the full name.
  const host = pattern.split('/')[0] ?? '';
  const full = /[.:]/.test(host) || host === 'localhost' || host !== host.toLowerCase();
  if (host === 'docker.io' && pattern.split('/').length < 3) return false;
  return full && IMAGE.test(pattern);
}
