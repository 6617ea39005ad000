import assert from 'node:assert/strict';
import { it } from 'node:test';
import { explainSupervised } from '../../../machines/explain/explain-supervision.ts';
import { explanationText } from '../../../machines/explain/explanation-text.ts';
import { span } from '../../../machines/values/spoken-time.ts';
import { pod } from '../pod/pod-world.ts';
import { box, fails, told } from './told-world.ts';

it('an environment value never shows, also where the runtime quotes it', () => {
  const env = [{ name: 'PASSWORD', value: 'hunter2-hunter2' }];
  const world = told(pod({ containers: [box('c', { env })] }), (w) => {
    w.answers['cri.CreateContainer'] = fails('exec "run --password=hunter2-hunter2": no such file');
  });
  world.run(3_000);
  const explanation = world.explain();
  assert.match(explanation.summary, /CreateContainer failed once \(exec "run --password=\*\*\*": no such file\)/);
  assert.doesNotMatch(JSON.stringify(explanation) + explanationText(explanation), /hunter2/);
});

it('a pod that waits for its predecessor, and one that left before its turn', () => {
  const known = {
    pod: { namespace: 'default', name: 'web', uid: 'u2' },
    source: 'file',
    place: '/etc/m/web.yaml',
    since: 1_000_000,
    sourcesReady: true,
    predecessor: 'u1',
    forgottenAt: 0,
  };
  const waits = explainSupervised(known, 1_012_000);
  assert.equal(waits.gone, false);
  assert.equal(
    waits.summary,
    'waiting since 12 s: another pod of the same name (uid u1) must end first; spec came from file /etc/m/web.yaml at 1970-01-01T00:16:40Z',
  );
  const left = explainSupervised({ ...known, forgottenAt: 1_010_000 }, 1_012_000);
  assert.match(left.summary, /^gone since 2 s: its source gave it up before anything was made of it/);
});

it('spans of time as people say them', () => {
  const said = [0, 400, 9_949, 40_000, 119_000, 185_000, 7_800_000, 273_600_000].map(span);
  assert.deepEqual(said, ['0 s', '0.4 s', '9.9 s', '40 s', '119 s', '3 min 5 s', '2 h 10 min', '3 d 4 h']);
});
