import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { freePorts } from '../../../../bin/demo-steps/free-ports.ts';
import { RuntimeServiceService } from '../../../../cri/generated/runtime/v1/api.ts';
import { readAgentLine } from '../../../../bin/demo-steps/agent-log.ts';
import { TestNode } from '../../agent/support/test-node.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** A real node whose agent serves the inspector on a free port of loopback. */
export interface InspectedNode {
  node: TestNode;
  /** The address in the file that the agent's log names, with its token. */
  address: string;
}

/** Starts containerd and the agent with `--inspect`; the caller stops the node, also after a failure. */
export async function startInspectedNode(): Promise<InspectedNode> {
  const [port = 0] = await freePorts(1);
  const node = await TestNode.make({ flags: [`--inspect=127.0.0.1:${String(port)}`] });
  try {
    await node.startAgent();
    const address = await waitFor(
      "the inspector's address in the agent's log",
      async () => {
        const lines = (await node.agentLog()).map((line) => readAgentLine(JSON.stringify(line)));
        const file = lines.find((line) => line.kind === 'inspector')?.addressFile;
        return file === undefined ? undefined : readFileSync(file, 'utf8').trim();
      },
      () => node.agent.tail(),
    );
    return { node, address };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Kills a running container's process as if the kernel did, and waits until the runtime knows. Throws when none runs. */
export async function killContainer(node: TestNode, pod: string, container: string): Promise<void> {
  const containerId = await waitFor(
    `container ${container} of ${pod} runs`,
    async () => (await node.running(pod))[container],
    () => node.agent.tail(),
  );
  const reply = await node.containerd.cri.call(RuntimeServiceService.containerStatus, { containerId, verbose: true });
  const pid = Number(/"pid":(\d+)/.exec(reply.info['info'] ?? '')?.[1]);
  if (!(pid > 1)) throw new Error(`no process of container ${containerId}: ${reply.info['info'] ?? ''}`);
  process.kill(pid, 'SIGKILL');
  await waitFor(`the end of ${container}`, async () => {
    const still = (await node.containers(pod)).some((c) => c.id === containerId && c.running);
    return still ? undefined : true;
  });
}

/** A manifest's volume and mount by which a container sees the file that lets it go on ({@link gateOf} waits for it). */
export function gateVolume(folder: string): { volumes: object[]; volumeMounts: object[] } {
  if (!isAbsolute(folder)) throw new Error(`not absolute: ${folder}`);
  return {
    volumes: [{ name: 'gate', hostPath: { path: folder } }],
    volumeMounts: [{ name: 'gate', mountPath: '/gate' }],
  };
}

/** Shell words that wait for a file in the gate's folder. */
export function gateOf(file: string): string {
  return `while ! test -e /gate/${file}; do sleep 0.1; done`;
}
