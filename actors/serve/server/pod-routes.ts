import type { FastifyInstance } from 'fastify';
import { acceptable } from './acceptable.ts';
import { podList } from './pod-list.ts';
import type { NodeView } from '../../pods/store/node-view.ts';

/** Adds `/pods`: a `v1.PodList` of all pods of this node with their status. Go's mux serves `/pods/` alike. */
export function addPodRoutes(app: FastifyInstance, node: NodeView): void {
  for (const path of ['/pods', '/pods/']) {
    app.get(path, acceptable('application/json'), (_request, reply) => {
      // TypeMeta of the list only: the kubelet's items carry neither kind nor apiVersion.
      const items = node.pods().map(({ kind: _kind, apiVersion: _apiVersion, ...pod }) => pod);
      return podList(reply, items);
    });
  }
}
