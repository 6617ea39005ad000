import { normalSysctl, sysctlNamespace } from '../../../../machines/sandbox-config/sysctl-name.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

/** A sysctl's name, or the beginning of one with `*` (IsValidSysctlPattern). */
const PATTERN = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;
const MOST_CHARACTERS = 253;

/** Pods may be allowed sysctls of a namespace of theirs only (kubelet sysctl.NewAllowlist). */
export const sysctlRules: Rule = ({ allowedUnsafeSysctls }) =>
  allowedUnsafeSysctls.flatMap((entry, i): Problem[] => {
    const path = `allowedUnsafeSysctls[${i}]`;
    if (entry.length > MOST_CHARACTERS || !PATTERN.test(entry))
      return [
        {
          path,
          got: entry,
          accepted: `the name of a sysctl in at most ${MOST_CHARACTERS} characters, or how it begins and *`,
        },
      ];
    const [name = ''] = normalSysctl(entry).split('*', 1);
    return when(
      sysctlNamespace(name) === undefined,
      path,
      entry,
      `kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* or net.*; the sysctls ${JSON.stringify(name)} are not known to be namespaced`,
    );
  });
