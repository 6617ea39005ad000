import type { ErrorSpec } from './define.ts';
import { apiErrors } from './api-errors.ts';
import { authErrors } from './auth-errors.ts';
import { certificateErrors } from './certificate-errors.ts';
import { configErrors } from './config-errors.ts';
import { criErrors } from './cri-errors.ts';
import { explainErrors } from './explain-errors.ts';
import { pressureErrors } from './pressure-errors.ts';
import { hostErrors } from './host-errors.ts';
import { imageErrors } from './image-errors.ts';
import { inspectorErrors } from './inspector-errors.ts';
import { journalErrors } from './journal-errors.ts';
import { nodeErrors } from './node-errors.ts';
import { nodesErrors } from './nodes-errors.ts';
import { pluginErrors } from './plugin-errors.ts';
import { nodeObjectErrors } from './node-object-errors.ts';
import { runtimeErrors } from './runtime-errors.ts';
import { serverErrors } from './server-errors.ts';
import { simErrors } from './sim-errors.ts';
import { spdyErrors } from './spdy-errors.ts';
import { statusErrors } from './status-errors.ts';
import { sourceErrors } from './source-errors.ts';

/** The errors of one part of actorlet, by their names in the code. */
export interface ErrorArea {
  /** Heading in docs/errors.md. */
  readonly title: string;
  readonly errors: Readonly<Record<string, ErrorSpec>>;
}

/** Every table of machines/errors/, in the order of docs/errors.md. A test finds a table that is missing here. */
export const errorAreas: readonly ErrorArea[] = [
  { title: 'The way to the API server', errors: apiErrors },
  { title: 'Authentication and authorization', errors: authErrors },
  { title: 'Certificates and TLS', errors: certificateErrors },
  { title: 'Configuration and flags', errors: configErrors },
  { title: 'Container runtime (CRI)', errors: criErrors },
  { title: 'Explain', errors: explainErrors },
  { title: 'Pressure', errors: pressureErrors },
  { title: 'The node: files, cgroups, mounts', errors: hostErrors },
  { title: 'Images', errors: imageErrors },
  { title: 'The inspector', errors: inspectorErrors },
  { title: 'Journal and replay', errors: journalErrors },
  { title: 'Node', errors: nodeErrors },
  { title: 'Plugins', errors: pluginErrors },
  { title: 'Simulated nodes', errors: nodesErrors },
  { title: 'The node object in the API', errors: nodeObjectErrors },
  { title: 'The private containerd', errors: runtimeErrors },
  { title: 'HTTP servers and commands', errors: serverErrors },
  { title: 'The simulated runtime', errors: simErrors },
  { title: 'Sources of pods', errors: sourceErrors },
  { title: 'Streams to the runtime (exec, attach, port-forward)', errors: spdyErrors },
  { title: 'Status and mirror pods', errors: statusErrors },
];

/** Every error that actorlet can show. */
export const allErrors: readonly ErrorSpec[] = errorAreas.flatMap(({ errors }) => Object.values(errors));
