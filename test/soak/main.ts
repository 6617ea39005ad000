/** The command bin/soak: pods come and go on a real node while its parts are killed at random. */
import { randomInt } from 'node:crypto';
import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USAGE, soakOptions } from './options.ts';
import type { SoakOptions } from './options.ts';
import { isWell, reportText } from './report.ts';
import { runSoak } from './run-soak.ts';
import { SoakedNode } from './soaked-node.ts';

function options(): SoakOptions {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${USAGE}\n`);
    process.exit(0);
  }
  try {
    return soakOptions(args, randomInt(1_000_000));
  } catch (error) {
    process.stderr.write(`bin/soak: ${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    process.exit(2);
  }
}

const wish = options();
// a terminal that is closed ends it as ^C does: everything is taken away first
process.on('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
const began = performance.now();
const say = (line: string): void => {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1)} s  ${line}\n`);
};
say(`bin/soak --minutes ${wish.minutes} --seed ${wish.seed}`);
const lab = await SoakedNode.start();
try {
  const result = await runSoak(lab, wish, say);
  const text = reportText(result, new Date());
  process.stdout.write(text);
  if (!isWell(result) && !lab.ending) {
    process.exitCode = 1;
    const kept = await mkdtemp(join(tmpdir(), 'soak-failure-'));
    await cp(join(lab.node.agentRoot, 'journal'), join(kept, 'journal'), { recursive: true });
    await writeFile(join(kept, 'agent.log'), await lab.node.agentLogs());
    await writeFile(join(kept, 'report.txt'), text);
    await writeFile(join(kept, 'readings.txt'), result.readings);
    const explain = `bin/actorlet explain --journal ${join(kept, 'journal')} soak/NAME`;
    say(`journal, log, report and readings are kept in ${kept}: ${explain}`);
  }
} catch (error) {
  // a signal takes it all away, and what was being asked then fails
  if (!lab.ending) throw error;
} finally {
  await lab.stop();
}
