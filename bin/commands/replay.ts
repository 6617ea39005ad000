import { Command } from 'commander';
import { journalFiles, journalLines } from '../../actors/journal/journal-reader.ts';
import type { Difference } from '../../actors/journal/replay.ts';
import { replay } from '../../actors/journal/replay.ts';

/** `actorlet replay`: exit code 0 when identical, 1 at the first difference. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('step the machines over recorded messages and compare states and effects byte for byte')
    .argument('<file...>', 'journal files (.jsonl, .jsonl.gz) or folders of them, oldest first')
    .action(async (paths: string[]) => {
      const began = performance.now();
      const result = await replay(journalLines(await journalFiles(paths)));
      const seconds = (performance.now() - began) / 1000;
      const rate = Math.round(result.messages / Math.max(seconds, 1e-3));
      process.stderr.write(
        `${result.messages} messages of ${result.pods} pods in ${seconds.toFixed(2)} s (${rate}/s)\n`,
      );
      if (result.unanswered > 0)
        process.stderr.write(
          `${result.unanswered} messages had no recorded outcome (the agent ended while it handled them)\n`,
        );
      if (result.difference === null) {
        process.stdout.write('identical\n');
        return;
      }
      process.stdout.write(describe(result.difference));
      process.exitCode = 1;
    });
}

function describe(d: Difference): string {
  return [
    `different: ${d.what}`,
    `at:        ${d.file}, line ${d.line}`,
    `pod:       ${d.pod} (${d.uid})`,
    `message:   ${JSON.stringify(d.message)}`,
    `recorded:  ${d.recorded}`,
    `computed:  ${d.computed}`,
    '',
  ].join('\n');
}
