import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPage } from '../../../actors/inspect/inspector/page-files.ts';
import { folder } from '../../pure/journal/journal-fixture.ts';

test('in a checkout the page is built when it is asked for: three files, nothing inline that its own policy forbids', async () => {
  const page = await loadPage();
  assert.deepEqual([...page.keys()].sort(), ['app.css', 'app.js', 'index.html']);
  const html = page.get('index.html')?.body.toString() ?? '';
  assert.match(html, /src="\/app\.js\?v=[0-9a-f]{16}"/);
  assert.match(html, /href="\/app\.css\?v=[0-9a-f]{16}"/);
  assert.doesNotMatch(html, /<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/i);
  assert.doesNotMatch(page.get('app.js')?.body.toString() ?? '', /\beval\(|new Function\(/);
});

test('a folder without a page', async (t) => {
  await assert.rejects(loadPage(folder(t)), /INS001/);
});
