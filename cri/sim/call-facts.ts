import { NO_FACTS } from './glob.ts';
import type { Facts } from './glob.ts';
import type { RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';

/** The fields by which CRI requests name what they are about; each request has some of them. */
interface Subject {
  podSandboxId?: string;
  containerId?: string;
  config?: { metadata?: { name: string; namespace?: string }; image?: Spec; labels?: Record<string, string> };
  sandboxConfig?: { metadata?: { name: string; namespace: string }; labels?: Record<string, string> };
  image?: Spec;
}

interface Spec {
  image: string;
  userSpecifiedImage: string;
}

/** Who and what a call is about. */
export function factsOf(
  rpc: string,
  request: object,
  sandboxes: RecordIndex<SandboxRecord>,
  containers: RecordIndex<ContainerRecord>,
): Facts {
  const subject: Subject = request;
  if (subject.containerId !== undefined && subject.containerId !== '') {
    const record = containers.find(subject.containerId);
    return record === undefined ? { ...NO_FACTS, rpc } : containerFacts(rpc, record);
  }
  const facts: Facts = { ...NO_FACTS, rpc };
  const sandbox = subject.podSandboxId === undefined ? undefined : sandboxes.find(subject.podSandboxId);
  const pod = sandbox?.metadata ?? subject.sandboxConfig?.metadata;
  if (pod !== undefined) {
    facts.pod = pod.name;
    facts.namespace = pod.namespace;
    facts.labels = sandbox?.config.labels ?? subject.sandboxConfig?.labels ?? {};
  }
  const own = subject.config?.metadata;
  if (own?.namespace !== undefined) {
    facts.pod = own.name;
    facts.namespace = own.namespace;
    facts.labels = subject.config?.labels ?? {};
  } else if (own !== undefined) {
    facts.container = own.name;
  }
  const spec = subject.config?.image ?? subject.image;
  if (spec !== undefined) facts.image = spec.userSpecifiedImage || spec.image;
  return facts;
}

/** Facts of a call about a container that exists. */
export function containerFacts(rpc: string, record: ContainerRecord): Facts {
  const { metadata } = record.sandbox;
  return {
    rpc,
    namespace: metadata.namespace,
    pod: metadata.name,
    container: record.metadata.name,
    image: record.config.image?.userSpecifiedImage || (record.config.image?.image ?? ''),
    labels: record.sandbox.config.labels,
  };
}
