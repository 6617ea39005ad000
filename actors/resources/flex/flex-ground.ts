import type { Logger } from 'pino';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';

/** What FlexVolume drivers are found and used with. */
export interface FlexGround {
  rootDir: string;
  /** Folder of drivers (`volumePluginDir`). */
  pluginDir: string;
  /** Rejects where there is none, or no API server. */
  secret: (namespace: string, name: string) => Promise<ObjectContent>;
  log: Logger;
}
