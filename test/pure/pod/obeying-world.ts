import { PodWorld } from './pod-world.ts';

/** A runtime whose containers end with this code when they are told to stop. */
export class ObeyingWorld extends PodWorld {
  /** What a container ends with from now on. */
  stopsWith(exitCode: number): void {
    this.answers['cri.StopContainer'] = (effect) => {
      const id = effect.type === 'cri.StopContainer' ? effect.params.containerId : '';
      const c = this.containers.find((x) => x.id === id);
      if (c?.state === 'running') this.replace({ ...c, state: 'exited', exitCode, finishedAt: this.at + 1_000 });
      return { result: {} };
    };
  }
}
