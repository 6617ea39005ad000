import type { EnvEntry } from '../../../machines/protocol/cri-shapes.ts';
import type { Ask, AskCatalog, AskType, NodeAskType, ObjectContent } from '../../../machines/protocol/ask.ts';
import type { ObjectKind } from './object-content.ts';
import { withCode } from './object-errors.ts';
import type { TokenParams } from './token-manager.ts';

/** Who answers: `ObjectStore`, `TokenManager`, `ServiceVariables`. */
export interface AnswerSources {
  objects: { get(kind: ObjectKind, namespace: string, name: string): Promise<ObjectContent | null> };
  tokens: { get(params: TokenParams): Promise<string> };
  services: {
    env(namespace: string, enableServiceLinks: boolean): Promise<EnvEntry[]>;
    known(namespace: string, enableServiceLinks: boolean): EnvEntry[];
  };
  /** PEM of ClusterTrustBundles. */
  trustBundles: { get(wish: AskCatalog['trustBundle.Get']['params']): Promise<string> };
  /** Keys and certificates of pods. */
  certificates: { get(podUid: string, volume: string, index: number): Promise<{ key: string; chain: string }> };
  /** Handler of a RuntimeClass, null when there is none. */
  runtimeClasses: { handler(name: string): Promise<string | null> };
}

type ObjectAskType = Exclude<AskType, NodeAskType>;
type Answers = { [T in ObjectAskType]: (params: AskCatalog[T]['params']) => Promise<AskCatalog[T]['result']> };

/** The main thread's answers to what workers ask. Rejects with an Error that has a `code`. */
export function createAnswers(sources: AnswerSources): Ask {
  const { objects, tokens, services, runtimeClasses, trustBundles, certificates } = sources;
  const answers: Answers = {
    'object.Get': async ({ kind, namespace, name }) => ({ found: await objects.get(kind, namespace, name) }),
    'token.Get': async (params) => ({ token: await tokens.get(params) }),
    'trustBundle.Get': async (wish) => ({ pem: await trustBundles.get(wish) }),
    'podCertificate.Get': ({ podUid, volume, index }) => certificates.get(podUid, volume, index),
    'services.Env': async ({ namespace, enableServiceLinks, staticPod = false }) => ({
      envs: staticPod
        ? services.known(namespace, enableServiceLinks)
        : await services.env(namespace, enableServiceLinks),
    }),
    'runtimeClass.Get': async ({ name }) => {
      const handler = await runtimeClasses.handler(name);
      return { found: handler === null ? null : { handler } };
    },
  };
  return async <T extends AskType>(what: T, params: AskCatalog[T]['params']): Promise<AskCatalog[T]['result']> => {
    try {
      if (!Object.hasOwn(answers, what)) throw new Error('not a question about API objects');
      const answer = answers[what as ObjectAskType] as (its: typeof params) => Promise<AskCatalog[T]['result']>;
      return await answer(params);
    } catch (error) {
      throw withCode(error);
    }
  };
}
