import { describe } from 'node:test';
import { attachScenarios } from './scenarios/attach.ts';
import { copyScenarios } from './scenarios/copy.ts';
import { debugScenarios } from './scenarios/debug.ts';
import { directScenarios } from './scenarios/direct.ts';
import { execScenarios } from './scenarios/exec.ts';
import { forwardScenarios } from './scenarios/forward.ts';
import { logScenarios } from './scenarios/logs.ts';
import { pageScenarios } from './scenarios/pages.ts';
import { topScenarios } from './scenarios/top.ts';
import { withKubeletApi } from './support/api-fixture.ts';

// one control plane and one node for all that people do with kubectl
const api = withKubeletApi();

describe('kubectl on a node', { concurrency: 3 }, () => {
  topScenarios(api); // mostly waits, so it comes first
  logScenarios(api);
  execScenarios(api);
  copyScenarios(api);
  attachScenarios(api);
  forwardScenarios(api);
  debugScenarios(api);
  directScenarios(api);
  pageScenarios(api);
});
