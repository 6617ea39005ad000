import { isAbsolute, join } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { faultOf } from './kubeconfig-schema.ts';
import type { z } from 'zod';

/** Decodes a `...-data` field: base64 of UTF-8 text. */
export function decodeData(where: string, path: string, data: string): string {
  const compact = data.replace(/\s/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) {
    throw new ActorletError(apiErrors.badField, { where, path, got: 'another text', accepted: 'base64' });
  }
  return Buffer.from(compact, 'base64').toString('utf8');
}

/** Checks a part of the file against its schema. */
export function check<T extends z.ZodType>(where: string, schema: T, value: unknown, under: string): z.infer<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ActorletError(apiErrors.badField, { where, ...faultOf(result.error, value, under) });
}

/** A path of the file, made absolute. */
export function absolute(base: string, path: string): string {
  return isAbsolute(path) ? path : join(base, path);
}
