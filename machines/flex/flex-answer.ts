import { isObject } from '../values/json-object.ts';
import { goSyntaxProblem } from '../values/go-syntax-problem.ts';

/** What a FlexVolume driver can do; what it does not speak of it can, but for metrics (kubelet: defaultCapabilities). */
export interface FlexCapabilities {
  /** Its volumes are attached, and made ready once for all pods. */
  attach: boolean;
  selinuxRelabel: boolean;
  supportsMetrics: boolean;
  /** The agent gives its volumes to the pod's group. */
  fsGroup: boolean;
  /** The node has a part in making its volumes larger. */
  requiresFSResize: boolean;
}

/** Answer of a driver whose call worked. */
export interface FlexAnswer {
  /** Device path, of attach calls. */
  device: string;
  capabilities: FlexCapabilities;
}

/** A driver's word for a call that it does not have. */
export const NOT_SUPPORTED = 'Not supported';

/**
 * Reads what a driver printed. Throws in kubelet's words when that is no JSON of an answer, or when it tells of a failure; with
 * {@link NOT_SUPPORTED} for a call that the driver does not have.
 */
export function readFlexAnswer(command: string, output: string): FlexAnswer {
  let told: unknown;
  try {
    told = JSON.parse(output);
  } catch (error) {
    throw new Error(goSyntaxProblem(output, error), { cause: error });
  }
  if (told !== null && !isObject(told))
    throw new Error(`json: cannot unmarshal ${goKind(told)} into Go value of type flexvolume.DriverStatus`);
  const fields = told ?? {};
  const status = text(fields, 'status');
  const message = text(fields, 'message');
  const device = text(fields, 'device');
  const capabilities = capabilitiesOf(field(fields, 'capabilities'));
  if (status === NOT_SUPPORTED) throw new Error(NOT_SUPPORTED);
  if (status !== 'Success') throw new Error(`${command} command failed, status: ${status}, reason: ${message}`);
  return { device, capabilities };
}

const DEFAULTS: FlexCapabilities = {
  ...{ attach: true, selinuxRelabel: true, supportsMetrics: false, fsGroup: true, requiresFSResize: true },
};

function capabilitiesOf(told: unknown): FlexCapabilities {
  const capabilities = { ...DEFAULTS };
  if (told === undefined || told === null) return capabilities;
  if (!isObject(told)) throw mismatch(told, 'DriverStatus.Capabilities', 'flexvolume.DriverCapabilities');
  for (const name of Object.keys(DEFAULTS) as (keyof FlexCapabilities)[]) {
    const value = field(told, name);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'boolean') throw mismatch(value, `DriverCapabilities.Capabilities.${name}`, 'bool');
    capabilities[name] = value;
  }
  return capabilities;
}

function text(fields: Record<string, unknown>, name: string): string {
  const value = field(fields, name);
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw mismatch(value, `DriverStatus.${name}`, 'string');
  return value;
}

/** Go takes a field's name in any case; the last one counts. */
function field(fields: Record<string, unknown>, name: string): unknown {
  const wanted = name.toLowerCase();
  return Object.entries(fields).findLast(([key]) => key.toLowerCase() === wanted)?.[1];
}

function mismatch(value: unknown, name: string, type: string): Error {
  return new Error(`json: cannot unmarshal ${goKind(value)} into Go struct field ${name} of type ${type}`);
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
