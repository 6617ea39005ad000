import { labelText } from '../../record/metrics/text-format.ts';
import type { CgroupReading, InterfaceReading } from '../../resources/cgroup-stats/cgroup-reading.ts';
import type { PartitionReading } from '../../resources/cgroup-stats/partitions.ts';

/** One cgroup in a scrape: what cAdvisor calls a container. */
export interface ContainerEntry {
  labels: EntryLabels;
  reading: CgroupReading;
  /** Of the machine and of sandboxes; containers of a pod have their sandbox's network. */
  interfaces: readonly InterfaceReading[];
  /** Of the machine alone. */
  partitions: readonly PartitionReading[];
  /** Soft limit of open files of the first process (-1 = unlimited); null for slices and pods. */
  openFilesLimit: number | null;
}

/** What a cgroup is, in the labels that kubelet gives each series of it. */
export interface EntryIdentity {
  /** Path of the cgroup. */
  id: string;
  container: string;
  image: string;
  /** ID of the container or sandbox. */
  name: string;
  namespace: string;
  pod: string;
}

/** The label sets of one cgroup's series: Go's client writes labels sorted by name, so further ones go in between. */
export class EntryLabels {
  readonly identity: EntryIdentity;
  /** Without further labels. */
  readonly plain: string;
  private readonly container: string;
  private readonly idAndImage: string;
  private readonly nameAndNamespace: string;
  private readonly pod: string;

  constructor(identity: EntryIdentity) {
    const { container, id, image, name, namespace, pod } = identity;
    this.identity = identity;
    this.container = labelText({ container });
    this.idAndImage = labelText({ id, image });
    this.nameAndNamespace = labelText({ name, namespace });
    this.pod = labelText({ pod });
    this.plain = `${this.container},${this.idAndImage},${this.nameAndNamespace},${this.pod}`;
  }

  /** With labels named between `container` and `id`, between `image` and `name`, `namespace` and `pod`, after `pod`. */
  with(more: { beforeId?: string; beforeName?: string; beforePod?: string; last?: string }): string {
    const { beforeId, beforeName, beforePod, last } = more;
    let text = this.container;
    if (beforeId !== undefined) text += `,${beforeId}`;
    text += `,${this.idAndImage}`;
    if (beforeName !== undefined) text += `,${beforeName}`;
    text += `,${this.nameAndNamespace}`;
    if (beforePod !== undefined) text += `,${beforePod}`;
    text += `,${this.pod}`;
    if (last !== undefined) text += `,${last}`;
    return text;
  }
}
