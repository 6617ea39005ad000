/** No parser is forgotten: what is called like one stands in the table, or here with the reason why not. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** Exports whose names say that they read what somebody wrote. */
const PARSER =
  /^export (?:async )?function\*? ((?:parse|decode|unescape|expand|validate|canonical)[A-Z]\w*|(?:expand))\b/gm;

const ELSEWHERE: Readonly<Record<string, string>> = {
  parseApart: 'in a thread of its own, given up after a minute',
  parseDocuments: 'by parseManifest',
  parseCpuSetList: 'by readCpuCheckpoint',
  parseGoBool: 'compares whole words',
  parseJson: 'JSON.parse and no more',
  parseExtensions: 'by parseCertificate',
  parsePublicKey: 'by parseCertificate; its size is bounded',
  parseSignatureAlgorithm: 'by parseCertificate',
  parseAuthority: 'by parseGoUrl',
  expandSlice: "the administrator's configuration",
  parseContainerdVersion: 'what the own containerd prints',
  parseNetwork4: "the administrator's flag",
  parseCpuSet: "the administrator's configuration",
  parseChange: "an administrator's command line",
  parseThresholds: "the administrator's configuration",
  decodePod: 'by parseManifest',
  decodeData: "the administrator's kubeconfig",
  expand: 'by expandFrom and resolveEnv',
  expandCommand: 'by containerConfig',
  expandSubPath: 'by containerConfig',
  validatePodLogOptions: 'what parsePodLogOptions made',
  canonicalJson: 'no text',
  canonicalIp: "the node's own addresses",
  parseMoment: 'the address of a browser that looks',
};

test('every parser is held against hostile texts', () => {
  const folder = 'test/pure/bounds/places/';
  const table = readdirSync(new URL(folder, root))
    .map((file) => text(folder + file))
    .join('\n');
  const named = new Set<string>();
  for (const path of globSync(['machines/**/*.ts', 'actors/**/*.ts', 'cri/private-containerd/*.ts'], { cwd: root }))
    for (const [, name = ''] of text(path).matchAll(PARSER)) named.add(name);
  assert.ok(named.size > 20);
  const missing = [...named].filter((name) => !new RegExp(`\\b${name}\\b`).test(table) && !(name in ELSEWHERE));
  assert.deepEqual(missing, []);
  const gone = Object.keys(ELSEWHERE).filter((name) => !named.has(name));
  assert.deepEqual(gone, [], 'named, but no such export is there');
});
