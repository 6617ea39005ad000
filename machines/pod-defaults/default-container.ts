import type { Container, Probe } from '../protocol/api-types.ts';
import { canonicalQuantity, formatQuantity, parseQuantity, quantityFormat } from '../values/quantity.ts';
import { defaultPullPolicy } from './image-reference.ts';

type Hook = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;
type HttpGet = NonNullable<Probe['httpGet']>;
type EnvVar = NonNullable<Container['env']>[number];
type Amounts = Record<string, string>;

const MILLI = 1_000_000n;

/** Canonical quantities, rounded up to thousandths as the API machinery does (SetDefaults_ResourceList). */
export function roundAmounts(amounts: Amounts | undefined): Amounts | undefined {
  if (!amounts) return amounts;
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, roundUp(amount)]));
}

function roundUp(amount: string): string {
  const nano = parseQuantity(amount);
  if (nano === undefined || nano % MILLI === 0n) return nano === undefined ? amount : canonicalQuantity(amount);
  const whole = nano / MILLI + (nano > 0n ? 1n : 0n);
  return formatQuantity(whole * MILLI, quantityFormat(amount));
}

function httpGet(action: HttpGet): HttpGet {
  return { ...action, path: action.path || '/', scheme: action.scheme || 'HTTP' };
}

function probe(given: Probe): Probe {
  return {
    ...given,
    ...(given.httpGet ? { httpGet: httpGet(given.httpGet) } : {}),
    ...(given.grpc ? { grpc: { ...given.grpc, service: given.grpc.service ?? '' } } : {}),
    timeoutSeconds: given.timeoutSeconds || 1,
    periodSeconds: given.periodSeconds || 10,
    successThreshold: given.successThreshold || 1,
    failureThreshold: given.failureThreshold || 3,
  };
}

function hook(given: Hook): Hook {
  return given.httpGet ? { ...given, httpGet: httpGet(given.httpGet) } : given;
}

function env(given: EnvVar): EnvVar {
  const { fieldRef, fileKeyRef } = given.valueFrom ?? {};
  if (!fieldRef && !fileKeyRef) return given;
  return {
    ...given,
    valueFrom: {
      ...given.valueFrom,
      ...(fieldRef ? { fieldRef: { ...fieldRef, apiVersion: fieldRef.apiVersion || 'v1' } } : {}),
      ...(fileKeyRef ? { fileKeyRef: { ...fileKeyRef, optional: fileKeyRef.optional ?? false } } : {}),
    },
  };
}

/** Requests that are not set are the limits (SetDefaults_Pod). */
function resources(given: Container['resources']): Container['resources'] {
  if (!given) return given;
  return given.limits ? { ...given, requests: { ...given.limits, ...given.requests } } : given;
}

/** A container whose amounts are rounded ({@link roundAmounts}). */
export function roundResources<C extends Container>(container: C): C {
  const { limits, requests } = container.resources ?? {};
  if (!limits && !requests) return container;
  return {
    ...container,
    resources: {
      ...container.resources,
      ...(limits ? { limits: roundAmounts(limits) } : {}),
      ...(requests ? { requests: roundAmounts(requests) } : {}),
    },
  };
}

/** Defaults of one container of any kind, amounts as they were written. `hostNetwork`: container ports are host ports too. */
export function fillContainer<C extends Container>(given: C, hostNetwork: boolean): C {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe, ports } = given;
  return {
    ...given,
    ...(ports
      ? {
          ports: ports.map((port) => ({
            ...port,
            protocol: port.protocol || 'TCP',
            ...(hostNetwork && !port.hostPort ? { hostPort: port.containerPort } : {}),
          })),
        }
      : {}),
    ...(given.env ? { env: given.env.map(env) } : {}),
    resources: resources(given.resources) ?? {},
    ...(lifecycle
      ? {
          lifecycle: {
            ...lifecycle,
            ...(lifecycle.postStart ? { postStart: hook(lifecycle.postStart) } : {}),
            ...(lifecycle.preStop ? { preStop: hook(lifecycle.preStop) } : {}),
          },
        }
      : {}),
    ...(livenessProbe ? { livenessProbe: probe(livenessProbe) } : {}),
    ...(readinessProbe ? { readinessProbe: probe(readinessProbe) } : {}),
    ...(startupProbe ? { startupProbe: probe(startupProbe) } : {}),
    terminationMessagePath: given.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: given.terminationMessagePolicy || 'File',
    imagePullPolicy: given.imagePullPolicy || defaultPullPolicy(given.image ?? ''),
  };
}
