import { normalize } from 'node:path';
import { parseQuantity } from '../../../../machines/values/quantity.ts';
import { goDuration } from '../../../../machines/values/go-duration.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

const INT32_MAX = 0x7fff_ffff;
const NO_ALPHA = 'nothing, while the feature gate LoggingAlphaOptions is off';

/** Logs, traces, metrics, log queries and the folder of pod logs. */
export const observabilityRules: Rule = (config, { gates }) => {
  const { logging, tracing, podLogsDir } = config;
  const rate = tracing?.samplingRatePerMillion;
  return [
    ...when(logging.flushFrequency <= 0, 'logging.flushFrequency', goDuration(logging.flushFrequency), 'more than 0s'),
    ...when(logging.verbosity > INT32_MAX, 'logging.verbosity', logging.verbosity, '0 to 2147483647'),
    ...when(
      logging.vmodule.length > 0 && logging.format !== 'text',
      'logging.vmodule',
      logging.vmodule,
      'nothing, unless logging.format is "text"',
    ),
    ...logging.vmodule.flatMap(({ filePattern, verbosity }, i): Problem[] => [
      ...when(filePattern === '', `logging.vmodule[${i}].filePattern`, filePattern, 'a file pattern'),
      ...when(
        /[=,]/.test(filePattern),
        `logging.vmodule[${i}].filePattern`,
        filePattern,
        'a pattern without "=" and ","',
      ),
      ...when(verbosity > INT32_MAX, `logging.vmodule[${i}].verbosity`, verbosity, '0 to 2147483647'),
    ]),
    ...(['text', 'json'] as const).flatMap((format): Problem[] => {
      const path = `logging.options.${format}`;
      const { splitStream, infoBufferSize } = logging.options[format];
      if (gates.enabled('LoggingAlphaOptions')) return [];
      return [
        ...when(splitStream, `${path}.splitStream`, true, NO_ALPHA),
        ...when(parseQuantity(infoBufferSize) !== 0n, `${path}.infoBufferSize`, infoBufferSize, NO_ALPHA),
      ];
    }),
    ...when(
      rate !== undefined && (rate < 0 || rate > 1_000_000),
      'tracing.samplingRatePerMillion',
      rate,
      '0 to 1000000',
    ),
    ...when(
      !isTracingEndpoint(tracing?.endpoint ?? ''),
      'tracing.endpoint',
      tracing?.endpoint,
      'an address of gRPC: host:port, or with the scheme dns, unix or unix-abstract',
    ),
    ...when(
      !['', '1.34'].includes(config.showHiddenMetricsForVersion),
      'showHiddenMetricsForVersion',
      config.showHiddenMetricsForVersion,
      'nothing or "1.34"; only the previous minor version is allowed',
    ),
    ...when(
      config.enableSystemLogQuery && !gates.enabled('NodeLogQuery'),
      'enableSystemLogQuery',
      true,
      'false, while the feature gate NodeLogQuery is off',
    ),
    ...when(
      config.enableSystemLogQuery && !config.enableSystemLogHandler,
      'enableSystemLogQuery',
      true,
      'false, while enableSystemLogHandler is false',
    ),
    ...when(
      !podLogsDir.startsWith('/') ||
        normalize(podLogsDir) !== podLogsDir ||
        (podLogsDir.length > 1 && podLogsDir.endsWith('/')),
      'podLogsDir',
      podLogsDir,
      'an absolute path without ".", ".." and needless slashes',
    ),
    // The path ends up in metrics.
    ...when(!/^[\x00-\x7f]*$/.test(podLogsDir), 'podLogsDir', podLogsDir, 'ASCII characters only'),
    ...when(
      config.containerRuntimeEndpoint === '',
      'containerRuntimeEndpoint',
      '',
      'an endpoint such as "unix:///run/containerd/containerd.sock"',
    ),
  ];
};

function isTracingEndpoint(endpoint: string): boolean {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(endpoint)?.[1];
  if (!endpoint.includes('//')) return !/[\s%]/.test(endpoint);
  return scheme !== undefined && ['dns', 'unix', 'unix-abstract'].includes(scheme);
}
