import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../actors/configure/configuration/kubelet-configuration.ts';

/** Reads what a Go program took from Kubernetes v1.35.4 (defaults, fields, flags, verdicts on samples). */
export function referenceData(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`data/${name}-v1.35.4.json`, import.meta.url), 'utf8'));
}

/** Runs `body` with a fresh folder that is gone afterwards. */
export function withFolder<T>(body: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'actorlet-config-'));
  try {
    return body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The head of each configuration file. */
export const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** Writes a configuration file with its head and gives its path. */
export function writeConfig(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, HEAD + body);
  return path;
}

/** A configuration without its zero values, as Go leaves them out (`omitempty`); empty groups go too. */
export function withoutEmpty(value: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (['', 0, false, '0', '0s', undefined, null].some((zero) => zero === item)) continue;
    if (Array.isArray(item)) {
      if (item.length > 0) out[key] = item.map((entry: unknown) => (isObject(entry) ? withoutEmpty(entry) : entry));
    } else if (isObject(item)) {
      const inner = withoutEmpty(item);
      if (Object.keys(inner).length > 0) out[key] = inner;
    } else out[key] = item;
  }
  return out;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
