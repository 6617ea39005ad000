import type { PodLogOptions } from './parse-options.ts';

const streams = ['All', 'Stdout', 'Stderr'];

/** `ValidatePodLogOptions` of the v1 API; what is wrong, in words, empty when nothing is. */
export function validatePodLogOptions(options: PodLogOptions): string[] {
  const problems: string[] = [];
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  if (tailLines !== undefined && tailLines < 0n) problems.push('tailLines: must be greater than or equal to 0');
  if (limitBytes !== undefined && limitBytes < 1n) problems.push('limitBytes: must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    problems.push('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else if (sinceSeconds !== undefined && sinceSeconds < 1n) problems.push('sinceSeconds: must be greater than 0');
  if (stream !== undefined) {
    if (!streams.includes(stream)) problems.push(`stream: unsupported value, supported are ${streams.join(', ')}`);
    if (stream !== 'All' && tailLines !== undefined)
      problems.push('`tailLines` and specific `stream` are mutually exclusive for now');
  }
  return problems;
}
