/** Any JSON object. */
export type Json = Record<string, unknown>;

/** An object of the API as the fake server keeps it. */
export interface StoredObject extends Json {
  apiVersion?: string;
  kind?: string;
  metadata: Json & {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    finalizers?: string[];
  };
  spec?: Json;
  status?: Json;
}

/** True for an object that is no list and not null. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
