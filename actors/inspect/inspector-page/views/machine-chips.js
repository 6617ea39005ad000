import { jsx as _jsx, jsxs as _jsxs } from 'preact/jsx-runtime';
import { leafOf, toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';
import { setChart } from '../session/travel.ts';
import { MiniChart } from './mini-chart.tsx';
/** The pod's machine and those in its context, at the shown moment. */
export function machinesNow() {
  var _a, _b, _c, _d, _e, _f;
  var kind = s.isNode.value ? 'node' : 'pod';
  var all = [
    {
      id: 'pod',
      kind: kind,
      name: kind,
      state: s.stateNow.value,
      before:
        (_b = (_a = s.line.value) === null || _a === void 0 ? void 0 : _a.before) !== null && _b !== void 0 ? _b : '',
    },
  ];
  var shown = s.shown.value;
  if ((shown === null || shown === void 0 ? void 0 : shown.uid) !== s.uid.value) return all;
  var old = (_c = shown.previous) === null || _c === void 0 ? void 0 : _c.machines;
  for (var _i = 0, _g = Object.entries(shown.detail.machines.containers); _i < _g.length; _i++) {
    var _h = _g[_i],
      name_1 = _h[0],
      state = _h[1];
    all.push({
      id: 'container/'.concat(name_1),
      kind: 'container',
      name: name_1,
      state: state,
      before:
        (_d = old === null || old === void 0 ? void 0 : old.containers[name_1]) !== null && _d !== void 0 ? _d : '',
    });
  }
  for (var _j = 0, _k = Object.entries(shown.detail.machines.probes); _j < _k.length; _j++) {
    var _l = _k[_j],
      name_2 = _l[0],
      state = _l[1];
    all.push({
      id: 'probe/'.concat(name_2),
      kind: 'probe',
      name: name_2,
      state: state,
      before: (_e = old === null || old === void 0 ? void 0 : old.probes[name_2]) !== null && _e !== void 0 ? _e : '',
    });
  }
  for (var _m = 0, _o = Object.entries(shown.detail.machines.volumes); _m < _o.length; _m++) {
    var _p = _o[_m],
      name_3 = _p[0],
      state = _p[1];
    all.push({
      id: 'volume/'.concat(name_3),
      kind: 'volume',
      name: name_3,
      state: state,
      before: (_f = old === null || old === void 0 ? void 0 : old.volumes[name_3]) !== null && _f !== void 0 ? _f : '',
    });
  }
  return all;
}
/** The machines of the pod as small charts; the chosen one is drawn large below. */
export function MachineChips() {
  var machines = machinesNow();
  var chosen = s.moment.value.chart;
  return _jsx('div', {
    class: 'machines',
    role: 'group',
    'aria-label': 'Machines of the pod',
    children: machines.map(function (m) {
      return _jsxs(
        'button',
        {
          type: 'button',
          class: 'machine',
          'data-kind': m.kind,
          'data-moved': m.before !== '' && m.before !== m.state,
          'aria-pressed': m.id === chosen,
          title: ''.concat(m.kind, ' ').concat(m.name, ': ').concat(m.state),
          onClick: function () {
            setChart(m.id);
          },
          children: [
            _jsx(MiniChart, { kind: m.kind, state: m.state }),
            _jsxs('span', {
              class: 'machine-text',
              children: [
                _jsx('span', { class: 'quiet', children: m.id === 'pod' ? 'machine' : m.kind }),
                ' ',
                _jsx('b', { class: 'mono', children: m.name }),
                _jsx('br', {}),
                _jsx('span', { class: 'mono text-'.concat(toneOf(m.state)), children: leafOf(m.state) }),
              ],
            }),
          ],
        },
        m.id,
      );
    }),
  });
}
