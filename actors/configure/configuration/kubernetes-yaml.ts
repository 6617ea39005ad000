import type { Tags } from 'yaml';

/**
 * YAML 1.1 as Kubernetes reads it (`0644` is octal, `yes` and `off` are booleans), but without times and base 60:
 * `10:20` and `2024-01-01` are strings there.
 */
export const KUBERNETES_YAML = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME'),
    ),
} as const;
