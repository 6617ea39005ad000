import { exceeds } from '../../../../machines/eviction/ranking.ts';
import { roughlyOf, spareText } from '../../../../machines/pressure/amount-words.ts';
import type { PressureReport, RankingReport, SignalReport } from '../../../../machines/pressure/pressure-report.ts';
import { metText, speedText } from '../../../../machines/pressure/pressure-text.ts';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { openPod } from '../session/travel.ts';

/** How near the node is to evictions: each signal with its thresholds and its way, and who would go first. */
export function PressureView({ report }: { report: PressureReport }) {
  const { at, seenAt, conditions, signals, rankings, podsAt, spare } = report;
  return (
    <section class="node-facts pressure" aria-label="Pressure">
      <h3>
        Pressure
        {conditions.length === 0 ? (
          <span class="quiet">none</span>
        ) : (
          <b class="text-fail conditions">{conditions.join(', ')}</b>
        )}
        {seenAt !== null && (
          <span class="quiet mono" title={dateTimeText(seenAt)}>
            seen {spanText(at - seenAt)} ago
          </span>
        )}
      </h3>
      <div class="pressure-body">
        <table>
          <thead>
            <tr>
              {['Signal', 'Available', '', 'Moves', 'Thresholds'].map((title, i) => (
                <th key={i} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {signals.map((each) => (
              <SignalRow key={each.signal} each={each} />
            ))}
          </tbody>
        </table>
        <div class="rankings">
          {rankings.map((ranking) => (
            <Ranking key={ranking.signals.join()} ranking={ranking} />
          ))}
          {podsAt !== null && <p class="quiet spare">The node could give back {spareText(spare)} before a pod goes.</p>}
        </div>
      </div>
    </section>
  );
}

function SignalRow({ each }: { each: SignalReport }) {
  const { signal, observed, thresholds } = each;
  const tone = thresholds.some(({ left, kind }) => left < 0 && kind === 'hard')
    ? 'fail'
    : thresholds.some(({ left, untilMs }) => left < 0 || untilMs !== null)
      ? 'wait'
      : 'ok';
  return (
    <tr data-signal={signal} data-tone={tone}>
      <th scope="row" class="mono">
        {signal}
      </th>
      <td class="mono">
        {observed === null ? 'not known' : roughlyOf(signal, observed.available)}
        {observed !== null && <span class="quiet"> of {roughlyOf(signal, observed.capacity)}</span>}
      </td>
      <td>
        <Way each={each} />
      </td>
      <td class="mono speed">{speedText(each)}</td>
      <td class="mono">
        {thresholds.map((threshold) => (
          <div key={`${threshold.kind} ${threshold.quantity}`}>
            {threshold.kind} {threshold.quantity}
            {threshold.graceMs > 0 && ` for ${spanText(threshold.graceMs)}`}{' '}
            <b class={threshold.left < 0 ? 'text-fail' : threshold.untilMs === null ? 'quiet' : 'text-wait'}>
              {observed === null ? '' : metText(threshold)}
            </b>
          </div>
        ))}
      </td>
    </tr>
  );
}

const WIDTH = 120;
const HEIGHT = 22;

/** What there was of a signal, over the looks that are remembered, with its thresholds as lines. */
function Way({ each: { signal, history, thresholds, observed } }: { each: SignalReport }) {
  const first = history[0];
  const last = history.at(-1);
  if (first === undefined || last === undefined || observed === null) return null;
  const limits = thresholds.map(({ left }) => last.available - left);
  const highest = Math.max(1, ...history.map(({ available }) => available), ...limits) * 1.05;
  const x = (at: number) => (((at - first.at) / Math.max(1, last.at - first.at)) * WIDTH).toFixed(1);
  const y = (amount: number) => (HEIGHT - (Math.max(0, amount) / highest) * HEIGHT).toFixed(1);
  const points = history.map(({ at, available }) => `${x(at)},${y(available)}`);
  if (points.length === 1) points.push(`${String(WIDTH)},${y(last.available)}`);
  return (
    <svg class="way" viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} role="img" aria-label={`${signal} over time`}>
      {limits.map((limit) => (
        <line key={limit} class="limit" x1="0" x2={WIDTH} y1={y(limit)} y2={y(limit)} />
      ))}
      <polyline points={points.join(' ')} />
    </svg>
  );
}

function Ranking({ ranking: { signals, resource, pods } }: { ranking: RankingReport }) {
  const [first = 'memory.available', ...others] = signals;
  return (
    <div class="ranking" data-resource={resource}>
      <h4 title={signals.join(', ')}>
        Would go first{' '}
        <span class="quiet mono">
          {first}
          {others.length > 0 && ` and ${String(others.length)} more`}
        </span>
      </h4>
      {pods.length === 0 && <p class="quiet none">No pod is active.</p>}
      <ol>
        {pods.slice(0, 4).map((pod) => (
          <li key={pod.uid}>
            <button
              type="button"
              class="row"
              data-critical={pod.critical === true}
              onClick={() => openPod(pod.uid, null)}
            >
              <i
                class={`dot tone-${pod.critical === true ? 'end' : exceeds(pod) ? 'wait' : 'ok'}`}
                aria-hidden="true"
              />
              <span class="row-name mono">
                <span class="quiet">{pod.namespace}/</span>
                {pod.name}
              </span>
              <span class="row-end mono">
                {pod.figures === undefined ? '?' : roughlyOf(first, pod.figures.usage)}
                {pod.figures !== undefined && resource !== 'pids' && (
                  <span class="quiet"> asked {roughlyOf(first, pod.figures.request)}</span>
                )}
              </span>
              <span class="row-why quiet">
                {pod.critical === true
                  ? 'critical: never evicted'
                  : `priority ${String(pod.priority)}${resource !== 'pids' && exceeds(pod) ? ', more than it asked for' : ''}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
