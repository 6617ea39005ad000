import { parseBytes } from '../../../machines/values/quantity.ts';
import type { LoggerOptions } from '../../record/logging/create-logger.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** How to log, of the field `logging`. Its options are of the format that is written; those of the other one have no effect, as with kubelet. */
export function loggerOptionsOf(logging: KubeletConfiguration['logging']): LoggerOptions {
  const { format, verbosity, vmodule } = logging;
  const { splitStream, infoBufferSize } = logging.options[format];
  return {
    ...{ format, verbosity },
    ...(vmodule.length > 0 && { vmodule }),
    ...(splitStream && { split: { bufferBytes: parseBytes(infoBufferSize), flushMs: logging.flushFrequency } }),
  };
}
