import type { FastifyInstance } from 'fastify';
import { toVersioned } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import { goJson } from './go-answers.ts';

/** Adds `/configz`: the configuration in use in its v1beta1 form, under the name `kubeletconfig`. */
export function addConfigzRoutes(app: FastifyInstance, config: KubeletConfiguration): void {
  app.all('/configz', (_request, reply) => {
    // A page that is seldom read: its form is made anew each time rather than held.
    const { kind: _kind, apiVersion: _apiVersion, ...kubeletconfig } = toVersioned(config);
    return goJson(reply.header('x-content-type-options', 'nosniff'), { kubeletconfig });
  });
}
