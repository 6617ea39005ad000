import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { PodResourcesListerClient } from '../../cri/generated/podresources/v1/api.ts';
import type { ListPodResourcesResponse } from '../../cri/generated/podresources/v1/api.ts';

type Done<T> = (error: Error | null, answer: T) => void;

/** What the pod-resources API of the agent with this root directory answers. Rejects with the call's error. */
export async function askPodResources<T>(
  rootDir: string,
  call: (client: PodResourcesListerClient, done: Done<T>) => void,
): Promise<T> {
  const socket = join(rootDir, 'pod-resources', 'kubelet.sock');
  const client = new PodResourcesListerClient(`unix:${socket}`, credentials.createInsecure());
  try {
    return await new Promise<T>((resolve, reject) =>
      call(client, (error, answer) => (error === null ? resolve(answer) : reject(error))),
    );
  } finally {
    client.close();
  }
}

/** All pods that it lists. */
export async function listPodResources(rootDir: string): Promise<ListPodResourcesResponse['podResources']> {
  const all = await askPodResources<ListPodResourcesResponse>(rootDir, (client, done) => client.list({}, done));
  return all.podResources;
}
