import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { agentVersion } from '../../actors/configure/configuration/version.ts';
import { INSPECTOR_PORT } from '../../actors/configure/configuration/inspector-address.ts';
import type { Inspector } from '../../actors/inspect/inspector/inspector.ts';
import type { RunningInspector } from '../../actors/inspect/inspector/inspector-server.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { inspectorErrors } from '../../machines/errors/inspector-errors.ts';

/** `actorlet inspect`: the inspector over recorded journals, until Ctrl-C. Needs neither root nor a network. */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show recorded journals in the inspector, on this machine; Ctrl-C ends it')
    .argument('<journal...>', 'journal files (.jsonl, .jsonl.gz) or folders of them')
    .option('--port <n>', `port on loopback (default ${String(INSPECTOR_PORT)}, or a free one when it is taken)`)
    .option('--no-open', 'do not open a browser')
    .action(async (paths: string[], { port, open }: { port?: string; open: boolean }) => {
      const wanted = port === undefined ? null : portOf(port);
      const { Inspector } = await import('../../actors/inspect/inspector/inspector.ts');
      const inspector = new Inspector({ mode: 'files', paths }, agentVersion());
      await inspector.refresh();
      const { damages } = inspector.about();
      for (const { file, line, problem } of damages)
        process.stderr.write(`${file} is read up to line ${String(line)}: ${problem}\n`);
      const pods = inspector.pods().length;
      if (pods === 0) throw new ActorletError(inspectorErrors.nothingThere, { files: paths.join(', ') });
      const server = await serve(inspector, wanted);
      // Before the address is told: who reads it may end this at once.
      const ended = new Promise<void>((resolve) => {
        process.once('SIGINT', () => resolve());
        process.once('SIGTERM', () => resolve());
      });
      process.stdout.write(`${String(pods)} pods\n${server.address}\n`);
      process.stdout.write(`Stately's protocol: ${server.statelyAddress}\n`);
      if (open) openBrowser(server.address);
      await ended;
      await server.close();
    });
}

async function serve(inspector: Inspector, port: number | null): Promise<RunningInspector> {
  // Only now: journals that cannot be read are told without an HTTP server.
  const { startInspectorServer } = await import('../../actors/inspect/inspector/inspector-server.ts');
  const { newToken } = await import('../../actors/inspect/inspector/start-inspector.ts');
  const { createLogger } = await import('../../actors/record/logging/create-logger.ts');
  const log = createLogger({ format: 'text', verbosity: -1 });
  const start = (at: number) =>
    startInspectorServer({ inspector, address: { host: '127.0.0.1', port: at }, token: newToken(), log });
  if (port !== null) return start(port);
  try {
    return await start(INSPECTOR_PORT);
  } catch {
    return start(0);
  }
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ActorletError(inspectorErrors.badPort, { value: text });
}

/** Where there is a desktop; elsewhere the printed address is all there is. */
function openBrowser(address: string): void {
  const desktop = process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY'];
  if (desktop === undefined || desktop === '') return;
  const child = spawn('xdg-open', [address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
