import type { FleetFigures, FleetReport } from '../../actors/node/fleet/fleet-report.ts';
import type { NodesFlags } from './nodes-flags.ts';

/** Ends what {@link showFleet} shows, with a last word. */
export interface ShownFleet {
  end(word: string): void;
}

/** Lines of JSON come this far apart, ms. */
const LINES_EVERY_MS = 5_000;

/** Shows how the nodes are, each second as a table that stays in place, or each five as a line of JSON. */
export function showFleet(
  report: FleetReport,
  output: NodesFlags['output'],
  about: { seed: number; count: number; speed: number },
): ShownFleet {
  const { stdout } = process;
  const asTable = output === 'table' || (output === 'auto' && stdout.isTTY);
  const began = performance.now();
  let lines = 0;
  let seconds = 0;
  const say = (figures: FleetFigures): void => {
    if (output === 'none') return;
    const elapsed = Math.round((performance.now() - began) / 1000);
    if (!asTable) {
      if (seconds % (LINES_EVERY_MS / 1000) === 0)
        stdout.write(`${JSON.stringify({ seconds: elapsed, ...about, ...figures })}\n`);
      return;
    }
    const text = tableOf(figures, elapsed, about);
    // Up to where the last one began, and all below is erased.
    stdout.write(`${lines > 0 ? `\x1b[${lines}A\x1b[J` : ''}${text}`);
    lines = text.split('\n').length - 1;
  };
  const timer = setInterval(() => {
    seconds++;
    say(report.figures());
  }, 1_000).unref();
  return {
    end(word) {
      clearInterval(timer);
      report.stop();
      if (asTable) stdout.write(`${word}\n`);
    },
  };
}

/** The table as text. */
export function tableOf(figures: FleetFigures, seconds: number, about: { seed: number; speed: number }): string {
  const { nodes, pods } = figures;
  const { seed, speed } = about;
  const { all, ready, ...phases } = pods;
  const byPhase = Object.entries(phases).map(([phase, n]) => `${phase} ${n}`);
  const rows: [string, string][] = [
    [
      'nodes',
      `${nodes.all}: Ready ${nodes.ready}, NotReady ${nodes.notReady}, unregistered ${nodes.unregistered}, down ${nodes.down}`,
    ],
    [
      'pods',
      `${all}: ${byPhase.length === 0 ? 'none' : byPhase.join(', ')}; Ready ${ready}; ${figures.startsPerSecond} start a second`,
    ],
    [
      'API',
      `${figures.apiPerSecond} requests a second, ${figures.apiRequests} in all, ${figures.apiErrors} failed; ${figures.sharedWatches} shared watches`,
    ],
    [
      'process',
      `${figures.memoryMiB} MiB, ${figures.cpuPercent} % of a core, ${figures.lagMs} ms late; ${seconds} s, seed ${seed}${speed === 1 ? '' : `, speed ${speed}x`}`,
    ],
  ];
  if (figures.loggedErrors > 0) rows.push(['errors', `${figures.loggedErrors}, last: ${wordsOf(figures.lastError)}`]);
  return rows.map(([name, text]) => `${name.padEnd(8)} ${text}\n`).join('');
}

/** What an error line of the log says, short enough for a line of the terminal. */
function wordsOf(line: string): string {
  try {
    const { msg = '', err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    return `${msg}${err?.message === undefined ? '' : `: ${err.message}`}`.replaceAll('\n', ' ').slice(0, 160);
  } catch {
    return line.slice(0, 160);
  }
}
