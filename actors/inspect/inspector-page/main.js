import { jsx as _jsx } from 'preact/jsx-runtime';
import './styles.css';
import { render } from 'preact';
import { onKey } from './session/keys.ts';
import { connect } from './session/live.ts';
import { followAddress } from './session/travel.ts';
import { App } from './views/app.tsx';
var root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  render(_jsx(App, {}), root);
}
addEventListener('keydown', onKey);
addEventListener('hashchange', followAddress);
void connect();
