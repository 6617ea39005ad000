import type { SimScript } from '../../../cri/sim/script.ts';
import { drawnFaults } from './faults.ts';

const ends = (code: number) => ({ exit: { after: '1s', code } });
const always = { code: 0, stdout: 'fine\n' };
const failing = { code: 1, stdout: 'not fine\n' };
const probe = (name: string, results: object[]) => ({
  command: ['ready', 'live', 'started'].map((what) => `${what} ${name}`),
  results,
});

/** What commands in a container answer, by their last word. */
const EXEC = [
  probe('always', [always]),
  probe('later', [{ ...failing, times: 2 }, always]),
  probe('thrice', [{ ...always, times: 3 }, failing]),
  probe('never', [failing]),
  { command: ['hook good'], results: [{ code: 0 }] },
  { command: ['hook bad'], results: [{ code: 3, stderr: 'broken hook\n' }] },
  { command: ['hook long'], results: [{ code: 0, takes: '2500ms' }] },
];

const ENDS: Record<string, object> = {
  runs: { attempts: [{ runs: true }] },
  ends: { attempts: [ends(0)] },
  fails: { attempts: [ends(7)] },
  'fails-once': { attempts: [ends(1), ends(0)] },
  ignores: { attempts: [{ runs: true }], onStop: 'ignore' },
  unstartable: { attempts: [{ startError: 'exec: "run": executable file not found in $PATH' }, { runs: true }] },
};

/** The same script for both agents' runtimes: what containers do by their names (`app-0-fails`), and which images there are. */
export function script(seed: number, faulty: number): SimScript {
  return {
    seed,
    runtime: {
      podCIDRs: ['10.88.0.0/16'],
      handlers: [{ name: '' }, { name: 'sandboxed', recursiveReadOnlyMounts: false, userNamespaces: false }],
    },
    containers: Object.entries(ENDS).map(([name, behaviour]) => ({
      match: { container: `*-?-${name}` },
      logs: [{ text: `${name} speaks` }],
      exec: EXEC,
      ...behaviour,
    })),
    faults: drawnFaults(seed, faulty),
    images: [
      { image: ['missing.example/*'], pull: { fail: { code: 'NotFound', message: 'no such image' } } },
      { image: ['late.example/*'], pull: { takes: '1s' }, user: '1234' },
      { image: 'registry.example/app:v1', present: true, user: 'web' },
      { image: '*' },
    ],
  } as SimScript;
}
