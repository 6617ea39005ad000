import { credentials } from '@grpc/grpc-js';
import { RegistrationClient } from '../../../cri/generated/pluginregistration/v1/api.ts';
import type { PluginInfo } from '../../../cri/generated/pluginregistration/v1/api.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { callPlugin, PLUGIN_CHANNEL } from './plugin-channel.ts';
import type { PluginHandler } from './plugin-handler.ts';

/** Time for the connection, for `GetInfo` and for `NotifyRegistrationStatus`, ms, as kubelet gives it. */
const DIAL_MS = 10_000;
const INFO_MS = 1_000;
const NOTIFY_MS = 5_000;

/** A plugin that has registered. */
export interface RegisteredPlugin {
  name: string;
  endpoint: string;
  handler: PluginHandler;
}

/**
 * Registers the plugin that listens at a socket of `plugins_registry`: asks what it is, hands it to who takes its type, and tells it what
 * came of that. Rejects, with kubelet's words, when it is not registered. `taken` is called as soon as it counts as there. Resolves to what kept
 * it from being told that it is registered, which it is all the same; null: it was told.
 */
export async function registerPlugin(
  socket: string,
  handlers: ReadonlyMap<string, PluginHandler>,
  taken: (plugin: RegisteredPlugin) => void,
): Promise<Error | null> {
  const client = new RegistrationClient(`unix:${socket}`, credentials.createInsecure(), PLUGIN_CHANNEL);
  const refuse = async (problem: string): Promise<never> => {
    const text = `RegisterPlugin error -- ${problem}`;
    await notify(client, { pluginRegistered: false, error: text }).catch((error: unknown) => {
      throw new Error(`RegisterPlugin error -- failed to send error at socket ${socket}, err: ${messageOf(error)}`);
    });
    throw new Error(text);
  };
  try {
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + DIAL_MS, (error) =>
        error
          ? reject(new Error(`failed to dial socket ${socket}, err: ${error.message}`, { cause: error }))
          : resolve(),
      ),
    );
    const info = await callPlugin<PluginInfo>(INFO_MS, (...rest) => client.getInfo({}, ...rest));
    const { name, type, supportedVersions: versions } = info;
    const handler = handlers.get(type);
    if (handler === undefined)
      return await refuse(`no handler registered for plugin type: ${type} at socket ${socket}`);
    const endpoint = info.endpoint === '' ? socket : info.endpoint;
    try {
      handler.validate(name, versions, endpoint);
    } catch (error) {
      return await refuse(`plugin validation failed with err: ${messageOf(error)}`);
    }
    taken({ name, endpoint, handler });
    try {
      await handler.registered(name, endpoint, versions);
    } catch (error) {
      return await refuse(`plugin registration failed with err: ${messageOf(error)}`);
    }
    return await notify(client, { pluginRegistered: true, error: '' }).then(
      () => null,
      (error: unknown) => {
        const text = `RegisterPlugin error -- failed to send registration status at socket ${socket}, err: ${messageOf(error)}`;
        return new Error(text, { cause: error });
      },
    );
  } finally {
    client.close();
  }
}

async function notify(client: RegistrationClient, status: { pluginRegistered: boolean; error: string }): Promise<void> {
  await callPlugin<object>(NOTIFY_MS, (...rest) => client.notifyRegistrationStatus(status, ...rest));
}
